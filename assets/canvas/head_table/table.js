// A table of all heads: each a coloured button with a short word. Hue tells the kind, lightness how clear it is.

import { tint } from "../core/palette.js";
import { element, mountOnce, timestamped } from "../core/surface.js";
import { applyTheme } from "../core/theme.js";

const SPACE_FOR_WORDS = 50; // pixels of a cell

export default function mountTable({ data, parentElement, setStateValue }) {
  const [table, end] = mountOnce(parentElement, makeTable, removeTable);
  table.send = (chosen) => setStateValue("chosen", timestamped(chosen));
  receive(table, data);
  return end;
}

function makeTable(parent) {
  const table = { buttons: [], active: [0, 0] };
  table.grid = element("div", { class: "grid", role: "grid", "data-testid": "head-table" });
  table.legend = element("ul", { class: "legend" });
  table.root = element("div", { class: "head-table" }, table.grid, table.legend);
  parent.querySelector(".attention-view").append(table.root);
  table.grid.onclick = (event) => choose(table, placeOf(event.target));
  table.grid.onkeydown = (event) => press(table, event);
  table.observer = new ResizeObserver(() => size(table));
  table.observer.observe(table.root);
  return table;
}

function placeOf(target) {
  const button = target.closest?.("[data-head]");
  return button ? [Number(button.dataset.layer), Number(button.dataset.head)] : null;
}

function press(table, event) {
  const place = placeOf(event.target);
  const step = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] }[event.key];
  if (!place || !step || event.altKey || event.ctrlKey || event.metaKey) return;
  event.preventDefault();
  const [layer, head] = [place[0] + step[0], place[1] + step[1]];
  if (table.buttons[layer]?.[head]) {
    activate(table, [layer, head]);
    table.buttons[layer][head].focus();
  }
}

function choose(table, place) {
  if (!place) return;
  activate(table, place);
  mark(table, place);
  table.send([place]);
}

function activate(table, [layer, head]) {
  table.buttons[table.active[0]][table.active[1]].tabIndex = -1;
  table.active = [layer, head];
  table.buttons[layer][head].tabIndex = 0;
}

function mark(table, chosen) {
  for (const button of table.buttons.flat()) {
    const [layer, head] = placeOf(button);
    button.setAttribute("aria-selected", String(layer === chosen[0] && head === chosen[1]));
  }
}

function receive(table, data) {
  table.data = data;
  table.theme = applyTheme(table.root);
  table.grid.setAttribute("aria-label", data.alt);
  const shape = `${data.cells.length}-${data.cells[0].length}`;
  if (table.shape !== shape) makeButtons(table, shape);
  data.cells.forEach((row, layer) => row.forEach((cell, head) => fill(table, table.buttons[layer][head], cell)));
  table.legend.replaceChildren(...data.legend.map((entry) => legendEntry(table, entry)));
  activate(table, data.chosen);
  mark(table, data.chosen);
  size(table);
}

function makeButtons(table, shape) {
  table.shape = shape;
  table.active = [0, 0];
  const { cells } = table.data;
  const axis = (text, role) => element("span", { role, class: "number" }, text);
  const numbers = cells[0].map((_, head) => axis(String(head + 1), "columnheader"));
  const first = element("div", { role: "row" }, axis(table.data.axes, "columnheader"), ...numbers);
  table.buttons = cells.map((row, layer) => row.map((_, head) => element("button", {
    type: "button", role: "gridcell", tabindex: "-1", "data-layer": layer, "data-head": head,
  })));
  const rows = table.buttons.map((buttons, layer) => element("div", { role: "row" }, axis(String(layer + 1), "rowheader"), ...buttons));
  table.grid.style.setProperty("--heads", String(cells[0].length));
  table.grid.replaceChildren(first, ...rows);
}

function fill(table, button, cell) {
  const { background, ink } = tint(cell.colour, cell.strength, table.theme.ground);
  button.style.backgroundColor = background;
  button.style.color = ink;
  button.setAttribute("aria-label", cell.alt);
  button.title = cell.alt;
}

function legendEntry(table, entry) {
  const swatch = element("span", { class: "swatch", "aria-hidden": "true" }, entry.letter);
  const { background, ink } = tint(entry.colour, entry.strength, table.theme.ground);
  swatch.style.backgroundColor = background;
  swatch.style.color = ink;
  return element("li", {}, swatch, entry.name);
}

function size(table) {
  const first = table.buttons[0]?.[0];
  if (!first) return;
  const words = first.clientWidth >= SPACE_FOR_WORDS;
  table.data.cells.forEach((row, layer) => row.forEach((cell, head) => {
    table.buttons[layer][head].replaceChildren(
      element("span", { class: "word" }, words ? cell.word : cell.letter),
      ...(words && cell.number ? [element("span", { class: "share" }, cell.number)] : []),
    );
  }));
}

function removeTable(table) {
  table.observer.disconnect();
  table.root.remove();
}
