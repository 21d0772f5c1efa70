// The arithmetic of a norm and of a bend: the mean and the variance of a row, and what becomes of one of its numbers.

import { inSum, number } from "../core/numbers.js";
import { rowOf, valueAt } from "./values.js";

const FIRST = 3;

export function bent(model, cell, matrix, total) {
  return { pieces: [`${matrix.origin.how} of `, from(model, cell, matrix), " = ", total] };
}

export function mean(model, cell, matrix, total) {
  const values = rowOf(model.byName[matrix.origin.of], cell.row);
  return { pieces: ["(", ...listed(values.map((value) => inSum(value)), values.length), `) ÷ ${values.length} = `, total] };
}

export function variance(model, cell, matrix, total) {
  const values = rowOf(model.byName[matrix.origin.of], cell.row);
  const away = inSum(meanOf(values));
  return { pieces: ["(", ...listed(values.map((value) => `(${number(value)} − ${away})²`), values.length), `) ÷ ${values.length} = `, total] };
}

// With weight and bias the learned stretch and shift are part of it.
export function normed(model, cell, matrix, total) {
  const { of, eps, weight, bias } = matrix.origin;
  const values = rowOf(model.byName[of], cell.row);
  const middle = meanOf(values);
  const spread = meanOf(values.map((value) => (value - middle) ** 2));
  const pieces = ["(", from(model, cell, matrix), ` − ${inSum(middle)}) ÷ √(${number(spread)} + ${number(eps)})`];
  const note = `The row has the mean ${number(middle)} and the variance ${number(spread)}.`;
  if (!weight) return { pieces: [...pieces, " = ", total], note };
  return { pieces: [`${inSum(weight[cell.column])} × `, ...pieces, ` + ${inSum(bias[cell.column])} = `, total], note };
}

export function stretched(model, cell, matrix, total) {
  const { weight, bias } = matrix.origin;
  return { pieces: [from(model, cell, matrix), ` × ${inSum(weight[cell.column])} + ${inSum(bias[cell.column])} = `, total] };
}

function from(model, { row, column }, matrix) {
  return { text: inSum(valueAt(model.byName[matrix.origin.of], row, column)), part: "left" };
}

function listed(written, count) {
  const shown = written.slice(0, FIRST).flatMap((text, index) => [...(index ? [" + "] : []), { text, part: "left" }]);
  return count > FIRST ? [...shown, ` + … ${count - FIRST} more`] : shown;
}

function meanOf(values) {
  return values.reduce((one, other) => one + other, 0) / values.length;
}
