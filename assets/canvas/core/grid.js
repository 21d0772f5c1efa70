// A grid of cells with the names of its rows and columns: maps of attention, the matrices of a computation, summaries, all heads; on the
// screen, as SVG and on paper alike. How cells look is changed here, their colours in palette.js.
//
// grid: `rows`, `columns`; `cells`, row by row a code of 16 bits, whose upper 8 are a place in `table`, a list of colours; `zero`, the code of
// nothing; `rowTexts`, `columnTexts`. And what it has of: `written(at)`, what stands in a cell that is `numbersFrom` pixels wide; `hatched`,
// 1 for cells that stand for nothing; `guesses`, bars of a class in cells; `axes`, the names { query, key } of both axes beside them, or
// `axesLine`, in one line above; `numbered`, whether the columns are numbers; `isFree`, whether cells need not be square.
// A fill is the colour of the cell's number and nothing else: what is chosen is framed, and its names stand out.

import { changeOf, NO_CHANGE, weightOf } from "./bytes.js";
import { twoDigits } from "./numbers.js";
import { cellPixels, inkOn } from "./palette.js";
import { fit, measureLabels, zoomOf } from "./surface.js";
import { paintAt, paintWithin, write } from "./text.js";

const AXIS_NAME = 22;
const AXES_LINE = 16;
const [LARGEST_CELL, LARGEST_ZOOMED, TALLEST_ROW] = [46, 28, 26]; // pixels
const [SLANTED, UPRIGHT] = [Math.PI / 4, Math.PI / 2];
const [GAPS_FROM, NUMBERS_FROM, LEAST_NUMBER, LEAST_HEIGHT] = [9, 27, 11, 14]; // pixels of a cell, and of letters in it
const STRIPE = 6;
const ZEROS = /^[+−]?0?(\.0+)?$/; // numbers that are written as nothing but zeros: in grey, where their fill is nearly that of nothing
const NEARLY_NOTHING = 8192; // of 65535 codes
export const TALLEST_GRID = 560;
const STILL = { x: 0, y: 0 };

// Numbers as codes: of 0 to `limit` or, signed, of both sides of zero; by their square root, so that small ones show, or `linear`.
export function codesOf(values, { limit = 1, signed = true, linear = false }) {
  return Uint16Array.from(values, (value) => {
    if (!Number.isFinite(value)) return signed ? NO_CHANGE : 0;
    const share = Math.min(1, Math.abs(value) / limit);
    const root = linear ? share : Math.sqrt(share);
    return signed ? NO_CHANGE + Math.sign(value) * Math.round(root * 32767) : Math.round(root * 65535);
  });
}

// What stands in the cells of a map.
export function weightWritten({ cells, zero }, at) {
  const value = zero ? changeOf(cells[at]) : weightOf(cells[at]);
  if (Math.abs(value) < 0.005) return zero ? "" : "0";
  return (zero && value > 0 ? "+" : "") + twoDigits(value);
}

