// Matrices side by side in the order of a computation, a cell of one of them chosen, and the cells that it was computed from lit.

import { arrange, INSET, labelWidthOf, lineWidth, needsLabels, packed, paintLabels, paintMatrix, panelWidth, topOf, uncover } from "../matrices/lines.js";
import { lightsOf } from "../matrices/sum.js";
import { cellAt } from "../../canvas/core/grid.js";
import { placeByKey } from "../../canvas/core/keys.js";
import { differenceTable } from "../../canvas/core/palette.js";
import { element, localPoint, setText, sharpen } from "../../canvas/core/surface.js";
import { say, write } from "../../canvas/core/text.js";

const [SMALLEST, LARGEST, WIDEST, TOUCHABLE, TOUCHABLE_WITH_NUMBERS, WITH_NUMBERS, LOW] = [4, 52, 80, 26, 30, 38, 20]; // pixels of a cell
const NARROW = 600;
const ROOM_ABOVE = 92; // pixels above the cells of a line: titles and column names
const [LEAST_ZOOM, MOST_ZOOM, STEP] = [0.5, 4, 1.25];

// gestures: choose(cell or null), hover(cell or null).
export function makeMatrices(gestures) {
  const lines = element("div", { class: "lines", "data-testid": "stage-matrices" });
  return { node: lines, root: lines, lines, gestures, panels: new Map(), labels: [], pattern: "", cell: 0 };
}

export const zoomed = (zoom, direction) => (direction === 0 ? 1 : Math.min(MOST_ZOOM, Math.max(LEAST_ZOOM, zoom * STEP ** direction)));

// The matrices of a step in its order, each with what stands before it; or all as they are.
function shownOf(model, names, leads) {
  return names ? names.map((name, index) => ({ ...model.byName[name], lead: leads[index] })) : model.matrices;
}

// names: of the matrices that are drawn, all for null; leads: what stands before each. active: the cell that is pointed at or chosen.
// least: of a cell, in pixels; numbers are then written where they fit.
export function drawMatrices(made, model, { names, leads, chosen, active, numbers, theme, room, zoom, several, least = 0 }) {
  const shown = shownOf(model, names, leads);
  Object.assign(made, { model, chosen, numbers, theme, table: differenceTable(theme.dark) });
  made.labelWidth = labelWidthOf(made);
  const { cell, wide, lines } = several ? { wide: 0, ...arrange(shown, room.width, made.labelWidth, numbers && !least, room.height) } : inOneLine(shown, room, made.labelWidth, numbers, least);
  made.cell = Math.max(SMALLEST, Math.round(cell * zoom));
  made.wide = Math.round(wide * zoom);
  for (const matrix of shown) describe(panelOf(made, matrix.name), matrix, model.texts);
  const pattern = JSON.stringify([model.namesTitle, lines.map((line) => line.map(({ name, lead, rows }, index) => [name, index ? lead : "", needsLabels(line, index) && rows]))]);
  if (pattern !== made.pattern) build(made, lines, pattern);
  const lights = active ? lightsOf(model, active) : [];
  for (const line of lines) paintLine(made, line, { active, lights });
}

function paintLine(made, line, shown) {
  const top = topOf(made, line);
  const below = ({ rows }) => top + rows * made.cell + INSET;
  for (const matrix of line) {
    const panel = made.panels.get(matrix.name);
    panel.place = paintMatrix(sharpen(panel.canvas, panelWidth(matrix, made.cell, made.wide) + 2 * INSET, below(matrix)), made, matrix, top, shown);
  }
  for (const { canvas, name } of made.labels) {
    const matrix = line.find((one) => one.name === name);
    if (matrix) paintLabels(sharpen(canvas, made.labelWidth, below(matrix)), made, line, matrix, top, shown);
  }
}

function showCell(made, cell) {
  if (cell && made.panels.get(cell.matrix)?.node.isConnected) uncover(made, cell);
}

// A step's matrices stand in one line, as high as there is room and as wide as they may be; else the line scrolls sideways.
function inOneLine(matrices, { width, height }, labelWidth, numbers, asked = 0) {
  const rows = Math.max(...matrices.map((matrix) => matrix.rows));
  const fits = (cell, wide) => lineWidth(matrices, labelWidth, cell, wide) <= width;
  const least = width < NARROW ? (asked ? TOUCHABLE_WITH_NUMBERS : TOUCHABLE) : asked || (numbers ? LOW : SMALLEST);
  const tall = Math.max(SMALLEST, Math.min(LARGEST, Math.floor((height - ROOM_ABOVE) / rows)));
  let cell = tall;
  while (cell > 7 && !fits(cell, 0)) cell -= 1;
  if (!fits(cell, 0)) cell = Math.min(tall, LOW);
  cell = Math.max(cell, least);
  let wide = numbers && !asked ? WITH_NUMBERS : cell;
  while (wide < Math.min(WIDEST, (numbers && !asked ? 3 : 2) * cell) && fits(cell, wide + 1)) wide += 1;
  return { cell, wide, lines: [matrices] };
}

// Panels are kept by name, so that the focus stays where it is.
function build(made, lines, pattern) {
  const active = made.lines.getRootNode().activeElement;
  made.pattern = pattern;
  made.labels = [];
  made.lines.replaceChildren(...lines.map((line) => element("div", { class: "line" }, ...line.flatMap((matrix, index) => {
    const parts = index && matrix.lead ? [element("span", { class: "lead", "aria-hidden": "true" }, matrix.lead)] : [];
    if (needsLabels(line, index)) parts.push(labelColumn(made, matrix));
    return [...parts, panelOf(made, matrix.name).node];
  }))));
  if (active?.isConnected && made.lines.contains(active)) active.focus({ preventScroll: true });
}

