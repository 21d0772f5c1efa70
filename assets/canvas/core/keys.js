// Arrow keys, Home and End in grids and lists; and grids of buttons, each one stop of the Tab key, in which they move the focus.

import { element } from "./surface.js";

const STEPS = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };
const within = (place, count) => Math.min(count - 1, Math.max(0, place));

// Where a key leads to from a place in so many rows and columns, null for any other key; from no place, null, the first arrow leads to the
// first one. Home and End go to the ends of the row; with Ctrl to the first and the last place of all.
export function placeByKey({ key, ctrlKey, metaKey }, place, [rows, columns]) {
  if (!place && key in STEPS) return [0, 0];
  const [row, column] = place ?? [0, 0];
  const isFar = ctrlKey || metaKey;
  const [down, right] = STEPS[key] ?? [];
  const next = { Home: [isFar ? 0 : row, 0], End: [isFar ? rows - 1 : row, columns - 1] }[key] ?? (down === undefined ? null : [row + down, column + right]);
  return next && [within(next[0], rows), within(next[1], columns)];
}

// The same in a list, where every arrow goes on. at: null for none yet, from which the first one in begins at an end.
export function stepByKey({ key }, at, count) {
  const by = STEPS[key]?.[0] || STEPS[key]?.[1];
  const next = { Home: 0, End: count - 1 }[key] ?? (!by ? null : at === null ? (by > 0 ? 0 : count - 1) : at + by);
  return next === null ? null : within(next, count);
}

// Makes one of several nodes the one that the Tab key stops at.
export function stopAt(chosen, nodes) {
  for (const node of nodes) node.tabIndex = node === chosen ? 0 : -1;
}

// Goes on in a list of nodes, of which one has the focus. Returns whether the key was one for that.
export function walkByKey(event, nodes) {
  const at = nodes.findIndex((node) => node.contains(event.target));
  const next = at < 0 ? null : stepByKey(event, at, nodes.length);
  if (next === null) return false;
  event.preventDefault();
  stopAt(nodes[next], nodes);
  nodes[next].focus();
  return true;
}

// press(event, place): takes a key of its own and returns whether it did; moved(place, event, from): called after the others.
export function makeButtonGrid(attributes, { press = () => false, moved = () => {} } = {}) {
  const grid = { node: element("div", { role: "grid", ...attributes }), buttons: [], active: [0, 0] };
  grid.node.onkeydown = (event) => {
    const place = placeOf(event.target);
    if (!place || event.altKey || press(event, place)) return;
    const next = placeByKey(event, place, [grid.buttons.length, grid.buttons[0].length]);
    if (!next) return;
    event.preventDefault();
    event.stopPropagation(); // what lies below has arrow keys of its own
    activate(grid, next);
    grid.buttons[next[0]][next[1]].focus();
    moved(next, event, place);
  };
  return grid;
}

// The row and column of the button that is or holds an element.
export function placeOf(target) {
  const { row, column } = target.closest?.("[data-row]")?.dataset ?? {};
  return row === undefined ? null : [Number(row), Number(column)];
}

// heads: what stands above the columns, null for nothing; sides: what stands before each row; name(row, column): of a button.
export function fillButtonGrid(grid, { heads = null, sides = [], size: [rows, columns], name }) {
  grid.buttons = Array.from({ length: rows }, (_, row) => Array.from({ length: columns }, (__, column) => element("button", {
    type: "button", role: "gridcell", tabindex: "-1", "data-row": row, "data-column": column, "aria-label": name(row, column),
  })));
  const lines = grid.buttons.map((buttons, row) => element("div", { role: "row" }, ...(sides[row] ? [sides[row]] : []), ...buttons));
  grid.node.replaceChildren(...(heads ? [element("div", { role: "row", class: "heading" }, ...heads)] : []), ...lines);
  if (rows) activate(grid, [within(grid.active[0], rows), within(grid.active[1], columns)]);
}

// Makes a button the one that the Tab key stops at.
export function activate(grid, [row, column]) {
  for (const button of grid.node.querySelectorAll('[role="gridcell"][tabindex="0"]')) button.tabIndex = -1;
  grid.active = [row, column];
  grid.buttons[row][column].tabIndex = 0;
}
