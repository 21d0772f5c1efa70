// One weights matrix as cells: query down, key across. The axes stay in sight while the cells scroll.

import { changeOf, weightOf } from "../core/bytes.js";
import { cellPixels, colourTable, inkOn } from "../core/palette.js";
import { measureLabels, visible } from "../core/surface.js";

const WIDEST_LABEL = 92;
const AXIS_NAME = 22;
export const TALLEST_MAP = 560;
const LARGEST_CELL = 46;

// What a map is drawn from: the cells, the tokens as they are written, and the colours.
export function modelOf({ header, cells }, dark) {
  return {
    cells, queries: header.queries.length, keys: header.keys.length, strongest: header.strongest,
    queryTexts: header.queries.map(visible), keyTexts: header.keys.map(visible),
    same: header.queries.length === header.keys.length && header.queries.every((token, index) => token === header.keys[index]),
    table: colourTable(header.scale, dark), pictures: new Map(), texts: header.texts, guesses: guessesOf(header),
  };
}

// What a class guessed about this map, while it shows the head that the class was asked about.
function guessesOf({ guesses, heads }) {
  return guesses && String(guesses.heads) === String(heads) ? guesses.cells : [];
}

// tallest: pixels that all rows take at most; largest: that one cell does.
export function heatmapShape(context, model, theme, width, zoom, { tallest = TALLEST_MAP, largest = LARGEST_CELL } = {}) {
  const narrow = width < 480;
  const size = narrow ? 12 : 13;
  const font = `${size}px ${theme.font}`;
  const rows = measureLabels(context, model.queryTexts, font, narrow ? 64 : WIDEST_LABEL);
  const columns = measureLabels(context, model.keyTexts, font, narrow ? 64 : WIDEST_LABEL);
  const left = AXIS_NAME + rows.widest + 8;
  const guess = Math.min((width - left) / model.keys, tallest / model.queries, largest);
  const angle = guess > columns.widest + 8 ? 0 : guess >= 18 ? Math.PI / 4 : Math.PI / 2;
  const lean = angle === Math.PI / 4 ? Math.max(4, Math.min(columns.widest * 0.75, width * 0.1)) : 4;
  const top = AXIS_NAME + 8 + (angle === 0 ? size : Math.ceil(columns.widest * Math.sin(angle) + size / 2));
  const fitting = Math.min((width - left - lean) / model.keys, tallest / model.queries, largest);
  const snapped = snap(fitting);
  const cell = zoom === 1 ? snapped : snap(Math.min(fitting * zoom, 28));
  return {
    left, top, cell, angle, font, size, rows, columns, lean, fitting,
    viewWidth: Math.max(model.keys * snapped, Math.min(width - left - lean, model.keys * cell)),
    viewHeight: Math.max(model.queries * snapped, Math.min(tallest, model.queries * cell)),
    plotWidth: model.keys * cell,
    plotHeight: model.queries * cell,
  };
}

// Whole screen pixels a cell: every cell is as large as its neighbour.
function snap(cell) {
  const ratio = window.devicePixelRatio || 1;
  return cell * ratio < 3 ? cell : Math.floor(cell * ratio) / ratio;
}

export function cellAt(shape, model, x, y, scroll) {
  const [inX, inY] = [x - shape.left, y - shape.top];
  if (inX > shape.viewWidth || inY > shape.viewHeight) return null;
  const key = inX < 0 ? null : Math.floor((inX + scroll.x) / shape.cell);
  const query = inY < 0 ? null : Math.floor((inY + scroll.y) / shape.cell);
  if ((key === null && query === null) || key >= model.keys || query >= model.queries) return null;
  return { query, key };
}

export function paintHeatmap(context, shape, model, state, theme, scroll) {
  context.save();
  context.beginPath();
  context.rect(shape.left - 2, shape.top - 2, shape.viewWidth + 4, shape.viewHeight + 4);
  context.clip();
  context.translate(shape.left - scroll.x, shape.top - scroll.y);
  paintCells(context, shape, model, theme);
  paintMarks(context, shape, model, state, theme);
  context.restore();
  paintRowLabels(context, shape, model, state, theme, scroll);
  paintColumnLabels(context, shape, model, state, theme, scroll);
  paintAxisNames(context, shape, model.texts, theme);
}

