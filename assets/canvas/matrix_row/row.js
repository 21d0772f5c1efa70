// The component: matrices in the order in which they are computed, and the sum behind the chosen cell.

import { unpack } from "../core/bytes.js";
import { isDrawn, makePrefetch } from "../core/prefetch.js";
import { mountOnce, throttle, element, setText, timestamped, pendingChoice, watchScreen } from "../core/surface.js";
import { signedTables } from "../core/palette.js";
import { filled } from "../core/text.js";
import { applyTheme } from "../core/theme.js";
import { arrange, cellWidth, labelWidthOf, needsLabels, paintLine, uncover } from "./lines.js";
import { INSET, exists, fillLegend, modelOf } from "./matrix.js";
import { fillSum, lightsOf, makeSum } from "./sum.js";

const BESIDE_LINES = 310; // pixels of the screen for controls and sum, and a little to spare: matrix_row.css lets lines scroll from 270
const SHORTEST_LINES = 260;

export default function mountRow({ data, parentElement, setStateValue }) {
  const sent = unpack(data);
  const [row, end] = mountOnce(parentElement, makeRow, removeRow, sent.header.texts);
  row.send = (cell) => setStateValue("cell", timestamped(cell));
  if (!isDrawn(row.prefetch, sent)) receive(row, sent);
  return end;
}

function makeRow(parent, texts) {
  const row = { texts, chosen: null, wanted: null, hover: null, panels: new Map(), echo: pendingChoice(), frame: null, paints: 0, pattern: "" };
  row.notify = throttle((cell) => row.send(cell), 60);
  row.lines = element("div", { class: "lines" });
  row.sum = makeSum(texts, () => choose(row, null));
  row.legend = element("p", { class: "legend" });
  row.hint = element("p", { class: "hint", "data-testid": "sideways" }, texts.sideways);
  const how = element("p", { class: "hint" }, texts.how);
  row.root = element("div", { class: "matrices", "data-testid": "matrix-row" }, how, row.lines, row.hint, row.sum.node, row.legend);
  (parent.querySelector(".matrix-view") ?? parent).append(row.root);
  row.observer = new ResizeObserver(() => later(row));
  row.observer.observe(row.root);
  row.stopWatching = watchScreen(() => later(row));
  row.prefetch = makePrefetch((sent) => receive(row, sent));
  return row;
}

function receive(row, { header, cells }) {
  const floats = new Float32Array(cells.slice().buffer);
  row.theme = themeOf(row.root);
  row.model = modelOf(header, floats);
  row.colours = signedTables(row.theme.dark);
  if (row.echo.accepts(header.chosen)) row.wanted = header.chosen;
  row.numbers = header.numbers;
  fillLegend(row.legend, row.model.matrices, row.theme.dark, row.texts);
  draw(row);
}

// Redraws everything: the numbers or the controls have changed. A chosen cell that is not drawn now is kept for later.
function draw(row) {
  row.chosen = exists(row.model, row.wanted) ? row.wanted : null;
  row.hover = null;
  fillSum(row.sum, row.model, row.chosen);
  for (const matrix of row.model.matrices) describePanel(panelOf(row, matrix.name), matrix, row.texts);
  paint(row);
  row.root.dataset.paints = String((row.paints += 1));
}

function themeOf(root) {
  const theme = applyTheme(root);
  return { ...theme, left: theme.accent, right: theme.second, own: theme.text };
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
  const { cell, lines } = arrange(row.model.matrices, width, row.labelWidth, row.numbers, tallestLines());
  row.cell = cell;
  const pattern = patternOf(row, lines);
  if (pattern !== row.pattern) build(row, lines, pattern);
  const active = row.hover ?? row.chosen;
  const lights = active ? lightsOf(row.model, active) : [];
  for (const line of lines) paintLine(row, line, active, lights);
  row.hint.hidden = ![...row.lines.children].some((line) => line.scrollWidth > line.clientWidth + 1);
  row.root.dataset.chosen = row.chosen ? `${row.chosen.matrix}-${row.chosen.row + 1}-${row.chosen.column + 1}` : "";
}

