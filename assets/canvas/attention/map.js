// One attention map: what it is drawn from, its cells (core/grid.js), and the same matrix as lines, queries at the left, keys at the right; the
// layout of both, side by side where there is space, else one below the other; and maps as parts of a figure, one, or before and after a change.

import { NO_CHANGE, span, strongest } from "../core/bytes.js";
import { gridShape, paintGrid, shownLabels, TALLEST_GRID, weightWritten } from "../core/grid.js";
import { colourTable, css, differenceTable, DIFFERENCE_TICKS, TICKS, tickOf } from "../core/palette.js";
import { measureLabels, visible } from "../core/surface.js";
import { inRows, layTitle, paintAt, paintWithin, widthOf, write } from "../core/text.js";

const HEADING = 26;
const ROW = 22;
const LABEL_SPACE = 15;
const BESIDE = 620; // pixels from which the two views stand side by side
const BETWEEN = 28;
const WIDEST_LINES = 560;

// What a map is drawn from: a grid, queries down and keys across, and what else its lines take. isDifference: its codes are of differences.
export function modelOf(header, { codes: cells, hatched }, { dark, isDifference = false }) {
  const { queries, keys, texts, guesses } = header;
  const model = {
    cells, hatched, rows: queries.length, columns: keys.length, strongest: header.strongest, texts, axes: texts,
    rowTexts: queries.map(visible), columnTexts: keys.map(visible),
    same: queries.length === keys.length && queries.every((token, index) => token === keys[index]),
    table: isDifference ? differenceTable(dark) : colourTable(header.scale, dark), zero: isDifference ? NO_CHANGE : 0, numbersFrom: 34,
    guesses,
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

// --- Maps in a figure

// One map as the page shows it, or before, after and the difference.
export function mapsDrawing(header, maps) {
  return ({ dark }) => {
    const models = maps.map((map, part) => modelOf(header, map, { dark, isDifference: part === 2 }));
    return models.length > 1 ? besideDrawing(models, header) : mapDrawing(models[0], header);
  };
}

// As cells, as lines, or both.
function mapDrawing(model, { show, focus }) {
  const marks = { focus, hover: null };
  const [showHeat, showLines] = [show !== "lines", show !== "heatmap"];
  return (context, theme, space) => {
    const { beside, between, heat, heatWidth, lines, linesWidth } = layMap(context, model, theme, space, { showHeat, showLines, zoom: 1 });
    const tall = lines.top + lines.rowsHeight + 8;
    const parts = [];
    if (showHeat) parts.push(layCells(context, model, heat, theme, { space: Math.max(heatWidth, LEGEND.width + 8), focus }));
    if (showLines) parts.push({ width: linesWidth, height: tall, paint: (target) => paintLines(target, lines, model, marks, theme, 0, tall) });
    return inRows(parts, beside ? 2 : 1, heatWidth, between);
  };
}

// Before, after and the difference, or A, B and B − A, in one figure: heatmaps of one size, as the page shows them.

const SPACE_FOR_THREE_MAPS = 640;
const BETWEEN_THREE_MAPS = 24;
const EVERY_LABEL = 14; // pixels of a cell from which every word is written
const spaceOf = (width, across) => Math.floor((width - (across - 1) * BETWEEN_THREE_MAPS) / across);

function besideDrawing(models, header) {
  return (context, theme, width) => {
    const across = width < SPACE_FOR_THREE_MAPS ? 1 : gridShape(context, models[0], theme, spaceOf(width, 3)).wide < EVERY_LABEL ? 2 : 3;
    const space = spaceOf(width, across);
    const titles = header.texts.titles.map((text) => layTitle(context, theme, visible(text), space - 4));
    const under = across > 1 ? Math.max(...titles.map(({ height }) => height)) : 0;
    const isNoted = models.some(({ hatched }) => hatched?.some(Boolean));
    return inRows(models.map((model, part) => {
      const map = layCells(context, model, gridShape(context, model, theme, space), theme, { space, focus: header.focus, isNoted });
      const top = Math.max(under, titles[part].height);
      return { width: map.width, height: top + map.height, paint(target) {
        titles[part].paint(target);
        paintAt(target, 0, top, map.paint);
      } };
    }), across, space, BETWEEN_THREE_MAPS);
  };
}

// The cells of a map with their legend, and what the cells with strokes stand for.
function layCells(context, model, shape, theme, { space, focus, isNoted = model.hatched?.some(Boolean) }) {
  const top = shape.top + shape.plotHeight + 14;
  const legend = Math.max(LEGEND.width, widthOf(context, scaleFont(theme), scaleName(model)));
  const left = Math.max(0, Math.min(shape.left, space - legend - 4));
  const width = Math.min(space, Math.max(shape.left + shape.plotWidth + shape.lean + 10, left + legend + 12));
  const paint = (target) => {
    paintGrid(target, shape, model, theme, marksOf({ focus, hover: null }, theme));
    paintScale(target, left, top, model, theme);
    if (isNoted) write(target, model.texts.hatched, left, top + LEGEND.tall - 6, { font: `11px ${theme.font}`, colour: theme.quiet });
  };
  return { width, height: top + LEGEND.tall + (isNoted ? 18 : 0) + 6, paint };
}

// The colour scale of a map, with its ticks.

const LEGEND = { width: 190, height: 8, tall: 44 };
const STEP = 2;
const scaleFont = ({ font }) => `11px ${font}`;
const scaleName = ({ zero, texts }) => (zero ? texts.scaleOfChanges : texts.scaleOfWeights);

function paintScale(context, left, top, model, theme) {
  const { table, zero } = model;
  for (let x = 0; x < LEGEND.width; x += STEP) {
    context.fillStyle = css(table[Math.round((x / (LEGEND.width - STEP)) * 255)]);
    context.fillRect(left + x, top, Math.min(2 * STEP, LEGEND.width - x), LEGEND.height); // the next covers the seam
  }
  const said = { font: scaleFont(theme), colour: theme.quiet };
  for (const tick of zero ? DIFFERENCE_TICKS : TICKS) {
    const { share, text } = tickOf(tick, zero);
    write(context, text, left + share * LEGEND.width, top + LEGEND.height + 3, { ...said, align: share === 0 ? "left" : "center" });
  }
  write(context, scaleName(model), left, top + LEGEND.height + 17, said);
}