// Where a grid stands in `width` pixels. tallest: pixels that all rows take at most; largest: that one cell does; tallestRow: of a grid whose
// cells are no squares.
export function gridShape(context, grid, theme, width, { zoom = 1, tallest = TALLEST_GRID, largest = LARGEST_CELL, tallestRow = TALLEST_ROW } = {}) {
  const size = width < 480 ? 12 : 13;
  const font = `${size}px ${theme.font}`;
  const widest = Math.max(56, Math.min(92, width * 0.19));
  const rows = measureLabels(context, grid.rowTexts, font, Math.max(widest, Math.min(grid.widestRow ?? 0, width * 0.36)));
  const columns = measureLabels(context, grid.columnTexts, font, widest);
  const left = (grid.axes ? AXIS_NAME : 0) + rows.widest + 8;
  const most = grid.isFree ? Infinity : Math.min(tallest / grid.rows, largest);
  const guess = Math.min((width - left) / grid.columns, most);
  const angle = grid.numbered || guess > columns.widest + 8 ? 0 : guess >= 18 ? SLANTED : UPRIGHT;
  const lean = angle === SLANTED ? Math.max(4, Math.min(columns.widest * 0.75, width * 0.1)) : 4;
  const top = (grid.axes ? AXIS_NAME : grid.axesLine ? AXES_LINE : 0) + 8 + (angle === 0 ? size : Math.ceil(columns.widest * Math.sin(angle) + size / 2));
  const fitting = Math.min((width - left - lean) / grid.columns, most);
  const snapped = snap(fitting);
  const wide = zoom === 1 ? snapped : snap(Math.min(fitting * zoom, LARGEST_ZOOMED));
  const high = grid.isFree ? Math.max(2, Math.min(tallestRow, tallest / grid.rows)) : wide;
  return {
    left, top, wide, high, angle, font, size, rows, columns, lean, fitting,
    viewWidth: Math.max(grid.columns * snapped, Math.min(width - left - lean, grid.columns * wide)),
    viewHeight: grid.isFree ? grid.rows * high : Math.max(grid.rows * snapped, Math.min(tallest, grid.rows * high)),
    plotWidth: grid.columns * wide,
    plotHeight: grid.rows * high,
  };
}

// Whole screen pixels a cell: every cell is as large as its neighbour.
function snap(cell) {
  const ratio = window.devicePixelRatio;
  return cell * ratio < 3 ? cell : Math.floor(cell * ratio) / ratio;
}

// The row and column at a point, null beside the cells for the one that is not there; null outside of the grid.
export function cellAt(shape, grid, x, y, scroll = STILL) {
  const [inX, inY] = [x - shape.left, y - shape.top];
  if (inX > shape.viewWidth || inY > shape.viewHeight) return null;
  const column = inX < 0 ? null : Math.floor((inX + scroll.x) / shape.wide);
  const row = inY < 0 ? null : Math.floor((inY + scroll.y) / shape.high);
  if ((column === null && row === null) || column >= grid.columns || row >= grid.rows) return null;
  return { row, column };
}

// outlines: of a cell, or of a whole row or column without the other: `row`, `column`, `colour`, `width`. rowInk, columnInk: the colours of
// names that stand out, by place.
export function paintGrid(context, shape, grid, theme, { scroll = STILL, outlines = [], rowInk = new Map(), columnInk = new Map() } = {}) {
  paintWithin(context, [shape.left - 3, shape.top - 3, shape.viewWidth + 6, shape.viewHeight + 6], () => {
    context.translate(shape.left - scroll.x, shape.top - scroll.y);
    paintCells(context, shape, grid, theme);
    for (const outline of outlines) paintOutline(context, shape, outline);
  });
  if (shape.rows) paintRowNames(context, shape, grid, theme, rowInk, scroll); // else they stand beside it
  paintColumnNames(context, shape, grid, theme, columnInk, scroll);
  if (grid.axes) paintAxisNames(context, shape, grid.axes, theme);
  if (!grid.axesLine) return;
  const font = `12px ${theme.font}`;
  context.font = font;
  write(context, fit(context, grid.axesLine, shape.left + shape.plotWidth + shape.lean), 0, 1, { font, colour: theme.quiet });
}

function paintCells(context, shape, grid, theme) {
  const { wide, high } = shape;
  const factor = Math.max(1, Math.ceil(1 / (Math.min(wide, high) * window.devicePixelRatio)));
  const { canvas, columns, rows } = reduced(grid, factor);
  context.imageSmoothingEnabled = false;
  context.drawImage(canvas, 0, 0, columns * factor * wide, rows * factor * high);
  if (Math.min(wide, high) >= GAPS_FROM) paintGaps(context, shape, grid, theme);
  const isWritten = grid.written && wide >= (grid.numbersFrom ?? NUMBERS_FROM) && high >= LEAST_HEIGHT;
  if (grid.hatched) paintHatch(context, shape, grid, theme, isWritten);
  if (isWritten) paintNumbers(context, shape, grid, theme);
  for (const guess of grid.guesses ?? []) paintGuess(context, wide, guess, theme);
}

