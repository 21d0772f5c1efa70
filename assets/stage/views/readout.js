// What the focused token looks at, in words and numbers; with buttons for those who do not point.

import { digits, span, strongest, weightOf } from "../../canvas/core/bytes.js";
import { TICKS, gradient } from "../../canvas/core/palette.js";
import { element } from "../../canvas/core/surface.js";
import { filled } from "../../canvas/core/text.js";

const LISTED = 8;

export function makeReadout(choose, texts) {
  const previous = element("button", { type: "button", "aria-label": texts.previous, class: "step" }, "‹");
  const next = element("button", { type: "button", "aria-label": texts.next, class: "step" }, "›");
  const clear = element("button", { type: "button", "aria-label": texts.clear, class: "step" }, "×");
  const title = element("p", { class: "readout-title" });
  const list = element("ol", { class: "bars", "data-testid": "attention-strongest" });
  const head = element("div", { class: "readout-head" }, previous, next, title, clear);
  const node = element("section", { class: "readout", "aria-label": texts.strongest, "data-testid": "attention-readout" }, head, list);
  title.setAttribute("aria-live", "polite");
  previous.onclick = () => choose(-1);
  next.onclick = () => choose(1);
  clear.onclick = () => choose(null);
  return { texts, node, title, list, clear };
}

export function fillReadout(readout, model, focus) {
  const { texts } = readout;
  readout.clear.hidden = focus === null;
  if (focus === null) {
    readout.title.replaceChildren(texts.chooseToken);
    readout.list.replaceChildren();
    return;
  }
  const found = strongest(model.cells, span(focus * model.keys, model.keys), LISTED);
  const sentence = found.length ? texts.looksMostAt : texts.looksAtNothing;
  readout.title.replaceChildren(...filled(sentence, { token: bold(model.queryTexts[focus]) }));
  readout.list.classList.toggle("with-class", model.guesses.some(({ query }) => query === focus));
  readout.list.replaceChildren(...found.map((position) => bar(model, position)));
}

function bar(model, position) {
  const code = model.cells[position];
  const [query, key] = [Math.floor(position / model.keys), position % model.keys];
  const fill = element("span", { class: "bar-fill" });
  fill.style.width = `${(weightOf(code) * 100).toFixed(2)}%`;
  const token = element("bdi", { class: "bar-token" }, model.keyTexts[key]);
  const track = element("span", { class: "bar-track", "aria-hidden": "true" }, fill);
  const value = element("span", { class: "bar-value" }, digits(code));
  return element("li", {}, token, track, value, ...guessOf(model, query, key));
}

function guessOf(model, query, key) {
  const guess = model.guesses.find((one) => one.query === query && one.key === key);
  return guess ? [element("span", { class: "side" }, guess.said)] : [];
}

export function bold(text) {
  return element("bdi", { class: "token" }, text);
}

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

export function fillTooltip(node, model, { query, key }, texts) {
  const parts = [];
  if (query !== null) parts.push(bold(model.queryTexts[query]));
  if (query !== null && key !== null) parts.push(" → ");
  if (key !== null) parts.push(bold(model.keyTexts[key]));
  if (query !== null && key !== null) parts.push(element("span", { class: "value" }, digits(model.cells[query * model.keys + key])));
  else {
    const [sentence, place] = query !== null ? [texts.queryNumber, query] : [texts.keyNumber, key];
    parts.push(element("span", { class: "side" }, ...filled(sentence, { number: String(place + 1) })));
  }
  node.replaceChildren(...parts, ...guessOf(model, query, key));
  node.hidden = false;
}

export function placeTooltip(node, box, x, y) {
  const [width, height] = [node.offsetWidth, node.offsetHeight];
  const left = x + 14 + width > box.width ? x - width - 10 : x + 14;
  const top = y + 18 + height > box.height ? y - height - 10 : y + 18;
  node.style.transform = `translate(${Math.max(0, Math.min(left, box.width - width))}px, ${Math.max(0, top)}px)`;
}
