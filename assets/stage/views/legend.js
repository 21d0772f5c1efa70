// The legend of the colours of attention, and the box that follows the pointer over a map.

import { TICKS, gradient } from "../../canvas/core/palette.js";
import { element } from "../../canvas/core/surface.js";

export function makeLegend(texts, numbers = TICKS) {
  const ramp = element("div", { class: "ramp" });
  const signed = numbers[0] < 0;
  const ticks = numbers.map((tick) => {
    const mark = element("span", {}, signed ? `${tick < 0 ? "−" : tick > 0 ? "+" : ""}${Math.abs(tick)}` : String(tick));
    const root = Math.sign(tick) * Math.sqrt(Math.abs(tick));
    mark.style.left = `${signed ? 50 + 50 * root : 100 * root}%`;
    return mark;
  });
  const scale = element("div", { class: "ramp-scale" }, ramp, element("div", { class: "ticks" }, ...ticks));
  const name = element("span", {}, signed ? texts.scaleOfChanges : texts.scaleOfWeights);
  return { node: element("div", { class: "legend", "data-testid": "attention-legend" }, scale, name), ramp };
}

export function fillLegend(legend, scale, dark) {
  legend.ramp.style.background = gradient(scale, dark);
}

export function makeTooltip() {
  const node = element("div", { class: "tooltip", "aria-hidden": "true", "data-testid": "attention-tooltip" });
  node.hidden = true;
  return node;
}

export function placeTooltip(node, box, x, y) {
  const [width, height] = [node.offsetWidth, node.offsetHeight];
  const left = x + 14 + width > box.width ? x - width - 10 : x + 14;
  const top = y + 18 + height > box.height ? y - height - 10 : y + 18;
  node.style.transform = `translate(${Math.max(0, Math.min(left, box.width - width))}px, ${Math.max(0, top)}px)`;
}
