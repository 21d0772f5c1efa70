// The component: matrices in the order in which they are computed, one chosen cell, one pointer.

import { unpack } from "../attention_view/bytes.js";
import { calmly, element, measureLabels, ownEcho, sharpen, watchScreen } from "../attention_view/surface.js";
import { readTheme } from "../attention_view/theme.js";
import { arrange, needsLabels, panelWidth } from "./layout.js";
import { fillLegend } from "./legend.js";
import { exists, modelOf } from "./model.js";
import { lightsOf } from "./origin.js";
import { INSET, paintMatrix, paintRowNames, palette } from "./paint.js";
import { describePanel, makePanel } from "./panel.js";
import { fillSum, makeSum } from "./sum.js";

const WIDEST_NAME = 76;
const TALLEST_NAME = 62;
const rows = new WeakMap();

export default function mountRow({ data, parentElement, setStateValue }) {
  let row = rows.get(parentElement);
  if (!row) {
    row = makeRow(parentElement);
    rows.set(parentElement, row);
  }
  row.send = (cell) => setStateValue("cell", cell);
  receive(row, unpack(data));
  return () => {
    row.observer.disconnect();
    row.stopWatching();
    if (row.frame !== null) cancelAnimationFrame(row.frame);
    row.root.remove();
    rows.delete(parentElement);
  };
}

function makeRow(parent) {
  const row = { chosen: null, hover: null, panels: new Map(), echo: ownEcho(), frame: null, paints: 0, pattern: "" };
  row.tell = calmly((cell) => row.send(cell), 60);
  row.lines = element("div", { class: "lines" });
  row.sum = makeSum(() => choose(row, null));
  row.legend = element("p", { class: "legend" });
  row.hint = element("p", { class: "hint" }, "There is more to the right: scroll the row, or swipe it.");
  row.root = element("div", { class: "matrices", "data-testid": "matrix-row" }, row.lines, row.hint, row.sum.node, row.legend);
  (parent.querySelector(".matrix-view") ?? parent).append(row.root);
  row.observer = new ResizeObserver(() => later(row));
  row.observer.observe(row.root);
  row.stopWatching = watchScreen(() => later(row));
  return row;
}

function receive(row, { header, cells }) {
  const floats = new Float32Array(cells.slice().buffer);
  row.theme = themeOf(row.root);
  row.model = modelOf(header, floats);
  row.numbers = header.numbers;
  row.colours = palette(row.theme.dark);
  row.root.classList.toggle("dark", row.theme.dark);
  if (row.echo.accepts(header.chosen)) row.chosen = header.chosen;
  if (!exists(row.model, row.chosen)) row.chosen = null;
  row.hover = null;
  fillSum(row.sum, row.model, row.chosen);
  fillLegend(row.legend, row.model.matrices, row.colours.stops);
  row.pattern = "";
  paint(row);
  row.root.dataset.paints = String((row.paints += 1));
}

function themeOf(root) {
  const theme = readTheme(root);
  return { ...theme, left: theme.accent, right: theme.dark ? "#c9adff" : "#7a3bd1", own: theme.text };
}

function later(row) {
  row.frame ??= requestAnimationFrame(() => {
    row.frame = null;
    paint(row);
  });
}

function paint(row) {
  const width = row.root.clientWidth;
  if (!width) return;
  row.labelWidth = labelWidthOf(row);
  const { cell, lines } = arrange(row.model.matrices, width, row.labelWidth, row.numbers);
  row.cell = cell;
  const pattern = lines.map((line) => line.map((matrix) => matrix.name)).join("|");
  if (pattern !== row.pattern) build(row, lines, pattern);
  const active = row.hover ?? row.chosen;
  const lights = active ? lightsOf(row.model, active) : [];
  for (const line of lines) paintLine(row, line, active, lights);
  row.hint.hidden = ![...row.lines.children].some((line) => line.scrollWidth > line.clientWidth + 1);
  row.root.dataset.chosen = row.chosen ? `${row.chosen.matrix}-${row.chosen.row + 1}-${row.chosen.column + 1}` : "";
}

function labelWidthOf(row) {
  const context = probe(row);
  const font = `600 13px ${row.theme.font}`;
  return 12 + Math.max(...row.model.matrices.map((matrix) => measureLabels(context, matrix.rowTexts, font, WIDEST_NAME).widest));
}

function probe(row) {
  row.probe ??= element("canvas").getContext("2d");
  return row.probe;
}

// Puts the panels into their lines. Panels are kept by name, so that the keyboard stays where it is.
function build(row, lines, pattern) {
  const active = row.root.getRootNode().activeElement;
  row.pattern = pattern;
  row.labels = [];
  row.lines.replaceChildren(...lines.map((line) => element("div", { class: "line" }, ...line.flatMap((matrix, index) => {
    const parts = index ? [element("span", { class: "lead", "aria-hidden": "true" }, matrix.lead)] : [];
    if (needsLabels(line, index)) parts.push(labelColumn(row, matrix));
    return [...parts, panelOf(row, matrix).node];
  }))));
  if (active?.isConnected && row.root.contains(active)) active.focus({ preventScroll: true });
}