function paintCells(context, shape, model, theme) {
  const ratio = window.devicePixelRatio || 1;
  const factor = Math.max(1, Math.ceil(1 / (shape.cell * ratio)));
  const { canvas, columns, rows } = reduced(model, factor);
  context.imageSmoothingEnabled = false;
  context.drawImage(canvas, 0, 0, columns * factor * shape.cell, rows * factor * shape.cell);
  if (shape.cell >= 9) paintGaps(context, shape, model, theme);
  if (shape.cell >= 34) paintNumbers(context, shape, model, theme);
  if (model.hatched) paintHatch(context, shape, model, theme);
  for (const guess of model.guesses) paintGuess(context, shape.cell, guess, theme);
}

// A bar in the colour of the class, set off from the cell that it stands in.
function paintGuess(context, cell, { query, key, share }, theme) {
  const [x, y, width, height] = [(key + 0.08) * cell, (query + 0.75) * cell, 0.84 * cell * share, 0.17 * cell];
  context.fillStyle = theme.background;
  context.fillRect(x - 1, y - 1, width + 2, height + 2);
  context.fillStyle = theme.accent;
  context.fillRect(x, y, width, height);
}

// Where a screen pixel holds several cells it shows the strongest of them: a thin line never vanishes.
function reduced(model, factor) {
  if (model.pictures.has(factor)) return model.pictures.get(factor);
  const [columns, rows] = [Math.ceil(model.keys / factor), Math.ceil(model.queries / factor)];
  let cells = model.cells;
  if (factor > 1) {
    const strength = model.signed ? (code) => Math.abs(code - 32768) : (code) => code;
    cells = new Uint16Array(columns * rows).fill(model.signed ? 32768 : 0);
    for (let index = 0; index < model.cells.length; index += 1) {
      const [query, key] = [Math.floor(index / model.keys), index % model.keys];
      const place = Math.floor(query / factor) * columns + Math.floor(key / factor);
      if (strength(model.cells[index]) > strength(cells[place])) cells[place] = model.cells[index];
    }
  }
  const made = { canvas: cellPixels(cells, columns, rows, model.table, 8), columns, rows };
  model.pictures.set(factor, made);
  return made;
}

function paintGaps(context, shape, model, theme) {
  context.fillStyle = theme.background;
  const gap = 1;
  for (let key = 1; key < model.keys; key += 1) context.fillRect(key * shape.cell - gap, 0, gap, shape.plotHeight);
  for (let query = 1; query < model.queries; query += 1) context.fillRect(0, query * shape.cell - gap, shape.plotWidth, gap);
}

function paintNumbers(context, shape, model, theme) {
  context.font = `12px ${theme.font}`;
  context.textAlign = "center";
  context.textBaseline = "middle";
  for (let index = 0; index < model.cells.length; index += 1) {
    const value = model.signed ? changeOf(model.cells[index]) : weightOf(model.cells[index]);
    const none = Math.abs(value) < 0.005;
    if ((none && model.signed) || model.hatched?.[index]) continue; // no change, or nothing to compare
    context.fillStyle = none ? theme.quiet : inkOn(model.table[model.cells[index] >> 8]);
    const [query, key] = [Math.floor(index / model.keys), index % model.keys];
    const sign = value < 0 ? "−" : model.signed ? "+" : "";
    const written = none ? "0" : sign + Math.abs(value).toFixed(2).replace(/^0/, "");
    context.fillText(written, (key + 0.5) * shape.cell, (query + 0.5) * shape.cell + 1);
  }
}

// Strokes over the cells that stand for nothing, because one of their words has no partner.
function paintHatch(context, { cell, plotWidth, plotHeight }, { hatched, keys }, theme) {
  const inset = cell < 9 ? 0 : 2;
  context.save();
  context.beginPath();
  hatched.forEach((missing, at) => {
    if (missing) context.rect((at % keys) * cell + inset, Math.floor(at / keys) * cell + inset, cell - 2 * inset, cell - 2 * inset);
  });
  context.clip();
  context.strokeStyle = theme.quiet;
  context.globalAlpha = 0.55;
  context.lineWidth = 1;
  context.beginPath();
  for (let start = -plotHeight; start < plotWidth; start += 6) {
    context.moveTo(start, plotHeight);
    context.lineTo(start + plotHeight, 0);
  }
  context.stroke();
  context.restore();
}

