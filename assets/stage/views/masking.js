// The mask of one head, painted or chosen, beside the scores and weights that follow from it: the rest of a computation in steps
// (steps.js) whose scores alone were sent. data.masking: `labels`, `penalised`, `real` tokens, whether it is `paintable`, `padding` by mask.

import { button, element, setText } from "../../canvas/core/surface.js";
import { activate, fillButtonGrid, makeButtonGrid, placeOf } from "../../canvas/core/keys.js";
import { number, smallNumber } from "../../canvas/core/numbers.js";
import { say } from "../../canvas/core/text.js";
import { emptyRows, leaks, maskedScores, maskOf, writeMask } from "../core/masking.js";

export const BELOW = 56; // pixels kept for what is said below the sum

const grouped = (penalty) => number(Number(penalty)).replace(/\B(?=(\d{3})+$)/g, ",");

// steps: as views/steps.js makes them; set, hover: of its gestures.
export function makeMasking(steps, { labels }, { set, hover }) {
  const made = {};
  const cellAt = ([row, column]) => ({ matrix: "mask", row, column });
  const paint = (mask, hovered) => set({ kind: "painted", mask: writeMask(mask) }, hovered);
  made.brush = makeMask({
    paint(places, allowed) {
      const mask = made.mask.slice();
      for (const [row, column] of places) mask[row * made.tokens + column] = Number(allowed);
      paint(mask, places.length === 1 ? cellAt(places[0]) : null);
    },
    look: (place) => hover(place && cellAt(place)),
  }, labels);
  made.block = button(labels.block, () => {
    const first = Math.floor(made.tokens / 2) * made.tokens;
    paint(made.mask.map((bit, at) => (at >= first && at < first + made.tokens ? 0 : bit)));
  }, { title: labels.blockHelp });
  made.noted = element("p", { class: "quiet-text mask-notes", role: "status", "data-testid": "mask-notes" });
  steps.row.prepend(made.block);
  steps.sum.node.after(made.noted);
  return made;
}

// Fills in every matrix but the scores, which were sent.
export function deriveMasked(made, { model, masking }, { kind, width, mask: painted, penalty }) {
  const written = `${kind} ${width} ${painted} ${penalty}`;
  if (made.model === model && made.written === written) return;
  Object.assign(made, { model, written });
  const { byName } = model;
  made.tokens = byName.scores.rows;
  made.mask = maskOf(kind, made.tokens, { real: masking.real, width: Number(width), painted });
  made.found = maskedScores(byName.scores.values, made.tokens, made.mask, Number(penalty));
  for (const [name, cells] of Object.entries(made.found)) byName[name].values = cells;
  const { labels } = masking;
  model.hiddenNote = kind === "causal" ? labels.later : labels.hidden;
  byName.lowered.penalty = Number(penalty);
  const counted = { allowed: made.mask.reduce((sum, bit) => sum + bit, 0), pairs: made.mask.length, most: labels.most };
  byName.mask.formula = say(masking.paintable ? labels.allowed : labels.tooLong, counted);
  byName.leaky.title = grouped(penalty);
}

// Lays the brush over the mask.
export function drawMasked({ brush, mask }, view, { model, masking: { paintable } }) {
  const panel = view.panels.get("mask");
  if (paintable && panel?.node.isConnected) {
    if (brush.node.parentElement !== panel.box) panel.box.append(brush.node);
    panel.box.removeAttribute("tabindex");
    brush.node.style.setProperty("--names", `${view.labelWidth}px`);
    drawMask(brush, model.byName.mask, mask, panel.place);
  } else brush.node.remove();
}

// Says what leaks or attends to nothing.
export function sayMasked(made, { model, masking: { labels, penalised } }, { penalty }) {
  const { found, tokens, mask } = made;
  const empty = emptyRows(mask, tokens);
  made.block.disabled = empty.length > 0;
  const parts = penalised ? leaksSaid(labels, leaks(found, tokens, mask), grouped(penalty)) : [];
  if (empty.length) {
    const names = empty.map((row) => say(labels.emptyRow, { token: model.byName.mask.rowTexts[row], row: row + 1 }));
    parts.push(say(labels.empty, { tokens: names.join(", ") }));
  }
  setText(made.noted, parts.join(" "));
}

