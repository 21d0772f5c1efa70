// Matrices side by side in the order of a computation, a cell of one of them chosen, and the cells that it was computed from framed. Each is a grid
// of cells with the names of its rows. The matrices of a step stand in one line, which scrolls sideways where it is too long; all of them
// in as few lines as keep the cells readable.

import { gridOf } from "../matrices/matrix.js";
import { lightsOf } from "../matrices/sum.js";
import { cellAt, paintGrid, paintRowNames } from "../../canvas/core/grid.js";
import { placeByKey } from "../../canvas/core/keys.js";
import { differenceTable } from "../../canvas/core/palette.js";
import { element, localPoint, measureLabels, setText, sharpen } from "../../canvas/core/surface.js";
import { paintAt, say, write } from "../../canvas/core/text.js";

const [SMALLEST, LARGEST, WIDEST, TOUCHABLE, TOUCHABLE_WITH_NUMBERS, WITH_NUMBERS, LOW] = [4, 52, 80, 26, 30, 38, 20]; // pixels of a cell
const [LEAST_OF_ALL, LARGEST_OF_ALL, SMALL, FEW_LINES] = [7, 28, 12, 2]; // pixels of a cell where all matrices stand below each other; small ones may take more lines
const NARROW = 600;
const [ABOVE_CELLS, ABOVE_SQUARES] = [68, 56]; // pixels above the column names of a line: titles; to a room they say less
const [BESIDE_NAME, NUMBER] = [4, 20]; // pixels between upright names; of which numbers need no more, some of which may be left out
const [LEAST_ZOOM, MOST_ZOOM, STEP] = [0.5, 4, 1.25];
const [NARROWEST_PANEL, GAP, WIDEST_NAME, TALLEST_NAME] = [84, 30, 76, 62];
const [NAMES, ROW_NAMES] = [12, 13]; // pixels of letters
const INSET = 3; // left of the cells, for the frame of the first column
const [ABOVE, AROUND] = [64, 60]; // pixels at the top of the screen that the page header may cover; around a cell that is scrolled to

// gestures: choose(cell or null), hover(cell or null).
export function makeMatrices(gestures) {
  const lines = element("div", { class: "lines", "data-testid": "stage-matrices" });
  return { node: lines, lines, context: element("canvas").getContext("2d"), gestures, panels: new Map(), labels: [], pattern: "", cell: 0 };
}

export const zoomed = (zoom, direction) => (direction === 0 ? 1 : Math.min(MOST_ZOOM, Math.max(LEAST_ZOOM, zoom * STEP ** direction)));

// The matrices of a step in its order, each with what stands before it; or all as they are.
function shownOf(model, names, leads) {
  return names ? names.map((name, index) => ({ ...model.byName[name], lead: leads[index] })) : model.matrices;
}