function paintMarks(context, shape, model, { focus, hover }, theme) {
  const outline = (x, y, width, height, colour, thickness) => {
    context.strokeStyle = colour;
    context.lineWidth = thickness;
    context.strokeRect(x - 0.5, y - 0.5, width, height);
  };
  const thin = Math.max(shape.cell, 2);
  if (hover?.query != null) outline(0, hover.query * shape.cell, shape.plotWidth, thin, theme.quiet, 1);
  if (hover?.key != null) outline(hover.key * shape.cell, 0, thin, shape.plotHeight, theme.quiet, 1);
  const clear = shape.cell < 8 ? 2 : 0; // around a thin row, not over it
  if (focus !== null) outline(-clear, focus * shape.cell - clear, shape.plotWidth + 2 * clear, thin + 2 * clear, theme.accent, 2);
  if (hover?.query != null && hover.key != null) {
    outline(hover.key * shape.cell, hover.query * shape.cell, thin, thin, theme.text, 2);
  }
}

// Every label where there is space, else every second, fifth, tenth …; marked labels always, requested ones first.
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

function labelStyle(context, index, focused, hovered, shape, theme) {
  const strong = index === focused || index === hovered;
  context.font = strong ? `600 ${shape.font}` : shape.font;
  context.fillStyle = index === focused ? theme.accent : strong ? theme.text : theme.quiet;
}

function paintRowLabels(context, shape, model, { focus, hover }, theme, scroll) {
  context.save();
  context.beginPath();
  context.rect(0, shape.top - 6, shape.left, shape.viewHeight + 12);
  context.clip();
  context.textAlign = "right";
  context.textBaseline = "middle";
  for (const index of shownLabels(model.queries, shape.cell, shape.size + 1, [hover?.query, focus])) {
    labelStyle(context, index, focus, hover?.query, shape, theme);
    context.fillText(shape.rows.texts[index], shape.left - 7, shape.top + (index + 0.5) * shape.cell - scroll.y + 0.5);
  }
  context.restore();
}

function paintColumnLabels(context, shape, model, { hover }, theme, scroll) {
  context.save();
  context.beginPath();
  context.rect(shape.left - 6, 0, shape.viewWidth + shape.lean + 12, shape.top);
  context.clip();
  const space = shape.angle === Math.PI / 4 ? 16 : shape.size + 1;
  for (const index of shownLabels(model.keys, shape.cell, shape.angle === 0 ? shape.cell : space, [hover?.key])) {
    labelStyle(context, index, null, hover?.key, shape, theme);
    context.save();
    context.translate(shape.left + (index + 0.5) * shape.cell - scroll.x - (shape.angle === Math.PI / 4 ? 3 : 0), shape.top - 6);
    context.rotate(-shape.angle);
    context.textAlign = shape.angle === 0 ? "center" : "left";
    context.textBaseline = shape.angle === 0 ? "alphabetic" : "middle";
    context.fillText(shape.columns.texts[index], 0, 0);
    context.restore();
  }
  context.restore();
}

function paintAxisNames(context, shape, texts, theme) {
  context.font = `12px ${theme.font}`;
  context.fillStyle = theme.quiet;
  context.textAlign = "left";
  context.textBaseline = "top";
  context.fillText(`${texts.key} →`, shape.left, 2);
  context.save();
  context.translate(2, shape.top + Math.min(shape.viewHeight, 150));
  context.rotate(-Math.PI / 2);
  context.textAlign = shape.viewHeight < 150 ? "left" : "right";
  context.translate(shape.viewHeight < 150 ? 0 : Math.min(shape.viewHeight, 150), 0);
  context.fillText(`← ${texts.query}`, 0, 0);
  context.restore();
}