function leaksSaid(labels, { leak, unmasked, apart, apartEmpty }, penalty) {
  const parts = leak === null ? [] : [say(labels.leaks, { penalty, leak: smallNumber(leak), unmasked: smallNumber(unmasked), apart: smallNumber(apart) })];
  return apartEmpty === null ? parts : [...parts, say(labels.leaksEmpty, { apart: smallNumber(apartEmpty) })];
}

// --- Painting: a button over every cell of the mask for click, drag and keyboard, and one for every row and column

// gestures: paint(places, allowed), look(place or null). texts: of pages/masks/texts.py.
function makeMask(gestures, texts) {
  const grid = makeButtonGrid({ class: "brush", "data-testid": "mask-brush", "aria-label": texts.paint }, {
    moved: (place, { shiftKey }, from) => shiftKey && gestures.paint([place], allows(made, from)),
  });
  const { node } = grid;
  const made = { node, grid, gestures, texts, stroke: null, painted: false, rows: 0, names: "", mask: null };
  node.onpointerdown = (event) => press(made, event);
  node.onpointermove = (event) => go(made, event);
  node.onpointerover = ({ target, pointerType }) => pointerType !== "touch" && gestures.look(placeOf(target));
  node.onpointerleave = () => gestures.look(null);
  node.addEventListener("focusin", ({ target }) => gestures.look(placeOf(target)));
  node.addEventListener("focusout", () => gestures.look(null));
  node.onclick = (event) => click(made, event);
  node.onpointerup = node.onpointercancel = () => { made.stroke = null; };
  return made;
}

// Lays the buttons over the cells of a painted matrix. mask: 1 where a query may attend to a key.
function drawMask(made, { rowTexts, columnTexts }, mask, { left, top, high, wide }) {
  made.mask = mask;
  const names = rowTexts.join("\n");
  if (made.names !== names) makeCells(made, rowTexts, columnTexts);
  Object.assign(made, { names, rows: rowTexts.length });
  for (const [name, value] of [["--top", top], ["--cell", high], ["--wide", wide], ["--inset", left]]) made.node.style.setProperty(name, `${value}px`);
  made.node.style.setProperty("--columns", String(made.rows));
  for (const [at, bit] of mask.entries()) {
    const button = made.grid.buttons[Math.floor(at / made.rows)][at % made.rows];
    const selected = String(Boolean(bit));
    if (button.ariaSelected !== selected) button.ariaSelected = selected;
  }
}

const allows = ({ mask, rows }, [row, column]) => Boolean(mask[row * rows + column]);

// A mouse or a pen paints while it is dragged; a finger taps, so that dragging still scrolls.
function press(made, event) {
  const place = placeOf(event.target);
  made.painted = false;
  if (!place || event.button !== 0 || event.pointerType === "touch") return;
  made.stroke = { value: !allows(made, place) };
  made.painted = true;
  made.gestures.paint([place], made.stroke.value);
}

function go(made, event) {
  if (!made.stroke || !(event.buttons & 1)) return;
  const under = made.node.getRootNode().elementFromPoint(event.clientX, event.clientY);
  const place = under && placeOf(under);
  if (place && allows(made, place) !== made.stroke.value) made.gestures.paint([place], made.stroke.value);
}

function click(made, event) {
  const { line, number } = event.target.closest?.("[data-line]")?.dataset ?? {};
  if (line) {
    const places = Array.from({ length: made.rows }, (_, index) => (line === "row" ? [Number(number), index] : [index, Number(number)]));
    return made.gestures.paint(places, !places.some((place) => allows(made, place)));
  }
  const place = placeOf(event.target);
  if (!place) return;
  activate(made.grid, place);
  const isPainted = event.detail > 0 && made.painted; // when it was pressed; a key presses nothing
  if (!isPainted) made.gestures.paint([place], !allows(made, place));
}

function makeCells({ grid, texts }, rowTexts, columnTexts) {
  const whole = { row: texts.wholeRow, column: texts.wholeColumn };
  const line = (kind) => (name, number) => element("div", { role: `${kind}header` }, element("button", {
    type: "button", tabindex: "-1", "data-line": kind, "data-number": number, "aria-label": say(whole[kind], { name }),
  }));
  const corner = element("div", { role: "columnheader", "aria-label": texts.query });
  fillButtonGrid(grid, {
    heads: [corner, ...columnTexts.map(line("column"))], sides: rowTexts.map(line("row")), size: [rowTexts.length, columnTexts.length],
    name: (row, column) => say(texts.maySee, { query: rowTexts[row], key: columnTexts[column] }),
  });
}
