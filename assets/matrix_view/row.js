// The component: matrices in the order in which they are computed, one chosen cell, one pointer.

import { unpack } from "../attention_view/bytes.js";
import { calmly, element, measureLabels, ownEcho, sharpen, visible, watchScreen } from "../attention_view/surface.js";
import { readTheme } from "../attention_view/theme.js";
import { arrange, needsLabels, panelWidth } from "./layout.js";
import { lightsOf } from "./origin.js";
import { INSET, paintMatrix, paintRowNames, palette } from "./paint.js";
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
  row.root = element("div", { class: "matrices", "data-testid": "matrix-row" }, row.lines, row.sum.node, row.legend);
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
  fillLegend(row);
  row.pattern = "";
  paint(row);
  row.root.dataset.paints = String((row.paints += 1));
}

function themeOf(root) {
  const theme = readTheme(root);
  return { ...theme, left: theme.accent, right: theme.dark ? "#c9adff" : "#7a3bd1", own: theme.text };
}

function modelOf(header, floats) {
  let start = 0;
  const texts = new Map();
  const read = (names) => {
    const known = JSON.stringify(names);
    if (!texts.has(known)) texts.set(known, names.map(visible));
    return texts.get(known);
  };
  const matrices = header.matrices.map((sent) => {
    const values = floats.subarray(start, start + sent.rows * sent.columns);
    start += values.length;
    const rowTexts = read(header.names[sent.row_names]);
    return { ...sent, values, rowTexts, rowNames: rowTexts, columnTexts: read(header.names[sent.column_names]), rowKind: sent.row_kind, columnKind: sent.column_kind };
  });
  for (const matrix of matrices) matrix.limit = limitOf(matrices.filter((other) => other.group === matrix.group));
  return { namesTitle: header.names_title, matrices: matrices.filter((matrix) => matrix.shown > 0), byName: Object.fromEntries(matrices.map((matrix) => [matrix.name, matrix])) };
}

// The greatest number among matrices that are compared; shares end at 1.
function limitOf(matrices) {
  if (matrices[0].group === "shares") return 1;
  let greatest = 0;
  for (const { values } of matrices) for (const value of values) if (Number.isFinite(value)) greatest = Math.max(greatest, Math.abs(value));
  return greatest || 1;
}

function exists(model, cell) {
  const matrix = cell && model.byName[cell.matrix];
  return Boolean(matrix) && cell.row < matrix.rows && cell.column < matrix.shown;
}

function fillLegend(row) {
  const ramp = element("span", { class: "ramp" });
  const { above, below } = row.colours.stops;
  ramp.style.background = `linear-gradient(to right, ${[...[...below].reverse(), ...above].join(", ")})`;
  const left = element("span", { class: "swatch left" });
  const right = element("span", { class: "swatch right" });
  row.legend.replaceChildren(element("span", {}, "below zero ", ramp, " above zero"),
    element("span", {}, left, " made from this"), element("span", {}, right, " times this"));
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
  const kept = row.panels.get(matrix.name);
  const panel = kept ?? makePanel(row, matrix.name);
  row.panels.set(matrix.name, panel);
  panel.title.textContent = matrix.title;
  panel.formula.textContent = matrix.formula;
  const drawn = matrix.shown < matrix.columns ? `, first ${matrix.shown} drawn` : "";
  panel.shape.textContent = `${matrix.rows} × ${matrix.columns}${drawn}`;
  panel.box.setAttribute("aria-label", `${matrix.title}. Arrow keys choose a cell, Escape clears.`);
  panel.canvas.setAttribute("aria-label", `${matrix.title}, ${matrix.rows} by ${matrix.columns}. ${matrix.told ?? ""}`);
  return panel;
}

function makePanel(row, name) {
  const [title, formula, shape] = ["title", "formula", "shape"].map((kind) => element("span", { class: kind }));
  const canvas = element("canvas", { role: "img", "data-testid": `matrix-${name}` });
  const box = element("div", { class: "cells", tabindex: "0", role: "group" }, canvas);
  const node = element("div", { class: "panel" }, element("div", { class: "head" }, title, formula, shape), box);
  const at = (event) => cellAt(row, name, canvas, event);
  canvas.onpointermove = (event) => event.pointerType !== "touch" && hoverOn(row, at(event));
  canvas.onpointerleave = () => hoverOn(row, null);
  canvas.onclick = (event) => {
    const cell = at(event);
    hoverOn(row, null);
    if (cell) choose(row, same(cell, row.chosen) ? null : cell);
  };
  box.onkeydown = (event) => press(row, name, event);
  return { node, title, formula, shape, canvas, box };
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
