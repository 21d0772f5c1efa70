// Arranges the matrices of a computation in lines and paints them, each as a grid of cells, with the names of their rows.
//
// On a narrow screen, and for a long sentence, there is one line that scrolls sideways; else as few lines as keep the cells
// readable and all lines on one screen.

import { paintGrid, paintRowNames } from "../../canvas/core/grid.js";
import { element, measureLabels } from "../../canvas/core/surface.js";
import { gridOf } from "./matrix.js";

const NARROW = 600;
const TOUCHABLE = 26;
const WITH_NUMBERS = 36;
const LARGEST_CELL = 28;
const SMALLEST_CELL = 4;
const SMALLEST_IN_LINES = 7;
const FEW_LINES = 2;
const HEAD = 110; // pixels above the cells of a line: titles and column names
const LINE_GAP = 22;
const COMFORTABLE = 10; // cells do not shrink below it to make two lines stand on one screen
const NARROWEST_PANEL = 84;
const GAP = 30;
const WIDEST_NAME = 76;
const ABOVE = 64; // pixels at the top of the screen that the page header may cover
const TALLEST_NAME = 62;
const [NAMES, ROW_NAMES] = [12, 13]; // pixels of letters
export const INSET = 3; // left of the cells, for the frame of the first column

export function panelWidth(matrix, cell, wide = 0) {
  return Math.max(NARROWEST_PANEL, matrix.shown * cellWidth(matrix, cell, wide) + (matrix.shown < matrix.columns ? 12 : 0));
}

// A matrix with few columns gets wider cells, up to the width of its title. wide: the least width, where cells are no squares.
export function cellWidth(matrix, cell, wide = 0) {
  return Math.max(cell, wide, Math.min(LARGEST_CELL, Math.floor((NARROWEST_PANEL - 12) / matrix.shown)));
}

// Returns the size of a cell and the matrices of each line. tallest: the pixels that all lines may take.
export function arrange(matrices, width, labelWidth, numbers, tallest) {
  const longest = Math.max(...matrices.map((matrix) => Math.max(matrix.rows, matrix.shown)));
  const bound = Math.max(SMALLEST_CELL, Math.floor(620 / longest));
  if (width < NARROW) {
    const cell = Math.min(numbers ? WITH_NUMBERS : TOUCHABLE, bound);
    return { cell, lines: [matrices] };
  }
  if (numbers) return { cell: WITH_NUMBERS, lines: packed(matrices, width, labelWidth, WITH_NUMBERS) };
  for (let cell = Math.min(LARGEST_CELL, bound); cell >= SMALLEST_IN_LINES; cell -= 1) {
    const lines = packed(matrices, width, labelWidth, cell);
    const fits = lines.every((line) => lineWidth(line, labelWidth, cell) <= width);
    const onScreen = height(lines, cell) <= tallest || (lines.length <= FEW_LINES && cell <= COMFORTABLE);
    if (fits && onScreen && (lines.length <= FEW_LINES || cell <= 12)) return { cell, lines };
  }
  return { cell: Math.min(LARGEST_CELL, bound), lines: [matrices] };
}

function height(lines, cell) {
  const cells = lines.reduce((sum, line) => sum + HEAD + cell * Math.max(...line.map((matrix) => matrix.rows)), 0);
  return cells + LINE_GAP * (lines.length - 1);
}

export function packed(matrices, width, labelWidth, cell, wide = 0) {
  const lines = [];
  for (const matrix of matrices) {
    const line = lines.at(-1);
    if (line && lineWidth([...line, matrix], labelWidth, cell, wide) <= width) line.push(matrix);
    else lines.push([matrix]);
  }
  return lines;
}

export function lineWidth(line, labelWidth, cell, wide = 0) {
  const labels = line.filter((matrix, index) => needsLabels(line, index)).length * labelWidth;
  return labels + line.reduce((sum, matrix) => sum + panelWidth(matrix, cell, wide) + 6, 0) + (line.length - 1) * GAP + 8;
}

// Row names are drawn once for neighbours in a line that have the same rows.
export function needsLabels(line, index) {
  return index === 0 || line[index - 1].rowTexts !== line[index].rowTexts;
}

export function labelWidthOf(row) {
  const context = probe(row);
  const font = `600 ${ROW_NAMES}px ${row.theme.font}`;
  return 12 + Math.max(...row.model.matrices.map((matrix) => measureLabels(context, matrix.rowTexts, font, WIDEST_NAME).widest));
}

function probe(row) {
  row.probe ??= element("canvas").getContext("2d");
  return row.probe;
}