// Where a screen pixel holds several cells it shows the strongest of them: a thin line never vanishes.
function reduced(grid, factor) {
  grid.pictures ??= new Map();
  if (grid.pictures.has(factor)) return grid.pictures.get(factor);
  const { zero = 0 } = grid;
  const [columns, rows] = [Math.ceil(grid.columns / factor), Math.ceil(grid.rows / factor)];
  let { cells } = grid;
  if (factor > 1) {
    cells = new Uint16Array(columns * rows).fill(zero);
    for (let at = 0; at < grid.cells.length; at += 1) {
      const [row, column] = [Math.floor(at / grid.columns), at % grid.columns];
      const place = Math.floor(row / factor) * columns + Math.floor(column / factor);
      if (Math.abs(grid.cells[at] - zero) > Math.abs(cells[place] - zero)) cells[place] = grid.cells[at];
    }
  }
  const made = { canvas: cellPixels(cells, columns, rows, grid.table, 8), columns, rows };
  grid.pictures.set(factor, made);
  return made;
}

function paintGaps(context, { wide, high, plotWidth, plotHeight }, { rows, columns }, theme) {
  context.fillStyle = theme.background;
  for (let column = 1; column < columns; column += 1) context.fillRect(column * wide - 1, 0, 1, plotHeight);
  for (let row = 1; row < rows; row += 1) context.fillRect(0, row * high - 1, plotWidth, 1);
}

function paintNumbers(context, { wide, high }, grid, theme) {
  const size = Math.min(12, Math.floor(wide / 2.45)); // “−1.00” is 2.3 wide
  if (size < (zoomOf(context.canvas) > 1 ? 12 : LEAST_NUMBER)) return; // on a projector, what is smaller cannot be read
  const font = `${size}px ${theme.font}`;
  for (let at = 0; at < grid.cells.length; at += 1) {
    const text = grid.written(at);
    if (!text) continue;
    const colour = grid.table[grid.cells[at] >> 8];
    const isFaint = grid.hatched?.[at] || (ZEROS.test(text) && Math.abs(grid.cells[at] - (grid.zero ?? 0)) < NEARLY_NOTHING);
    const ink = isFaint ? theme.quiet : inkOn(colour);
    const [row, column] = [Math.floor(at / grid.columns), at % grid.columns];
    write(context, text, (column + 0.5) * wide - 0.5, (row + 0.5) * high + 1, { font, colour: ink, align: "center", baseline: "middle" });
  }
}

// Strokes over the cells that stand for nothing: a word has no partner, or a mask forbids to look. What is written stays legible.
function paintHatch(context, { wide, high, plotWidth, plotHeight }, { hatched, columns, written }, theme, isWritten) {
  const inset = Math.min(wide, high) < GAPS_FROM ? 0 : 2;
  context.save();
  context.beginPath();
  hatched.forEach((missing, at) => {
    if (missing && !(isWritten && written(at))) context.rect((at % columns) * wide + inset, Math.floor(at / columns) * high + inset, wide - 2 * inset, high - 2 * inset);
  });
  context.clip();
  context.strokeStyle = theme.quiet;
  context.globalAlpha = 0.55;
  context.lineWidth = 1;
  context.beginPath();
  for (let start = -plotHeight; start < plotWidth; start += STRIPE) {
    context.moveTo(start, plotHeight);
    context.lineTo(start + plotHeight, 0);
  }
  context.stroke();
  context.restore();
}

// A bar in the colour of the class, set off from the cell that it stands in.
function paintGuess(context, cell, { query, key, share }, theme) {
  const [x, y, width, height] = [(key + 0.08) * cell, (query + 0.75) * cell, 0.84 * cell * share, 0.17 * cell];
  context.fillStyle = theme.background;
  context.fillRect(x - 1, y - 1, width + 2, height + 2);
  context.fillStyle = theme.accent;
  context.fillRect(x, y, width, height);
}

