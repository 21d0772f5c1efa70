// Painting a mask: a button over every cell of its matrix for click, drag and keyboard, and one for every row and column.

import { activate, fillButtonGrid, makeButtonGrid, placeOf } from "../../canvas/core/keys.js";
import { element } from "../../canvas/core/surface.js";
import { say } from "../../canvas/core/text.js";

// gestures: paint(places, allowed), look(place or null). texts: of pages/masks/texts.py.
export function makeMask(gestures, texts) {
  const grid = makeButtonGrid({ class: "brush", "data-testid": "mask-brush", "aria-label": texts.paint }, {
    moved: (place, { shiftKey }, from) => shiftKey && gestures.paint([place], allows(made, from)),
  });
  const { node } = grid;
  const made = { node, grid, gestures, texts, stroke: null, painted: false, rows: 0, names: "", mask: null };
  node.onpointerdown = (event) => begin(made, event);
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
export function drawMask(made, { rowTexts, columnTexts }, mask, { left, top, high, wide }) {
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