// names: of the matrices that are drawn, all for null; leads: what stands before each. active: the cell that is pointed at or chosen.
// least: of a cell, in pixels; numbers are then written where they fit. isSquare: as to a room, whose cells are no wider than high.
export function drawMatrices(made, model, { names, leads, chosen, active, numbers, theme, room, zoom, several, least = 0, isSquare = false }) {
  const shown = shownOf(model, names, leads);
  Object.assign(made, { model, chosen, numbers, theme, table: differenceTable(theme.dark) });
  made.labelWidth = labelWidthOf(made);
  const { cell, wide, lines } = several ? { wide: 0, ...inLines(made, shown, room, numbers && !least) } : isSquare ? squaresInOneLine(made, shown, room) : inOneLine(made, shown, room, numbers, least);
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

// Scrolls to a cell: past the names of the rows, and the header of the page.
function showCell(made, { matrix, row, column }) {
  const { node, box, place: { left, top, wide, high } } = made.panels.get(matrix);
  if (!node.isConnected) return;
  const spot = element("i", { class: "spot", style: `left: ${left + column * wide}px; top: ${top + row * high}px; width: ${wide}px; height: ${high}px` });
  spot.style.scrollMargin = `${ABOVE}px ${AROUND}px ${AROUND}px ${made.labelWidth + AROUND}px`;
  box.append(spot);
  spot.scrollIntoView({ block: "nearest", inline: "nearest" });
  spot.remove();
}

// The largest cells that are as high as there is room; a line that is wider scrolls sideways.
function tallest(row, matrices, height, above, largest = LARGEST) {
  const rows = Math.max(...matrices.map((matrix) => matrix.rows));
  const fits = (cell) => above + topOf({ ...row, cell, wide: 0 }, matrices) + rows * cell <= height;
  let cell = largest;
  while (cell > SMALLEST && !fits(cell)) cell -= 1;
  return cell;
}

// A step's matrices stand in one line, as high as there is room and as wide as they may be; else the line scrolls sideways.
function inOneLine(row, matrices, { width, height }, numbers, asked = 0) {
  const fits = (cell, wide) => lineWidth(matrices, row.labelWidth, cell, wide) <= width;
  const least = width < NARROW ? (asked ? TOUCHABLE_WITH_NUMBERS : TOUCHABLE) : asked || (numbers ? LOW : SMALLEST);
  const tall = tallest(row, matrices, height, ABOVE_CELLS);
  let cell = tall;
  while (cell > 7 && !fits(cell, 0)) cell -= 1;
  if (!fits(cell, 0)) cell = Math.min(tall, LOW);
  cell = Math.max(cell, least);
  let wide = numbers && !asked ? WITH_NUMBERS : cell;
  while (wide < Math.min(WIDEST, (numbers && !asked ? 3 : 2) * cell) && fits(cell, wide + 1)) wide += 1;
  return { cell, wide, lines: [matrices] };
}

// The same in squares, as large as the height and the width allow.
function squaresInOneLine(row, matrices, { width, height }) {
  let cell = tallest(row, matrices, height, ABOVE_SQUARES, WIDEST);
  while (cell > SMALLEST && lineWidth(matrices, row.labelWidth, cell) > width) cell -= 1;
  return { cell, wide: 0, lines: [matrices] };
}

function panelWidth(matrix, cell, wide = 0) {
  return Math.max(NARROWEST_PANEL, matrix.shown * cellWidth(matrix, cell, wide) + (matrix.shown < matrix.columns ? 12 : 0));
}

// A matrix with few columns gets wider cells, up to the width of its title. wide: the least width, where cells are no squares.
function cellWidth(matrix, cell, wide = 0) {
  return Math.max(cell, wide, Math.min(LARGEST_OF_ALL, Math.floor((NARROWEST_PANEL - 12) / matrix.shown)));
}

// All matrices, on a narrow screen in one line.
function inLines(row, matrices, { width, height }, numbers) {
  const { labelWidth } = row;
  const longest = Math.max(...matrices.map((matrix) => Math.max(matrix.rows, matrix.shown)));
  const bound = Math.max(SMALLEST, Math.min(LARGEST_OF_ALL, Math.floor(620 / longest)));
  if (width < NARROW) return { cell: numbers ? WITH_NUMBERS : Math.min(TOUCHABLE, bound), lines: [matrices] };
  if (numbers) return { cell: WITH_NUMBERS, lines: packed(matrices, width, labelWidth, WITH_NUMBERS) };
  for (let cell = Math.min(bound, Math.max(SMALL, tallest(row, matrices, height / FEW_LINES, ABOVE_CELLS))); cell >= LEAST_OF_ALL; cell -= 1) {
    const lines = packed(matrices, width, labelWidth, cell);
    if ((lines.length <= FEW_LINES || cell <= SMALL) && lines.every((line) => lineWidth(line, labelWidth, cell) <= width)) return { cell, lines };
  }
  return { cell: bound, lines: [matrices] };
}

function packed(matrices, width, labelWidth, cell, wide = 0) {
  const lines = [];
  for (const matrix of matrices) {
    const line = lines.at(-1);
    if (line && lineWidth([...line, matrix], labelWidth, cell, wide) <= width) line.push(matrix);
    else lines.push([matrix]);
  }
  return lines;
}

function lineWidth(line, labelWidth, cell, wide = 0) {
  const labels = line.filter((matrix, index) => needsLabels(line, index)).length * labelWidth;
  return labels + line.reduce((sum, matrix) => sum + panelWidth(matrix, cell, wide) + 6, 0) + (line.length - 1) * GAP + 8;
}

// Row names are drawn once for neighbours in a line that have the same rows.
function needsLabels(line, index) {
  return index === 0 || line[index - 1].rowTexts !== line[index].rowTexts;
}

function labelWidthOf(row) {
  const context = row.context;
  const font = `600 ${ROW_NAMES}px ${row.theme.font}`;
  return 12 + Math.max(...row.model.matrices.map((matrix) => measureLabels(context, matrix.rowTexts, font, WIDEST_NAME).widest));
}

// Panels are kept by name, so that the focus stays where it is.
function build(made, lines, pattern) {
  const active = made.lines.getRootNode().activeElement;
  made.pattern = pattern;
  made.labels = [];
  made.lines.replaceChildren(...lines.map((line) => element("div", { class: "line" }, ...line.flatMap((matrix, index) => {
    const parts = index ? [element("span", { class: "lead", "aria-hidden": "true" }, matrix.lead)] : []; // a gap where there is no sign
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
  if (cell) showCell(made, cell);
}

// Paints a matrix whose cells begin `top` pixels below, as it is for the cell that is chosen or pointed at; returns where it stands.
function paintMatrix(context, row, matrix, top, { active, lights }) {
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
  const grid = gridOf(matrix, row.table, { isWritten: row.numbers });
  paintGrid(context, shape, grid, theme, { outlines, columnInk: new Map(isHere ? [[active.column, theme.text]] : []) });
  context.fillStyle = theme.quiet;
  for (const step of matrix.shown < matrix.columns ? [0, 4, 8] : []) context.fillRect(INSET + plotWidth + 2 + step, top + plotHeight / 2 - 1, 2, 2); // dots: there are more columns
  return shape;
}

// The names of the rows of a matrix, which its neighbours with the same rows share; those of lit cells stand out.
function paintLabels(context, row, line, matrix, top, { active, lights }) {
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

// Names of tokens stand upright where each of them has room above its column.
function isUpright(row, matrix) {
  const widest = widestName(row, matrix);
  return widest + BESIDE_NAME <= cellWidth(matrix, row.cell, row.wide) || (matrix.columnKind === "dimension" && widest <= NUMBER);
}

// The pixels above the cells of a line, for the names of their columns.
function topOf(row, line) {
  return Math.max(...line.map((matrix) => (isUpright(row, matrix) ? 20 : widestName(row, matrix) + 12)));
}

const columnNames = (row, matrix) => measureLabels(row.context, matrix.columnTexts, `600 ${NAMES}px ${row.theme.font}`, TALLEST_NAME);

function widestName(row, matrix) {
  return Math.max(...columnNames(row, matrix).widths.slice(0, matrix.shown));
}

// The same matrices as part of a figure: a function that lays itself out in a width and returns its size and `paint`.
export function matricesFigure(model, { names, leads, chosen, numbers, several }) {
  const shown = shownOf(model, names, leads);
  return (context, theme, width) => {
    const row = { context, model, theme, numbers, table: differenceTable(theme.dark) };
    row.labelWidth = labelWidthOf(row);
    const found = several ? { wide: 0, ...inLines(row, shown, { width, height: 2000 }, numbers) } : inOneLine(row, shown, { width, height: 900 }, numbers);
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
        paintAt(target, x, down, () => {
          if (labels) paintLabels(target, row, line, matrix, top, state);
          if (labels) target.translate(row.labelWidth, 0);
          paintMatrix(target, row, matrix, top, state);
          write(target, matrix.title, INSET, 8, { font: `600 13px ${theme.font}`, colour: theme.text });
          write(target, matrix.formula, INSET, 24, { font: `11px ${theme.font}`, colour: theme.quiet });
        });
      }
    };
    return { width: widest, height: y - BETWEEN + 4, paint };
  };
}

const [TITLES, BETWEEN] = [36, 28]; // pixels in a figure