// Paints a matrix whose cells begin `top` pixels below, as it is for the cell that is chosen or pointed at; returns where it stands.
export function paintMatrix(context, row, matrix, top, { active, lights }) {
  const { theme, cell: high } = row;
  const wide = cellWidth(matrix, high, row.wide);
  const isHere = active?.matrix === matrix.name;
  const lit = [...lights.filter((light) => light.matrix === matrix.name), ...(isHere ? [{ row: active.row, part: "line" }, { column: active.column, part: "line" }, { ...active, part: "own" }] : [])];
  const colours = { line: theme.quiet, left: theme.accent, right: theme.second, own: theme.text };
  const outlines = lit.filter(({ column }) => !(column >= matrix.shown)).map((light) => ({ row: light.row, column: light.column, colour: colours[light.part], width: light.part === "line" ? 1 : 2 }));
  const [plotWidth, plotHeight] = [matrix.shown * wide, matrix.rows * high];
  const shape = {
    left: INSET, top, wide, high, angle: isUpright(row, matrix) ? 0 : Math.PI / 2, font: `${NAMES}px ${theme.font}`, size: NAMES, columns: columnNames(row, matrix), lean: 0,
    viewWidth: plotWidth, viewHeight: plotHeight, plotWidth, plotHeight,
  };
  const grid = gridOf(matrix, row.table, { lights: active && lit, isWritten: row.numbers });
  paintGrid(context, shape, grid, theme, { outlines, columnInk: new Map(isHere ? [[active.column, theme.text]] : []) });
  context.fillStyle = theme.quiet;
  for (const step of matrix.shown < matrix.columns ? [0, 4, 8] : []) context.fillRect(INSET + plotWidth + 2 + step, top + plotHeight / 2 - 1, 2, 2); // dots: there are more columns
  return shape;
}

// The names of the rows of a matrix, which its neighbours with the same rows share; those of lit cells stand out.
export function paintLabels(context, row, line, matrix, top, { active, lights }) {
  const { theme, labelWidth } = row;
  const font = `${ROW_NAMES}px ${theme.font}`;
  const shape = { left: labelWidth - 2, top, high: row.cell, size: ROW_NAMES, font, rows: measureLabels(context, matrix.rowTexts, `600 ${font}`, WIDEST_NAME), viewHeight: matrix.rows * row.cell };
  const colours = { left: theme.accent, right: theme.second, own: theme.text };
  paintRowNames(context, shape, matrix, theme, new Map([...litRows(line, matrix, active, lights)].map(([place, part]) => [place, colours[part]])));
}

function litRows(line, matrix, active, lights) {
  const named = line.filter((other) => other.rowTexts === matrix.rowTexts).map((other) => other.name);
  const lit = new Map();
  if (active && named.includes(active.matrix)) lit.set(active.row, "own");
  for (const light of lights) if (named.includes(light.matrix) && light.row !== undefined && !lit.has(light.row)) lit.set(light.row, light.part);
  for (const light of lights) if (named.includes(light.matrix) && light.part === "left" && light.row !== undefined) lit.set(light.row, "left");
  return lit;
}

// Scrolls to a cell: its line sideways, the box of all lines and the page up or down.
export function uncover(row, { matrix: name, row: place, column }) {
  const { canvas, place: { wide, top: above } } = row.panels.get(name);
  const line = canvas.closest(".line");
  const left = canvas.getBoundingClientRect().left - line.getBoundingClientRect().left + INSET + column * wide;
  const beside = Math.min(0, left - row.labelWidth) || Math.max(0, left + wide - line.clientWidth);
  if (beside) line.scrollLeft += beside + 60 * Math.sign(beside);
  for (const [box, top, bottom] of [[row.lines, ...edges(row.lines)], [scrollable(row.root), ABOVE, window.innerHeight]]) {
    const y = canvas.getBoundingClientRect().top + above + (place + 0.5) * row.cell;
    const covered = Math.min(0, y - row.cell - top) || Math.max(0, y + row.cell - bottom);
    if (covered) box.scrollTop += covered;
  }
}

function edges(node) {
  const { top, bottom } = node.getBoundingClientRect();
  return [top, bottom];
}

// Returns what scrolls the page: a box around the drawing, which stands in a shadow root.
function scrollable(node) {
  for (let box = node.getRootNode().host ?? node.parentElement; box; box = box.parentElement ?? box.getRootNode().host) {
    if (box.scrollHeight > box.clientHeight + 1 && /auto|scroll/.test(getComputedStyle(box).overflowY)) return box;
  }
  return document.scrollingElement;
}

function isUpright(row, matrix) {
  return widestName(row, matrix) <= Math.max(cellWidth(matrix, row.cell, row.wide) + 2, 20);
}

// The pixels above the cells of a line, for the names of their columns.
export function topOf(row, line) {
  return Math.max(...line.map((matrix) => (isUpright(row, matrix) ? 20 : widestName(row, matrix) + 12)));
}

const columnNames = (row, matrix) => measureLabels(probe(row), matrix.columnTexts, `600 ${NAMES}px ${row.theme.font}`, TALLEST_NAME);

function widestName(row, matrix) {
  return Math.max(...columnNames(row, matrix).widths.slice(0, matrix.shown));
}