// Describes the layout of the lines. While it is the same, new numbers only need to be painted.
function patternOf(row, lines) {
  const written = lines.map((line) => line.map((matrix, index) => [matrix.name, matrix.lead, needsLabels(line, index) && matrix.rows]));
  return JSON.stringify([row.model.namesTitle, written]);
}

// Puts the panels into their lines. Panels are kept by name, so that the focus stays where it is.
function build(row, lines, pattern) {
  const active = row.root.getRootNode().activeElement;
  row.pattern = pattern;
  row.labels = [];
  row.lines.replaceChildren(...lines.map((line) => element("div", { class: "line" }, ...line.flatMap((matrix, index) => {
    const parts = index ? [element("span", { class: "lead", "aria-hidden": "true" }, matrix.lead)] : [];
    if (needsLabels(line, index)) parts.push(labelColumn(row, matrix));
    return [...parts, panelOf(row, matrix.name).node];
  }))));
  if (active?.isConnected && row.root.contains(active)) active.focus({ preventScroll: true });
}

function labelColumn(row, matrix) {
  const canvas = element("canvas", { "aria-hidden": "true" });
  const title = element("span", { class: "title" }, row.model.namesTitle);
  const size = element("span", { class: "shape" }, row.model.namesTitle ? String(matrix.rows) : "");
  const head = element("div", { class: "head" }, title, size);
  row.labels.push({ canvas, name: matrix.name });
  return element("div", { class: "labels" }, head, canvas);
}

function panelOf(row, name) {
  if (!row.panels.has(name)) row.panels.set(name, makePanel(name, reactions(row, name)));
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
  const column = Math.floor((event.clientX - box.left - INSET) / cellWidth(matrix, row.cell));
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
  if (row.chosen) uncover(row, row.chosen);
}

function hoverOn(row, cell) {
  if (same(cell, row.hover) || (!cell && !row.hover)) return;
  row.hover = cell;
  fillSum(row.sum, row.model, cell ?? row.chosen);
  later(row);
}

function choose(row, cell) {
  row.chosen = row.wanted = cell;
  row.sum.every = false;
  row.echo.expect(cell);
  row.notify(cell);
  fillSum(row.sum, row.model, cell);
  later(row);
}

function removeRow(row) {
  row.observer.disconnect();
  row.stopWatching();
  row.prefetch.end();
  if (row.frame !== null) cancelAnimationFrame(row.frame);
  row.root.remove();
}

// The height that the lines may take, so that the sum below them stands on the same screen.
function tallestLines() {
  return Math.max(SHORTEST_LINES, window.innerHeight - BESIDE_LINES);
}

// One matrix on the screen: title, formula and shape above a canvas for pointer and arrow keys. on: its event handlers.
function makePanel(name, on) {
  const [title, formula, shape] = ["title", "formula", "shape"].map((kind) => element("span", { class: kind }));
  const canvas = element("canvas", { role: "img", "data-testid": `matrix-${name}` });
  const box = element("div", { class: "cells", tabindex: "0", role: "group" }, canvas);
  const node = element("div", { class: "panel" }, element("div", { class: "head" }, title, formula, shape), box);
  canvas.onpointermove = (event) => event.pointerType !== "touch" && on.point(event, canvas);
  canvas.onpointerleave = on.leave;
  canvas.onclick = (event) => on.click(event, canvas);
  box.onkeydown = on.press;
  return { node, title, formula, shape, canvas, box };
}

function describePanel(panel, matrix, texts) {
  const { title, rows, columns, shown, alt } = matrix;
  const sentence = (text) => filled(text, { title, rows, columns, shown, alt }).join("");
  setText(panel.title, matrix.title);
  setText(panel.formula, matrix.formula);
  setText(panel.shape, sentence(shown < columns ? texts.shapeDrawn : texts.shape));
  panel.box.setAttribute("aria-label", sentence(texts.keys));
  panel.canvas.setAttribute("aria-label", sentence(texts.alt));
}
