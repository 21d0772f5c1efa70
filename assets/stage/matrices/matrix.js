// A matrix of a computation: its numbers as they were sent, its labels and the limits of its colours; and as a grid of cells.

import { codesOf, twoDigits } from "../../canvas/core/grid.js";
import { short } from "../../canvas/core/numbers.js";
import { visible } from "../../canvas/core/surface.js";

const ALLOWED = 0.5; // of a mask: 0 is allowed and −∞ is not, as in the sum of scores and mask

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

// The columns that are drawn as a grid (assets/canvas/core/grid.js). lights: the cells, rows and columns that stay bright, all for null.
export function gridOf(matrix, table, { lights, isWritten }) {
  const { rows, columns, shown, group, limit } = matrix;
  const values = shown === columns ? matrix.values : Float32Array.from({ length: rows * shown }, (_, at) => valueAt(matrix, Math.floor(at / shown), at % shown));
  return {
    rows, columns: shown, rowTexts: matrix.rowTexts, columnTexts: matrix.columnTexts, table, zero: 32768,
    cells: codesOf(group === "mask" ? values.map((value) => (value === 0 ? ALLOWED : value)) : values, { limit }),
    hatched: values.every(Number.isFinite) ? null : Uint8Array.from(values, (value) => Number(!Number.isFinite(value))),
    dimmed: lights && dimmed(rows, shown, lights), written: isWritten ? (at) => written(group, values[at]) : null,
  };
}

// Shares and what changes of them need two digits; 0 needs none.
function written(group, value) {
  if (!["shares", "change"].includes(group) || !Number.isFinite(value)) return short(value);
  return Math.abs(value) < 0.005 ? "" : twoDigits(value);
}

function dimmed(rows, columns, lights) {
  const found = new Uint8Array(rows * columns).fill(1);
  for (const light of lights) {
    const [firstRow, lastRow] = light.row === undefined ? [0, rows - 1] : [light.row, light.row];
    const [first, last] = light.column === undefined ? [0, columns - 1] : [light.column, Math.min(light.column, columns - 1)];
    for (let row = firstRow; row <= lastRow; row += 1) found.fill(0, row * columns + first, row * columns + last + 1);
  }
  return found;
}