function paintOutline(context, { wide, high, plotWidth, plotHeight }, { row, column, colour, width }) {
  const clear = width > 1 && Math.min(wide, high) < 8 ? 2 : 0; // around a thin row, not over it
  const [x, across] = column == null ? [0, plotWidth] : [column * wide, Math.max(wide, 2)];
  const [y, down] = row == null ? [0, plotHeight] : [row * high, Math.max(high, 2)];
  context.strokeStyle = colour;
  context.lineWidth = width;
  context.strokeRect(x - 0.5 - clear, y - 0.5 - clear, across + 2 * clear, down + 2 * clear);
}

// Every name where there is space, else every second, fifth, tenth …; marked names always, requested ones first.
export function shownLabels(count, cell, space, marked, wished = []) {
  const step = [1, 2, 5, 10, 20, 50, 100].find((candidate) => candidate * cell >= space) ?? 200;
  const clear = Math.ceil(space / cell);
  const shown = [...new Set(marked.filter((index) => index !== null && index !== undefined))];
  const regular = Array.from({ length: Math.ceil(count / step) }, (_, index) => index * step);
  for (const index of [...wished, ...regular]) {
    if (shown.every((other) => Math.abs(other - index) >= clear)) shown.push(index);
  }
  return shown;
}

export function paintRowNames(context, shape, { rows }, theme, ink, scroll = STILL) {
  const { left, top, high, size, viewHeight } = shape;
  const places = apart([...ink.keys()].sort((one, other) => one - other), shape, rows);
  paintWithin(context, [0, top - size, left, viewHeight + 2 * size], () => {
    for (const row of shownLabels(rows, high, size + 1, [...ink.keys()])) {
      const y = places.get(row) ?? (row + 0.5) * high;
      if (!ink.has(row) && [...places.values()].some((other) => Math.abs(other - y) < size)) continue;
      writeName(context, shape.rows.texts[row], left - 7, top + y - scroll.y + 0.5, { shape, theme, ink: ink.get(row), align: "right" });
    }
  });
}

// Where names of rows that stand out are written: those that would overlap are moved apart, and the last stays within the grid.
function apart(marked, { high, size }, rows) {
  const places = new Map();
  let free = -Infinity;
  for (const row of marked) {
    places.set(row, Math.max((row + 0.5) * high, free));
    free = places.get(row) + size;
  }
  let lowest = Math.max(rows * high - size / 2, high / 2);
  for (const row of [...marked].reverse()) {
    places.set(row, Math.min(places.get(row), lowest));
    lowest = places.get(row) - size;
  }
  return places;
}

function paintColumnNames(context, shape, { columns, numbered }, theme, ink, scroll) {
  const { left, top, wide, angle, size, viewWidth, lean } = shape;
  const space = angle === 0 ? shape.columns.widest + (numbered ? 10 : 4) : angle === SLANTED ? 16 : size + 1;
  const [align, baseline] = angle === 0 ? ["center", "alphabetic"] : ["left", "middle"];
  paintWithin(context, [left - 16, 0, viewWidth + lean + 22, top], () => {
    for (const column of shownLabels(columns, wide, space, [...ink.keys()])) {
      paintAt(context, left + (column + 0.5) * wide - scroll.x - (angle === SLANTED ? 3 : 0), top - 6, () => {
        context.rotate(-angle);
        writeName(context, shape.columns.texts[column], 0, 0, { shape, theme, ink: ink.get(column), align, baseline });
      });
    }
  });
}

const writeName = (context, text, x, y, { shape, theme, ink, align, baseline = "middle" }) =>
  write(context, text, x, y, { font: ink ? `600 ${shape.font}` : shape.font, colour: ink ?? theme.quiet, align, baseline });

function paintAxisNames(context, { left, top, viewHeight }, { key, query }, theme) {
  const font = `12px ${theme.font}`;
  write(context, `${key} →`, left, 2, { font, colour: theme.quiet });
  const [down, isLow] = [Math.min(viewHeight, 150), viewHeight < 150];
  paintAt(context, 2, top + down, () => {
    context.rotate(-UPRIGHT);
    write(context, `← ${query}`, isLow ? 0 : down, 0, { font, colour: theme.quiet, align: isLow ? "left" : "right" });
  });
}
