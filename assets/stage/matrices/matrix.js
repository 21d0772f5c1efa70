// A matrix of the row: its numbers as they were sent, its labels and the limits of its colours; and how its coloured cells,
// its names and its legend are painted.

import { number, short } from "../../canvas/core/numbers.js";
import { css, differenceGradient, gradient, inkOn, mix } from "../../canvas/core/palette.js";
import { element, fit, visible } from "../../canvas/core/surface.js";
import { say } from "../../canvas/core/text.js";

export function modelOf(header, floats) {
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
  return { texts: header.texts, namesTitle: header.names_title, matrices: matrices.filter((matrix) => matrix.shown > 0), byName: Object.fromEntries(matrices.map((matrix) => [matrix.name, matrix])) };
}

// Sets how many columns are drawn of matrices whose columns are dimensions, at most as many as the page allows.
export function drawDimensions(model, count) {
  for (const matrix of model.matrices) {
    if (matrix.columnKind !== "dimension") continue;
    matrix.most ??= matrix.shown;
    matrix.shown = Math.min(count, matrix.most);
  }
}

// The largest absolute value of a group of matrices; weights ("shares") end at 1.
function limitOf(matrices) {
  if (["shares", "mask", "change"].includes(matrices[0].group)) return 1;
  let greatest = 0;
  for (const { values } of matrices) for (const value of values) if (Number.isFinite(value)) greatest = Math.max(greatest, Math.abs(value));
  return greatest || 1;
}

export function exists(model, cell) {
  const matrix = cell && model.byName[cell.matrix];
  return Boolean(matrix) && cell.row < matrix.rows && cell.column < matrix.shown;
}

export function valueAt(matrix, row, column) {
  return matrix.values[row * matrix.columns + column];
}

export function rowOf(matrix, row) {
  return Array.from(matrix.values.subarray(row * matrix.columns, (row + 1) * matrix.columns));
}

// --- Painting.

const LABEL_FONT = 12;
const NAME_HEIGHT = 13;
export const INSET = 3; // space for the frame of the first column
const DIMMED = 0.6;
const FEW_TITLES = 5;

// Of a mask, 0 is allowed and −∞ is not, as in the sum of scores and mask.
const ALLOWED = 0.5;
const valueDrawn = ({ group }, value) => (group === "mask" && value === 0 ? ALLOWED : value);

// Shares and what changes of them need two digits; 0 needs none.
const written = ({ group }, value) => (!["shares", "change"].includes(group) || !Number.isFinite(value) ? short(value)
  : Math.abs(value) < 0.005 ? "" : value.toFixed(2).replace("-", "−").replace(/^(−?)0\./, "$1."));

function colourOf(colours, value, limit) {
  const share = Math.min(1, Math.sqrt(Math.abs(value) / limit));
  return (value < 0 ? colours.below : colours.above)[Math.round(share * 255)];
}

// Tells whether a cell is highlighted; the others are dimmed while a cell is chosen.
function isLit(lights, row, column) {
  return lights.some((light) => (light.row ?? row) === row && (light.column ?? column) === column);
}

export function paintMatrix(context, matrix, shape, { colours, theme, lights, chosen, dim }) {
  const { cell, wide, top } = shape;
  const gap = cell >= 16 ? 2 : cell >= 7 ? 1 : 0;
  context.translate(INSET, 0);
  if (!gap && !shape.numbers) paintSmallCells(context, matrix, shape, { colours, theme, lit: litCells(matrix, lights, dim) });
  for (let row = 0; (gap || shape.numbers) && row < matrix.rows; row += 1) {
    for (let column = 0; column < matrix.shown; column += 1) {
      const value = valueAt(matrix, row, column);
      const lit = !dim || isLit(lights, row, column);
      const box = [column * wide, top + row * cell, wide - gap, cell - gap];
      const strength = lit ? 1 : DIMMED;
      const ink = Number.isFinite(value)
        ? paintValue(context, box, mix(colourOf(colours, valueDrawn(matrix, value), matrix.limit), theme.ground, strength))
        : paintHidden(context, box, theme, strength);
      if (!shape.numbers) continue;
      context.fillStyle = ink;
      write(context, theme, written(matrix, value), box[0] + box[2] / 2, box[1] + box[3] / 2);
    }
  }
  if (matrix.shown < matrix.columns) paintMore(context, matrix, shape, theme);
  paintColumnNames(context, matrix, shape, theme, chosen);
  for (const light of lights) outline(context, matrix, shape, light, gap, theme);
}

