// Painting a mask: a button over every cell for click, drag and keyboard, and one for every row and column.

import { element } from "../core/surface.js";

export function makeBrush(actions) {
  const grid = element("div", { class: "brush", role: "grid", "data-testid": "mask-brush" });
  const brush = { grid, cells: [], active: [0, 0], stroke: null, rows: 0, columns: 0 };
  grid.onpointerdown = (event) => begin(brush, actions, event);
  grid.onpointermove = (event) => go(brush, actions, event);
  grid.onpointerover = (event) => actions.look(placeOf(event.target));
  grid.addEventListener("focusin", (event) => actions.look(placeOf(event.target)));
  grid.onkeydown = (event) => press(brush, actions, event);
  grid.onclick = (event) => click(brush, actions, event);
  grid.onpointerup = grid.onpointercancel = () => { brush.stroke = null; };
  return brush;
}

function placeOf(target) {
  const { row, column } = target.closest?.("[data-row]")?.dataset ?? {};
  return row === undefined ? null : [Number(row), Number(column)];
}

// A mouse or a pen paints while it is dragged; a finger taps, so that dragging still scrolls.
function begin(brush, actions, event) {
  const place = placeOf(event.target);
  if (!place || event.button !== 0 || event.pointerType === "touch") return;
  brush.stroke = { value: !actions.allowed(place), painted: true };
  actions.paint([place], brush.stroke.value);
}

function go(brush, actions, event) {
  if (!brush.stroke || !(event.buttons & 1)) return;
  const under = brush.grid.getRootNode().elementFromPoint(event.clientX, event.clientY);
  const place = under && placeOf(under);
  if (place && actions.allowed(place) !== brush.stroke.value) actions.paint([place], brush.stroke.value);
}

function click(brush, actions, event) {
  const { line, number } = event.target.closest?.("[data-line]")?.dataset ?? {};
  if (line) {
    const along = line === "row" ? brush.columns : brush.rows;
    const places = Array.from({ length: along }, (_, index) => (line === "row" ? [Number(number), index] : [index, Number(number)]));
    actions.paint(places, !places.some(actions.allowed));
    return;
  }
  const place = placeOf(event.target);
  if (!place) return;
  activate(brush, place);
  const byPointer = event.detail > 0 && event.pointerType !== "touch"; // already painted when it was pressed
  if (!byPointer) actions.paint([place], !actions.allowed(place));
}

function press(brush, actions, event) {
  const place = placeOf(event.target);
  if (!place || event.altKey) return;
  const [row, column] = place;
  const target = {
    ArrowLeft: [row, column - 1], ArrowRight: [row, column + 1], ArrowUp: [row - 1, column], ArrowDown: [row + 1, column],
    Home: [event.ctrlKey ? 0 : row, 0], End: [event.ctrlKey ? brush.rows - 1 : row, brush.columns - 1],
  }[event.key];
  if (!target) return;
  event.preventDefault();
  const next = [Math.min(brush.rows - 1, Math.max(0, target[0])), Math.min(brush.columns - 1, Math.max(0, target[1]))];
  if (event.shiftKey) actions.paint([next], actions.allowed(place));
  activate(brush, next);
  brush.cells[next[0]][next[1]].focus();
}

function activate(brush, [row, column]) {
  brush.cells[brush.active[0]]?.[brush.active[1]]?.setAttribute("tabindex", "-1");
  brush.active = [row, column];
  brush.cells[row][column].tabIndex = 0;
}

export function layBrush(brush, model, shape, mask) {
  if (brush.rows !== model.rows || brush.columns !== model.columns || brush.names !== model.rowTexts.join("\n")) makeCells(brush, model);
  brush.grid.style.setProperty("--left", `${shape.left}px`);
  brush.grid.style.setProperty("--top", `${shape.top}px`);
  brush.grid.style.setProperty("--wide", `${shape.wide}px`);
  brush.grid.style.setProperty("--columns", String(model.columns));
  brush.grid.setAttribute("aria-label", model.label);
  for (const [row, buttons] of brush.cells.entries()) {
    for (const [column, button] of buttons.entries()) {
      const selected = String(mask[row * model.columns + column] > 0);
      if (button.getAttribute("aria-selected") !== selected) button.setAttribute("aria-selected", selected);
    }
  }
}

function makeCells(brush, model) {
  const [row, column] = brush.active;
  Object.assign(brush, { rows: model.rows, columns: model.columns, names: model.rowTexts.join("\n") });
  const line = (kind, number, text) => element("div", { role: `${kind}header` }, element("button", {
    type: "button", tabindex: "-1", "data-line": kind, "data-number": number, "aria-label": `Whole ${kind} of ${text}`,
  }));
  const corner = element("div", { role: "columnheader", "aria-label": "Looking token" });
  const first = element("div", { role: "row" }, corner, ...model.columnTexts.map((text, index) => line("column", index, text)));
  brush.cells = model.rowTexts.map((looking, from) => model.columnTexts.map((seen, to) => element("button", {
    type: "button", role: "gridcell", tabindex: "-1", "data-row": from, "data-column": to, "aria-label": `${looking} may look at ${seen}`,
  })));
  const rows = brush.cells.map((buttons, index) => element("div", { role: "row" }, line("row", index, model.rowTexts[index]), ...buttons));
  brush.grid.replaceChildren(first, ...rows);
  brush.active = [Math.min(row, brush.rows - 1), Math.min(column, brush.columns - 1)];
  activate(brush, brush.active);
}
