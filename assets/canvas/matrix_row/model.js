// The matrices that are drawn: their numbers as they were sent, row by row, their labels, and the limits of their colours.

import { visible } from "../core/surface.js";

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
  if (matrices[0].group === "shares") return 1;
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
