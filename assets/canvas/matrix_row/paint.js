// One matrix as coloured cells, with the names of its columns above; and the names of the rows of a line.

import { css, inkOn } from "../core/palette.js";
import { fit } from "../core/surface.js";
import { short } from "../core/numbers.js";
import { valueAt } from "./values.js";

const LABEL_FONT = 12;
const NAME_HEIGHT = 13;
export const INSET = 3; // room for the frame of the first column
const DIMMED = 0.6;
const DIMMED_INK = 0.8;

export function colourOf(colours, value, limit) {
  const share = Math.min(1, Math.sqrt(Math.abs(value) / limit));
  return (value < 0 ? colours.below : colours.above)[Math.round(share * 255)];
}

// Whether a cell stays bright while another is explained.
function isLit(lights, row, column) {
  return lights.some((light) => (light.row ?? row) === row && (light.column ?? column) === column);
}

export function paintMatrix(context, matrix, shape, { colours, theme, lights, chosen, dim }) {
  const { cell, wide, top } = shape;
  const gap = cell >= 16 ? 2 : cell >= 7 ? 1 : 0;
  context.translate(INSET, 0);
  for (let row = 0; row < matrix.rows; row += 1) {
    for (let column = 0; column < matrix.shown; column += 1) {
      const value = valueAt(matrix, row, column);
      const lit = !dim || isLit(lights, row, column);
      const box = [column * wide, top + row * cell, wide - gap, cell - gap];
      context.globalAlpha = lit ? 1 : DIMMED;
      const finite = Number.isFinite(value);
      const ink = finite ? paintValue(context, box, colourOf(colours, value, matrix.limit)) : paintHidden(context, box, theme);
      if (!shape.numbers) continue;
      context.globalAlpha = lit ? 1 : DIMMED_INK;
      context.fillStyle = lit ? ink : theme.text;
      write(context, theme, short(value), box[0] + box[2] / 2, box[1] + box[3] / 2);
    }
  }
  context.globalAlpha = 1;
  if (matrix.shown < matrix.columns) paintMore(context, matrix, shape, theme);
  paintColumnNames(context, matrix, shape, theme, chosen);
  for (const light of lights) outline(context, matrix, shape, light, gap, theme);
}

// Both give the colour in which a number can be read on the cell.
function paintValue(context, [x, y, width, height], colour) {
  context.fillStyle = css(colour);
  context.beginPath();
  context.roundRect(x, y, width, height, height >= 14 ? 3 : 0);
  context.fill();
  return inkOn(colour);
}

function paintHidden(context, [x, y, width, height], theme) {
  context.strokeStyle = theme.faint;
  context.lineWidth = 1;
  context.strokeRect(x + 0.5, y + 0.5, width - 1, height - 1);
  context.beginPath();
  context.moveTo(x + 1, y + height - 1);
  context.lineTo(x + width - 1, y + 1);
  context.stroke();
  return theme.quiet;
}

function write(context, theme, text, x, y) {
  context.font = `12px ${theme.font}`;
  context.textAlign = "center";
  context.textBaseline = "middle";
  context.fillText(text, x, y + 1);
}

// Three dots: there are more columns than are drawn.
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

// Where the names of the lit rows stand: two that would lie on each other stand below each other, the last within the matrix.
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
