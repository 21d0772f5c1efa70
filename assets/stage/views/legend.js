// The legends of colours, and the box that follows the pointer over a map.

import { number } from "../../canvas/core/numbers.js";
import { differenceGradient, gradient, TICKS } from "../../canvas/core/palette.js";
import { element } from "../../canvas/core/surface.js";
import { say } from "../../canvas/core/text.js";

const FEW_TITLES = 5;

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

// The colours from 0, or from the other side of it, to a limit, between their ends.
export function rampTo(limit, isSigned, dark) {
  const ramp = element("span", { class: isSigned ? "ramp" : "ramp half" });
  ramp.style.background = isSigned ? differenceGradient(dark) : gradient("blues", dark);
  return [isSigned ? number(-limit) : "0", ramp, number(limit)];
}

const isBelowZero = (value) => Number.isFinite(value) && value < 0;
export const hasNegative = (values) => values.some(isBelowZero);

// Lists the colours of every group of matrices, and the meaning of the frames that there can be.
export function fillMatrixLegend(node, matrices, dark, texts) {
  const groups = new Map();
  for (const matrix of matrices) if (matrix.group !== "mask") groups.set(matrix.group, [...(groups.get(matrix.group) ?? []), matrix]);
  const named = (titles) => (titles.length <= FEW_TITLES ? titles.join(", ") : say(texts.range, { first: titles[0], last: titles.at(-1) }));
  const scales = [...groups.values()].map((group) => element("span", {}, groups.size > 1 ? `${named(group.map(({ title }) => title))}: ` : "",
    ...rampTo(group[0].limit, group.some(({ values }) => hasNegative(values)), dark)));
  const frame = (part, meaning) => element("span", {}, element("span", { class: `swatch ${part}` }), " ", meaning);
  const isMultiplied = matrices.some(({ origin }) => origin?.kind === "product");
  node.replaceChildren(...scales, element("span", {}, texts.squareRoot), frame("left", texts.madeFrom), ...(isMultiplied ? [frame("right", texts.times)] : []));
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