function labelColumn(row, matrix) {
  const canvas = element("canvas", { "aria-hidden": "true" });
  const title = element("span", { class: "title" }, row.model.namesTitle);
  const size = element("span", { class: "shape" }, row.model.namesTitle ? String(matrix.rows) : "");
  const head = element("div", { class: "head" }, title, size);
  row.labels.push({ canvas, matrix });
  return element("div", { class: "labels" }, head, canvas);
}

function panelOf(row, matrix) {
  const { name } = matrix;
  if (!row.panels.has(name)) row.panels.set(name, makePanel(name, reactions(row, name)));
  describePanel(row.panels.get(name), matrix);
  return row.panels.get(name);
}

function reactions(row, name) {
  return {
    point: (event, canvas) => hoverOn(row, cellAt(row, name, canvas, event)),
    leave: () => hoverOn(row, null),
    click: (event, canvas) => {
      const cell = cellAt(row, name, canvas, event);
      hoverOn(row, null);
      if (cell) choose(row, same(cell, row.chosen) ? null : cell);
    },
    press: (event) => press(row, name, event),
  };
}

function cellAt(row, name, canvas, event) {
  const matrix = row.model.byName[name];
  const box = canvas.getBoundingClientRect();
  const column = Math.floor((event.clientX - box.left - INSET) / row.cell);
  const place = Math.floor((event.clientY - box.top - Number(canvas.dataset.top)) / row.cell);
  if (place < 0 || column < 0 || place >= matrix.rows || column >= matrix.shown) return null;
  return { matrix: name, row: place, column };
}

const same = (one, other) => Boolean(one && other) && one.matrix === other.matrix && one.row === other.row && one.column === other.column;

function press(row, name, event) {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const matrix = row.model.byName[name];
  const here = row.chosen?.matrix === name ? row.chosen : null;
  const to = (down, right) => (here ? { down: here.row + down, right: here.column + right } : { down: 0, right: 0 });
  const target = {
    ArrowUp: () => to(-1, 0), ArrowDown: () => to(1, 0), ArrowLeft: () => to(0, -1), ArrowRight: () => to(0, 1),
    Home: () => ({ down: here?.row ?? 0, right: 0 }), End: () => ({ down: here?.row ?? 0, right: matrix.shown - 1 }),
    Enter: () => to(0, 0), Escape: () => null,
  }[event.key]?.();
  if (target === undefined) return;
  event.preventDefault();
  const between = (place, count) => Math.min(count - 1, Math.max(0, place));
  hoverOn(row, null);
  choose(row, target && { matrix: name, row: between(target.down, matrix.rows), column: between(target.right, matrix.shown) });
}

function hoverOn(row, cell) {
  if (same(cell, row.hover) || (!cell && !row.hover)) return;
  row.hover = cell;
  fillSum(row.sum, row.model, cell ?? row.chosen);
  later(row);
}

function choose(row, cell) {
  row.chosen = cell;
  row.sum.every = false;
  row.echo.expect(cell);
  row.tell(cell);
  fillSum(row.sum, row.model, cell);
  later(row);
}

function paintLine(row, line, active, lights) {
  const { cell, theme } = row;
  const top = Math.max(...line.map((matrix) => topOf(row, matrix)));
  for (const matrix of line) {
    const own = active?.matrix === matrix.name
      ? [{ row: active.row, part: "line" }, { column: active.column, part: "line" }, { row: active.row, column: active.column, part: "own" }] : [];
    const lit = [...lights.filter((light) => light.matrix === matrix.name), ...own];
    const { canvas } = row.panels.get(matrix.name);
    canvas.dataset.top = String(top);
    canvas.dataset.cell = String(cell);
    canvas.dataset.lit = lit.map((light) => `${light.part} ${light.row ?? "*"} ${light.column ?? "*"}`).join(", ");
    const context = sharpen(canvas, panelWidth(matrix, cell) + 2 * INSET, top + matrix.rows * cell + INSET);
    const shape = { cell, top, upright: isUpright(row, matrix), widest: widestName(row, matrix), numbers: row.numbers && cell >= 30 };
    paintMatrix(context, matrix, shape, { colours: row.colours, theme, lights: lit, chosen: active, dim: active !== null });
  }
  for (const { canvas, matrix } of row.labels.filter((label) => line.includes(label.matrix))) {
    const context = sharpen(canvas, row.labelWidth, top + matrix.rows * cell + INSET);
    paintRowNames(context, matrix, { cell, top, labelWidth: row.labelWidth }, theme, litRows(line, matrix, active, lights));
  }
}

function litRows(line, matrix, active, lights) {
  const named = line.filter((other) => other.rowNames === matrix.rowNames).map((other) => other.name);
  const lit = new Map();
  if (active && named.includes(active.matrix)) lit.set(active.row, "own");
  for (const light of lights) if (named.includes(light.matrix) && light.row !== undefined && !lit.has(light.row)) lit.set(light.row, light.part);
  for (const light of lights) if (named.includes(light.matrix) && light.part === "left" && light.row !== undefined) lit.set(light.row, "left");
  return lit;
}

function isUpright(row, matrix) {
  return widestName(row, matrix) <= Math.max(row.cell + 2, 20);
}

function topOf(row, matrix) {
  return isUpright(row, matrix) ? 20 : widestName(row, matrix) + 12;
}

function widestName(row, matrix) {
  const { widths } = measureLabels(probe(row), matrix.columnTexts, `600 12px ${row.theme.font}`, TALLEST_NAME);
  return Math.max(...widths.slice(0, matrix.shown));
}