function labelColumn(made, matrix) {
  const canvas = element("canvas", { "aria-hidden": "true" });
  const named = matrix.rowKind ? made.model.namesTitle : ""; // rows of another kind are named by themselves
  const title = element("span", { class: "title" }, named);
  const count = element("span", { class: "shape" }, named ? String(matrix.rows) : "");
  made.labels.push({ canvas, name: matrix.name });
  return element("div", { class: "labels" }, element("div", { class: "head" }, title, count), canvas);
}

function panelOf(made, name) {
  if (!made.panels.has(name)) made.panels.set(name, makePanel(made, name));
  return made.panels.get(name);
}

function makePanel(made, name) {
  const [title, formula, shape] = ["title", "formula", "shape"].map((kind) => element("span", { class: kind }));
  const canvas = element("canvas", { role: "img", "data-testid": `matrix-${name}` });
  const box = element("div", { class: "cells", tabindex: "0", role: "group" }, canvas);
  const node = element("div", { class: "panel" }, element("div", { class: "head" }, title, formula, shape), box);
  canvas.onpointermove = (event) => event.pointerType !== "touch" && made.gestures.hover(cellUnder(made, name, event));
  canvas.onpointerleave = () => made.gestures.hover(null);
  canvas.onclick = (event) => {
    const cell = cellUnder(made, name, event);
    made.gestures.hover(null);
    if (cell) made.gestures.choose(same(cell, made.chosen) ? null : cell);
  };
  box.onkeydown = (event) => press(made, name, event);
  return { node, title, formula, shape, canvas, box };
}

function describe(panel, matrix, texts) {
  const { title, rows, columns, shown, alt } = matrix;
  const sentence = (text) => say(text, { title, rows, columns, shown, alt });
  setText(panel.title, matrix.title);
  setText(panel.formula, matrix.formula);
  setText(panel.shape, sentence(shown < columns ? texts.shapeDrawn : texts.shape));
  panel.box.setAttribute("aria-label", sentence(texts.keys));
  panel.canvas.setAttribute("aria-label", sentence(texts.alt));
}

export const same = (one, other) => Boolean(one && other) && one.matrix === other.matrix && one.row === other.row && one.column === other.column;

function cellUnder({ model, panels }, name, event) {
  const { rows, shown } = model.byName[name];
  const { canvas, place } = panels.get(name);
  const { row, column } = cellAt(place, { rows, columns: shown }, ...localPoint(canvas, event)) ?? {};
  return row == null || column == null ? null : { matrix: name, row, column };
}

function press(made, name, event) {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const { rows, shown } = made.model.byName[name];
  const here = made.chosen?.matrix === name ? [made.chosen.row, made.chosen.column] : null;
  const place = event.key === "Enter" ? here ?? [0, 0] : placeByKey(event, here, [rows, shown]);
  if (!place && event.key !== "Escape") return;
  event.preventDefault();
  made.gestures.hover(null);
  const cell = place && { matrix: name, row: place[0], column: place[1] };
  made.gestures.choose(cell);
  showCell(made, cell);
}

// The same matrices as part of a figure: a function that lays itself out in a width and returns its size and `paint`.
export function matricesFigure(model, { names, leads, chosen, numbers, several }) {
  const shown = shownOf(model, names, leads);
  return (context, theme, width) => {
    const row = { model, theme, numbers, table: differenceTable(theme.dark) };
    row.labelWidth = labelWidthOf(row);
    const found = several ? { wide: 0, ...arrange(shown, width, row.labelWidth, numbers, 2000) } : inOneLine(shown, { width, height: 900 }, row.labelWidth, numbers);
    Object.assign(row, { cell: Math.max(10, found.cell), wide: found.wide });
    const state = { active: chosen, lights: chosen ? lightsOf(model, chosen) : [] };
    const placed = [];
    let [y, widest] = [0, 0];
    for (const line of packed(shown, width, row.labelWidth, row.cell, row.wide)) {
      const top = TITLES + topOf(row, line);
      let x = 0;
      line.forEach((matrix, index) => {
        const labels = needsLabels(line, index);
        if (index) x += BETWEEN;
        placed.push({ line, matrix, x, y, top, labels });
        x += (labels ? row.labelWidth : 0) + panelWidth(matrix, row.cell, row.wide) + 2 * INSET;
      });
      widest = Math.max(widest, x);
      y += top + Math.max(...line.map(({ rows }) => rows)) * row.cell + BETWEEN;
    }
    const paint = (target) => {
      for (const { line, matrix, x, y: down, top, labels } of placed) {
        target.save();
        target.translate(x, down);
        if (labels) paintLabels(target, row, line, matrix, top, state);
        if (labels) target.translate(row.labelWidth, 0);
        paintMatrix(target, row, matrix, top, state);
        write(target, matrix.title, INSET, 8, { font: `600 13px ${theme.font}`, colour: theme.text });
        write(target, matrix.formula, INSET, 24, { font: `11px ${theme.font}`, colour: theme.quiet });
        target.restore();
      }
    };
    return { width: widest, height: y - BETWEEN + 4, paint };
  };
}

const [TITLES, BETWEEN] = [36, 28]; // pixels in a figure
