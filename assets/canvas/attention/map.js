// One attention map: what it is drawn from, its cells (core/grid.js), and the same matrix as lines, queries at the left, keys at the right. Also
// the layout of both: side by side where there is space, else one below the other.

import { NO_CHANGE, span, strongest } from "../core/bytes.js";
import { gridShape, shownLabels, TALLEST_GRID, weightWritten } from "../core/grid.js";
import { colourTable, differenceTable } from "../core/palette.js";
import { measureLabels, visible } from "../core/surface.js";
import { paintWithin, widthOf, write } from "../core/text.js";

const HEADING = 26;
const ROW = 22;
const LABEL_SPACE = 15;
const BESIDE = 620; // pixels from which the two views stand side by side
const BETWEEN = 28;
const WIDEST_LINES = 560;

// What a map is drawn from: a grid, queries down and keys across, and what else its lines take. isDifference: cells are codes of differences.
export function modelOf({ header, cells }, dark, { hatched, isDifference = false } = {}) {
  const { queries, keys, texts, guesses, heads } = header;
  const model = {
    cells, hatched, rows: queries.length, columns: keys.length, strongest: header.strongest, texts, axes: texts,
    rowTexts: queries.map(visible), columnTexts: keys.map(visible),
    same: queries.length === keys.length && queries.every((token, index) => token === keys[index]),
    table: isDifference ? differenceTable(dark) : colourTable(header.scale, dark), zero: isDifference ? NO_CHANGE : 0, numbersFrom: 34,
    guesses: guesses && String(guesses.heads) === String(heads) ? guesses.cells : [], // of a class, while the head is shown that it was asked about
  };
  return Object.assign(model, { written: (at) => (hatched?.[at] ? "" : weightWritten(model, at)) });
}

// How the focused row is marked, and what is pointed at: as `paintGrid` takes it.
export function marksOf({ focus, hover }, theme) {
  const { query = null, key = null } = hover ?? {};
  const outlines = [];
  if (query !== null) outlines.push({ row: query, colour: theme.quiet, width: 1 });
  if (key !== null) outlines.push({ column: key, colour: theme.quiet, width: 1 });
  if (focus !== null) outlines.push({ row: focus, colour: theme.accent, width: 2 });
  if (query !== null && key !== null) outlines.push({ row: query, column: key, colour: theme.text, width: 2 });
  const ink = (...pairs) => new Map(pairs.filter(([place]) => place !== null));
  return { outlines, rowInk: ink([query, theme.text], [focus, theme.accent]), columnInk: ink([key, theme.text]) };
}

export function layMap(context, model, theme, width, { showHeat, showLines, zoom, besideFrom = BESIDE, ...limits }) {
  const beside = showHeat && showLines && width >= besideFrom;
  const heatSpace = beside ? Math.floor(width * 0.6) - BETWEEN / 2 : width;
  const heat = gridShape(context, model, theme, heatSpace, { zoom, ...limits });
  const heatWidth = Math.min(heatSpace, heat.left + heat.viewWidth + heat.lean + 10);
  const linesWidth = Math.min(beside ? width - heatWidth - BETWEEN : width, WIDEST_LINES);
  const lines = linesShape(context, model, theme, linesWidth - 10, beside ? heat : null, zoom, limits);
  return { beside, between: BETWEEN, heat, heatWidth, lines, linesWidth };
}

// Beside the heatmap, the rows of both stand at the same height, unless more tokens are looked at than look.
function linesShape(context, model, theme, width, beside, zoom, { tallest = TALLEST_GRID, row: tallestRow = ROW } = {}) {
  const narrow = width < 300;
  const font = `${narrow ? 12 : 13}px ${theme.font}`;
  const most = Math.max(48, Math.min(110, width * 0.3));
  const queries = measureLabels(context, model.rowTexts, font, most);
  const keys = measureLabels(context, model.columnTexts, font, most);
  const rows = Math.max(model.rows, model.columns);
  const fitting = Math.min(tallestRow, tallest / rows);
  const fewer = zoom === 1 ? tallest / rows : Infinity;
  const row = beside ? Math.min(beside.high, fewer) : Math.min(tallestRow, fitting * zoom);
  const top = beside ? beside.top : HEADING;
  return {
    width, font, queries, keys, row, top, fitting,
    from: queries.widest + 14,
    to: width - keys.widest - 14,
    rowsHeight: rows * row,
  };
}

export function tokenAt(shape, model, x, y, scroll) {
  const index = Math.floor((y - shape.top + scroll) / shape.row);
  if (index < 0 || y < shape.top) return null;
  if (x <= shape.from + 8) return index < model.rows ? { query: index, key: null } : null;
  if (x >= shape.to - 8) return index < model.columns ? { query: null, key: index } : null;
  return null;
}

