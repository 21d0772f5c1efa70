// A line of matrices, with the names of its rows, painted at one height.

import { measureLabels, element, sharpen } from "../core/surface.js";
import { cellWidth, panelWidth } from "./layout.js";
import { INSET, paintMatrix, paintRowNames } from "./paint.js";

const WIDEST_NAME = 76;
const ABOVE = 64; // pixels at the top of the screen that the head of the page may cover
const TALLEST_NAME = 62;

export function labelWidthOf(row) {
  const context = probe(row);
  const font = `600 13px ${row.theme.font}`;
  return 12 + Math.max(...row.model.matrices.map((matrix) => measureLabels(context, matrix.rowTexts, font, WIDEST_NAME).widest));
}

function probe(row) {
  row.probe ??= element("canvas").getContext("2d");
  return row.probe;
}

export function paintLine(row, line, active, lights) {
  const { cell, theme } = row;
  const top = Math.max(...line.map((matrix) => topOf(row, matrix)));
  for (const matrix of line) {
    const own = active?.matrix === matrix.name
      ? [{ row: active.row, part: "line" }, { column: active.column, part: "line" }, { row: active.row, column: active.column, part: "own" }] : [];
    const lit = [...lights.filter((light) => light.matrix === matrix.name), ...own];
    const { canvas } = row.panels.get(matrix.name);
    canvas.dataset.top = String(top);
    const wide = cellWidth(matrix, cell);
    canvas.dataset.cell = String(cell);
    canvas.dataset.wide = String(wide);
    canvas.dataset.lit = lit.map((light) => `${light.part} ${light.row ?? "*"} ${light.column ?? "*"}`).join(", ");
    const context = sharpen(canvas, panelWidth(matrix, cell) + 2 * INSET, top + matrix.rows * cell + INSET);
    const shape = { cell, wide, top, upright: isUpright(row, matrix), widest: widestName(row, matrix), numbers: row.numbers && cell >= 30 };
    paintMatrix(context, matrix, shape, { colours: row.colours, theme, lights: lit, chosen: active, dim: active !== null });
  }
  for (const { canvas, name } of row.labels.filter((label) => line.some((matrix) => matrix.name === label.name))) {
    const matrix = row.model.byName[name];
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

// Scrolls a line sideways, and the page up or down, until a cell stands in the open: not beside its box, nor below the sum.
export function uncover(row, { matrix: name, row: place, column }) {
  const { canvas } = row.panels.get(name);
  const line = canvas.closest(".line");
  const wide = cellWidth(row.model.byName[name], row.cell);
  const left = canvas.getBoundingClientRect().left - line.getBoundingClientRect().left + INSET + column * wide;
  const hidden = Math.min(0, left - row.labelWidth) || Math.max(0, left + wide - line.clientWidth);
  if (hidden) line.scrollLeft += hidden + 60 * Math.sign(hidden);
  const y = canvas.getBoundingClientRect().top + Number(canvas.dataset.top) + (place + 0.5) * row.cell;
  const lowest = Math.min(window.innerHeight, row.sum.node.getBoundingClientRect().top) - row.cell;
  const covered = Math.min(0, y - row.cell - ABOVE) || Math.max(0, y - lowest);
  if (covered) scrollable(line).scrollTop += covered;
}

// What scrolls the page: a box around the drawing, which stands in a shadow root.
function scrollable(node) {
  for (let box = node.getRootNode().host ?? node.parentElement; box; box = box.parentElement ?? box.getRootNode().host) {
    if (box.scrollHeight > box.clientHeight + 1 && /auto|scroll/.test(getComputedStyle(box).overflowY)) return box;
  }
  return document.scrollingElement;
}

function isUpright(row, matrix) {
  return widestName(row, matrix) <= Math.max(cellWidth(matrix, row.cell) + 2, 20);
}

function topOf(row, matrix) {
  return isUpright(row, matrix) ? 20 : widestName(row, matrix) + 12;
}

function widestName(row, matrix) {
  const { widths } = measureLabels(probe(row), matrix.columnTexts, `600 12px ${row.theme.font}`, TALLEST_NAME);
  return Math.max(...widths.slice(0, matrix.shown));
}