// Cells without gaps are painted as one image; those that are hidden in one stroke.
function paintSmallCells(context, matrix, { cell, wide, top }, { colours, theme, lit }) {
  const { rows, shown } = matrix;
  const small = element("canvas", { width: shown, height: rows });
  const target = small.getContext("2d");
  const image = target.createImageData(shown, rows);
  const hidden = [[], []];
  for (let row = 0; row < rows; row += 1) {
    for (let column = 0; column < shown; column += 1) {
      const at = row * shown + column;
      const value = valueAt(matrix, row, column);
      if (!Number.isFinite(value)) {
        hidden[lit[at]].push([column, row]);
        continue;
      }
      const colour = colourOf(colours, valueDrawn(matrix, value), matrix.limit);
      image.data.set(lit[at] ? colour : mix(colour, theme.ground, DIMMED), 4 * at);
      image.data[4 * at + 3] = 255;
    }
  }
  target.putImageData(image, 0, 0);
  context.imageSmoothingEnabled = false;
  context.drawImage(small, 0, top, shown * wide, rows * cell);
  context.strokeStyle = theme.faint;
  context.lineWidth = 1;
  for (const [isLit, cells] of hidden.entries()) {
    context.globalAlpha = isLit ? 1 : DIMMED;
    context.beginPath();
    for (const [column, row] of cells) {
      const [x, y] = [column * wide, top + row * cell];
      context.rect(x + 0.5, y + 0.5, wide - 1, cell - 1);
      context.moveTo(x + 1, y + cell - 1);
      context.lineTo(x + wide - 1, y + 1);
    }
    context.stroke();
  }
  context.globalAlpha = 1;
}

// 1 for a cell that is highlighted, or where none is chosen.
function litCells({ rows, shown }, lights, dim) {
  const lit = new Uint8Array(rows * shown).fill(dim ? 0 : 1);
  for (const light of lights) {
    const [firstRow, lastRow] = light.row === undefined ? [0, rows - 1] : [light.row, light.row];
    const [first, last] = light.column === undefined ? [0, shown - 1] : [light.column, Math.min(light.column, shown - 1)];
    for (let row = firstRow; row <= lastRow; row += 1) lit.fill(1, row * shown + first, row * shown + last + 1);
  }
  return lit;
}

// paintValue and paintHidden return the text colour for a number on the cell.
function paintValue(context, [x, y, width, height], colour) {
  context.fillStyle = css(colour);
  context.beginPath();
  context.roundRect(x, y, width, height, height >= 14 ? 3 : 0);
  context.fill();
  return inkOn(colour);
}

function paintHidden(context, [x, y, width, height], theme, strength) {
  context.globalAlpha = strength;
  context.strokeStyle = theme.faint;
  context.lineWidth = 1;
  context.strokeRect(x + 0.5, y + 0.5, width - 1, height - 1);
  context.beginPath();
  context.moveTo(x + 1, y + height - 1);
  context.lineTo(x + width - 1, y + 1);
  context.stroke();
  context.globalAlpha = 1;
  return theme.quiet;
}

function write(context, theme, text, x, y) {
  context.font = `12px ${theme.font}`;
  context.textAlign = "center";
  context.textBaseline = "middle";
  context.fillText(text, x, y + 1);
}

// Paints three dots where a matrix has more columns than are drawn.
function paintMore(context, matrix, { cell, wide, top }, theme) {
  context.fillStyle = theme.quiet;
  const [x, y] = [matrix.shown * wide + 2, top + (matrix.rows * cell) / 2];
  for (const step of [0, 4, 8]) context.fillRect(x + step, y - 1, 2, 2);
}

function paintColumnNames(context, matrix, { wide, top, upright, widest }, theme, chosen) {
  const step = Math.max(1, Math.ceil((upright ? widest + 4 : 13) / wide));
  const named = chosen?.matrix === matrix.name ? chosen.column : null;
  context.textBaseline = "middle";
  for (let column = 0; column < matrix.shown; column += 1) {
    const strong = column === named;
    if (!strong && (column % step || (named !== null && Math.abs(column - named) < step))) continue;
    context.font = `${strong ? "600 " : ""}${LABEL_FONT}px ${theme.font}`;
    context.fillStyle = strong ? theme.text : theme.quiet;
    context.save();
    context.translate((column + 0.5) * wide - 1, top - 7);
    if (!upright) context.rotate(-Math.PI / 2);
    context.textAlign = upright ? "center" : "left";
    context.fillText(fit(context, matrix.columnTexts[column], upright ? Math.max(wide, 24) : top - 10), 0, upright ? -3 : 0);
    context.restore();
  }
}

