// Painting a mask: a button over every cell of its matrix for click, drag and keyboard, and one for every row and column.

import { INSET } from "../matrices/matrix.js";
import { element } from "../../canvas/core/surface.js";
import { say } from "../../canvas/core/text.js";

// gestures: paint(places, allowed), look(place or null). texts: of pages/masks/texts.py.
export function makeMask(gestures, texts) {
  const node = element("div", { class: "brush", role: "grid", "data-testid": "mask-brush", "aria-label": texts.paint });
  const made = { node, gestures, texts, cells: [], active: [0, 0], stroke: null, painted: false, rows: 0, names: "", mask: null };
  node.onpointerdown = (event) => begin(made, event);
  node.onpointermove = (event) => go(made, event);
  node.onpointerover = ({ target, pointerType }) => pointerType !== "touch" && gestures.look(placeOf(target));
  node.onpointerleave = () => gestures.look(null);
  node.addEventListener("focusin", ({ target }) => gestures.look(placeOf(target)));
  node.addEventListener("focusout", () => gestures.look(null));
  node.onkeydown = (event) => press(made, event);
  node.onclick = (event) => click(made, event);
  node.onpointerup = node.onpointercancel = () => { made.stroke = null; };
  return made;
}

// Lays the buttons over the cells of a painted matrix. mask: 1 where a query may attend to a key.
export function drawMask(made, { rowTexts, columnTexts }, mask, canvas) {
  made.mask = mask;
  const names = rowTexts.join("\n");
  if (made.names !== names || made.rows !== rowTexts.length) makeCells(made, rowTexts, columnTexts);
  made.names = names;
  const { top, cell, wide } = canvas.dataset;
  for (const [name, value] of [["--top", top], ["--cell", cell], ["--wide", wide]]) made.node.style.setProperty(name, `${value}px`);
  made.node.style.setProperty("--inset", `${INSET}px`);
  made.node.style.setProperty("--columns", String(made.rows));
  for (const [at, bit] of mask.entries()) {
    const button = made.cells[Math.floor(at / made.rows)][at % made.rows];
    const selected = String(Boolean(bit));
    if (button.ariaSelected !== selected) button.ariaSelected = selected;
  }
}

const allows = ({ mask, rows }, [row, column]) => Boolean(mask[row * rows + column]);

function placeOf(target) {
  const { row, column } = target.closest?.("[data-row]")?.dataset ?? {};
  return row === undefined ? null : [Number(row), Number(column)];
}

// A mouse or a pen paints while it is dragged; a finger taps, so that dragging still scrolls.
function begin(made, event) {
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
  activate(made, place);
  const isPainted = event.detail > 0 && made.painted; // when it was pressed; a key presses nothing
  if (!isPainted) made.gestures.paint([place], !allows(made, place));
}

function press(made, event) {
  const place = placeOf(event.target);
  if (!place || event.altKey) return;
  const [row, column] = place;
  const last = made.rows - 1;
  const target = {
    ArrowLeft: [row, column - 1], ArrowRight: [row, column + 1], ArrowUp: [row - 1, column], ArrowDown: [row + 1, column],
    Home: [event.ctrlKey ? 0 : row, 0], End: [event.ctrlKey ? last : row, last],
  }[event.key];
  if (!target) return;
  event.preventDefault();
  event.stopPropagation(); // the matrix below has arrow keys of its own
  const next = target.map((number) => Math.min(last, Math.max(0, number)));
  if (event.shiftKey) made.gestures.paint([next], allows(made, place));
  activate(made, next);
  made.cells[next[0]][next[1]].focus();
}

function activate(made, [row, column]) {
  made.cells[made.active[0]]?.[made.active[1]]?.setAttribute("tabindex", "-1");
  made.active = [row, column];
  made.cells[row][column].tabIndex = 0;
}

function makeCells(made, rowTexts, columnTexts) {
  const { texts } = made;
  made.rows = rowTexts.length;
  const whole = { row: texts.wholeRow, column: texts.wholeColumn };
  const line = (kind, number, name) => element("div", { role: `${kind}header` }, element("button", {
    type: "button", tabindex: "-1", "data-line": kind, "data-number": number, "aria-label": say(whole[kind], { name }),
  }));
  const corner = element("div", { role: "columnheader", "aria-label": texts.query });
  const first = element("div", { role: "row" }, corner, ...columnTexts.map((text, index) => line("column", index, text)));
  made.cells = rowTexts.map((query, from) => columnTexts.map((key, to) => element("button", {
    type: "button", role: "gridcell", tabindex: "-1", "data-row": from, "data-column": to, "aria-label": say(texts.maySee, { query, key }),
  })));
  const rows = made.cells.map((buttons, index) => element("div", { role: "row" }, line("row", index, rowTexts[index]), ...buttons));
  made.node.replaceChildren(first, ...rows);
  activate(made, made.active.map((number) => Math.min(number, made.rows - 1)));
}
