// What the focused row looks at, as bars: the largest weights, or the links that a change moved most. Bars move where they stand.

import { digits, changeOf, NO_CHANGE, span, strongest, weightOf } from "../../canvas/core/bytes.js";
import { element } from "../../canvas/core/surface.js";
import { TEXTS } from "../../canvas/core/texts.js";
import { filled } from "../../canvas/core/text.js";
import { iconButton } from "../core/toolbar.js";

const LISTED = 8;
const LEAST_CHANGE = 0.0005;

// focus: called with -1, 1 or null for the row before, the next, or none.
export function makeBars(focus) {
  const step = (label, sign, by) => iconButton(sign, label, () => focus(by));
  const title = element("p", { class: "bars-title", "aria-live": "polite" });
  const list = element("ol", { class: "bars", "data-testid": "attention-strongest" });
  const clear = step(TEXTS.map.clear, "×", null);
  const head = element("div", { class: "bars-head" }, step(TEXTS.map.previous, "‹", -1), step(TEXTS.map.next, "›", 1), title, clear);
  const node = element("section", { class: "readout", "aria-label": TEXTS.map.strongest, "data-testid": "attention-readout" }, head, list);
  return { node, title, list, clear, rows: [] };
}

const name = (text) => element("bdi", { class: "token" }, text);

// before, after, difference: codes of a changed run; texts: what is said of them.
export function drawBars(bars, model, focus, { before, after, difference, texts = TEXTS.changed } = {}) {
  bars.clear.hidden = focus === null;
  if (difference) return drawMoved(bars, model, focus, { before, after, difference, texts });
  bars.node.setAttribute("aria-label", TEXTS.map.strongest);
  if (focus === null) {
    bars.title.replaceChildren(TEXTS.map.chooseToken);
    return bars.list.replaceChildren();
  }
  const found = strongest(model.cells, span(focus * model.columns, model.columns), LISTED);
  bars.title.replaceChildren(...filled(found.length ? TEXTS.map.looksMostAt : TEXTS.map.looksAtNothing, { token: name(model.rowTexts[focus]) }));
  const guesses = model.guesses.filter(({ query }) => query === focus);
  const rows = found.map((at, place) => fill(rowAt(bars, place), model, at, focus, guesses));
  return bars.list.replaceChildren(...rows);
}

// The rows stay, so that a bar moves to its new length.
function rowAt(bars, place) {
  return (bars.rows[place] ??= makeBarRow());
}

// marks: what lies on the track besides the bar.
export const makeBarRow = (...marks) => element("li", {}, element("bdi", { class: "bar-token" }), element("span", { class: "bar-track", "aria-hidden": "true" },
  element("span", { class: "bar-fill" }), ...marks), element("span", { class: "bar-value" }), element("span", { class: "bar-guess" }));

function fill(row, model, at, query, guesses) {
  const [token, track, value, guess] = row.children;
  token.textContent = model.columnTexts[at % model.columns];
  track.firstChild.style.width = `${(100 * weightOf(model.cells[at])).toFixed(2)}%`;
  value.textContent = digits(model.cells[at]);
  guess.textContent = guesses.find(({ key }) => query * model.columns + key === at)?.said ?? "";
  guess.hidden = !guess.textContent;
  return row;
}

function drawMoved(bars, model, focus, { before, after, difference, texts }) {
  const { columns: keys, rowTexts, columnTexts } = model;
  bars.node.setAttribute("aria-label", texts.links);
  const positions = focus === null ? span(0, difference.length) : span(focus * keys, keys);
  const strength = Uint16Array.from(difference, (code) => Math.min(65535, 2 * Math.abs(code - NO_CHANGE)));
  const found = strongest(strength, positions, LISTED).filter((at) => Math.abs(changeOf(difference[at])) >= LEAST_CHANGE);
  const isOff = texts.off && before.some(Boolean) && !after.some(Boolean);
  const sentence = isOff ? texts.off : !found.length ? texts.nothing : focus === null ? texts.largest : texts.of;
  bars.title.replaceChildren(...filled(sentence, { token: name(rowTexts[focus] ?? "") }));
  bars.list.replaceChildren(...found.map((at) => {
    const link = element("span", { class: "moved-link" }, name(rowTexts[Math.floor(at / keys)]), " → ", name(columnTexts[at % keys]));
    const numbers = element("span", { class: "bar-value" }, `${digits(before[at])} → ${digits(after[at])}`);
    return element("li", { class: "moved-row" }, link, numbers, element("span", { class: "moved-change" }, signed(difference[at])));
  }));
}

export function signed(code) {
  const change = changeOf(code);
  return `${change < 0 ? "−" : "+"}${Math.abs(change).toFixed(3)}`;
}