function outline(context, matrix, { cell, wide, top }, light, gap, theme) {
  const [row, column] = [light.row, light.column];
  const x = column === undefined ? 0 : column * wide;
  const y = top + (row === undefined ? 0 : row * cell);
  const width = column === undefined ? matrix.shown * wide : wide;
  const height = row === undefined ? matrix.rows * cell : cell;
  if (column !== undefined && column >= matrix.shown) return;
  const thin = light.part === "line";
  context.strokeStyle = thin ? theme.quiet : theme[light.part];
  context.lineWidth = thin ? 1 : 2;
  const out = thin ? 0.5 : 1;
  context.beginPath();
  context.roundRect(x - gap / 2 - out, y - gap / 2 - out, width - 1 + 2 * out, height - 1 + 2 * out, 3);
  context.stroke();
}

export function paintRowNames(context, matrix, shape, theme, lit) {
  const { cell, top, labelWidth } = shape;
  const step = Math.max(1, Math.ceil(NAME_HEIGHT / cell));
  const places = placesOfNames([...lit.keys()].sort((one, other) => one - other), { ...shape, count: matrix.rows });
  context.textAlign = "right";
  context.textBaseline = "middle";
  for (let row = 0; row < matrix.rows; row += 1) {
    const part = lit.get(row);
    const y = places.get(row) ?? top + (row + 0.5) * cell;
    const near = [...places.values()].some((other) => Math.abs(other - y) < NAME_HEIGHT);
    if (!part && (row % step || near)) continue;
    context.font = `${part ? "600 " : ""}${NAME_HEIGHT}px ${theme.font}`;
    context.fillStyle = part ? theme[part] : theme.quiet;
    context.fillText(fit(context, matrix.rowTexts[row], labelWidth - 12), labelWidth - 9, y);
  }
}

// Places the names of highlighted rows: names that would overlap are moved apart, and the last stays within the matrix.
function placesOfNames(rows, { cell, top, count }) {
  const places = new Map();
  let free = -Infinity;
  for (const row of rows) {
    places.set(row, Math.max(top + (row + 0.5) * cell, free));
    free = places.get(row) + NAME_HEIGHT;
  }
  let lowest = Math.max(top + count * cell - NAME_HEIGHT / 2, top + cell / 2);
  for (const row of [...rows].reverse()) {
    places.set(row, Math.min(places.get(row), lowest));
    lowest = places.get(row) - NAME_HEIGHT;
  }
  return places;
}

// Lists the colour scale of every group of matrices, and the meaning of the frames that there can be.
export function fillLegend(node, matrices, dark, texts) {
  const groups = new Map();
  for (const matrix of matrices) if (matrix.group !== "mask") groups.set(matrix.group, [...(groups.get(matrix.group) ?? []), matrix]);
  const scales = [...groups.values()].map((group) => scaleOf(group, groups.size > 1, dark, texts));
  const frame = (part, meaning) => element("span", {}, element("span", { class: `swatch ${part}` }), " ", meaning);
  const multiplied = matrices.some(({ origin }) => origin?.kind === "product");
  node.replaceChildren(...scales, element("span", {}, texts.squareRoot), frame("left", texts.madeFrom),
    ...(multiplied ? [frame("right", texts.times)] : []));
}

function scaleOf(matrices, named, dark, texts) {
  const { limit } = matrices[0];
  const negative = matrices.some((matrix) => matrix.values.some((value) => Number.isFinite(value) && value < 0));
  const ramp = element("span", { class: negative ? "ramp" : "ramp half" });
  ramp.style.background = negative ? differenceGradient(dark) : gradient("blues", dark);
  return element("span", {}, named ? `${titled(matrices, texts)}: ` : "", negative ? number(-limit) : "0", ramp, number(limit));
}

function titled(matrices, texts) {
  const titles = matrices.map((matrix) => matrix.title);
  return titles.length <= FEW_TITLES ? titles.join(", ") : say(texts.range, { first: titles[0], last: titles.at(-1) });
}
