// The matrices of a computation: their numbers, labels and the limits of their colours; and each as a grid of cells.

import { NO_CHANGE } from "../../canvas/core/bytes.js";
import { codesOf } from "../../canvas/core/grid.js";
import { short, twoDigits } from "../../canvas/core/numbers.js";
import { visible } from "../../canvas/core/surface.js";

const ALLOWED = 0.5; // of a mask: 0 is allowed and −∞ is not, as in the sum of scores and mask

// Takes the matrices of a message (core/run.js) apart: numbers come as floats, as 16-bit parts of the largest, or not at all where they follow
// from others ("derived") or where the stage makes them ("made").
export function takeMatrices({ header, body }, texts) {
  const names = header.names.map((list) => list.map(visible));
  const byName = {};
  let from = 0;
  for (const { row_names: down, column_names: across, ...sent } of header.matrices) {
    const { form, scale, origin } = sent;
    const size = sent.rows * sent.columns;
    const next = (kind) => new kind(body.slice(from, (from += size * kind.BYTES_PER_ELEMENT)).buffer);
    const values = form === "made" ? new Float32Array(size) : form === "derived" ? byName[origin.of[0]].values.map((value) => value / (origin.divisor ?? 1))
      : form === "float" ? next(Float32Array) : Float32Array.from(next(Int16Array), (value) => value * scale);
    byName[sent.name] = { ...sent, values, rowTexts: names[down], columnTexts: names[across] };
  }
  const matrices = Object.values(byName);
  for (const matrix of matrices) matrix.limit = limitOf(matrices.filter(({ group }) => group === matrix.group));
  return { texts, namesTitle: header.namesTitle, matrices: matrices.filter(({ shown }) => shown > 0), byName };
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

// The columns that are drawn as a grid (assets/canvas/core/grid.js).
export function gridOf(matrix, table, { isWritten }) {
  const { rows, shown, group, rowTexts, columnTexts } = matrix;
  const { values, cells, hatched } = coded(matrix);
  return {
    rows, columns: shown, rowTexts, columnTexts, table, zero: NO_CHANGE, cells, hatched,
    written: isWritten ? (at) => written(group, values[at]) : null,
  };
}

const codings = new WeakMap(); // by the numbers of a matrix: pointing at a cell changes none

// The numbers that are drawn, their codes, and which of them stand for nothing.
function coded({ values: all, rows, columns, shown, group, limit }) {
  if (codings.get(all)?.shown === shown) return codings.get(all);
  const values = shown === columns ? all : Float32Array.from({ length: rows * shown }, (_, at) => all[Math.floor(at / shown) * columns + (at % shown)]);
  const cells = codesOf(group === "mask" ? values.map((value) => (value === 0 ? ALLOWED : value)) : values, { limit });
  const hatched = values.every(Number.isFinite) ? null : Uint8Array.from(values, (value) => Number(!Number.isFinite(value)));
  codings.set(all, { shown, values, cells, hatched });
  return codings.get(all);
}

// Shares and what changes of them need two digits; 0 needs none.
function written(group, value) {
  if (!["shares", "change"].includes(group) || !Number.isFinite(value)) return short(value);
  return Math.abs(value) < 0.005 ? "" : twoDigits(value);
}