// Which edges are drawn: the row that is pointed at or focused, else the strongest of all.
function edges(model, { focus, hover }, count) {
  const { cells, columns, rows } = model;
  const onlyKey = hover?.query == null && hover?.key != null;
  if (onlyKey && focus === null) return strongest(cells, span(hover.key, rows, columns), count);
  const query = hover?.query != null && hover.key == null ? hover.query : focus;
  if (query !== null) return strongest(cells, span(query * columns, columns), count);
  const remembered = model.everywhere;
  if (remembered?.count === count) return remembered.found;
  model.everywhere = { count, found: strongest(cells, span(0, cells.length), count) };
  return model.everywhere.found;
}

export function paintLines(context, shape, model, state, theme, scroll, height) {
  const drawn = edges(model, state, model.strongest);
  const pointed = state.hover?.query != null && state.hover.key != null;
  paintWithin(context, [0, shape.top - 4, shape.width, height - shape.top + 4], () => {
    context.lineCap = "round";
    for (const position of drawn.toReversed()) paintEdge(context, shape, model, position, theme, scroll, pointed ? 0.35 : 1);
    if (pointed) paintEdge(context, shape, model, state.hover.query * model.columns + state.hover.key, theme, scroll, 0);
    paintTokens(context, shape, model, state, theme, scroll, drawn);
  });
  paintHeadings(context, shape, model.texts, theme);
}

// Opacity follows the square root of the weight, as the colours do; strength 0 means: the edge pointed at.
function paintEdge(context, shape, model, position, theme, scroll, strength) {
  const root = model.cells[position] / 65535;
  const y = (index) => shape.top + (index + 0.5) * shape.row - scroll;
  const [from, to] = [y(Math.floor(position / model.columns)), y(position % model.columns)];
  const middle = (shape.from + shape.to) / 2;
  const line = model.lineAt?.(position) ?? theme.line;
  context.strokeStyle = strength === 0 ? theme.accent : `rgba(${line.join(", ")}, ${((0.1 + 0.9 * root) * strength).toFixed(3)})`;
  context.lineWidth = strength === 0 ? 2.5 : 1 + 2.5 * root * root;
  context.beginPath();
  context.moveTo(shape.from, from);
  context.bezierCurveTo(middle, from, middle, to, shape.to, to);
  context.stroke();
}

function paintTokens(context, shape, model, { focus, hover }, theme, scroll, drawn) {
  const active = hover?.query ?? focus;
  const y = (index) => shape.top + (index + 0.5) * shape.row - scroll;
  const from = drawn.map((position) => Math.floor(position / model.columns));
  const to = drawn.map((position) => position % model.columns);
  const token = (text, x, index, align, isFocused, isHovered) => write(context, text, x, y(index) + 0.5,
    { font: isFocused || isHovered ? `600 ${shape.font}` : shape.font, colour: isFocused ? theme.accent : theme.text, align, baseline: "middle" });
  for (const index of shownLabels(model.rows, shape.row, LABEL_SPACE, [hover?.query, focus], from)) token(shape.queries.texts[index], shape.from - 7, index, "right", index === focus, index === hover?.query);
  for (const index of shownLabels(model.columns, shape.row, LABEL_SPACE, [hover?.key], to)) {
    if (active !== null) paintShade(context, shape, theme, y(index), model.cells[active * model.columns + index] / 65535);
    token(shape.keys.texts[index], shape.to + 7, index, "left", false, index === hover?.key);
  }
}

// A key is shaded by the weight that the marked query gives it, faint enough to read the text on it.
function paintShade(context, shape, theme, y, root) {
  if (root < 0.1) return;
  context.fillStyle = `rgba(${theme.line.join(", ")}, ${(root * 0.3).toFixed(3)})`;
  context.beginPath();
  const height = Math.max(LABEL_SPACE, shape.row) - 1;
  context.roundRect(shape.to + 2, y - height / 2, shape.width - shape.to - 3, height, 3);
  context.fill();
}

// A heading that is wider than its tokens begins or ends at the edge.
function paintHeadings(context, { from, to, top, width }, { query, key }, theme) {
  const font = `12px ${theme.font}`;
  const [y, left, right] = [top - 10, from - 7, to + 7];
  const [isLong, isLongKey] = [widthOf(context, font, query) > left, widthOf(context, font, key) > width - right];
  write(context, query, isLong ? 0 : left, y, { font, colour: theme.quiet, align: isLong ? "left" : "right", baseline: "alphabetic" });
  write(context, key, isLongKey ? width : right, y, { font, colour: theme.quiet, align: isLongKey ? "right" : "left", baseline: "alphabetic" });
}
