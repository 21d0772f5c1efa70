// How a cell came about: which rows, columns and cells it was made of, and the arithmetic with their numbers.
// A piece of arithmetic is a text, or { text, part } where part tells whose number it is: "left", "right" or "total".

import { bent, mean, normed, stretched, variance } from "./norm.js";
import { inSum, number } from "../core/numbers.js";
import { rowOf, valueAt } from "./values.js";

const EXPONENT_LIMIT = 50; // beyond it, e to the power is no number that a reader can take in

// What lights up: { matrix, row, column, part }; a missing row or column means the whole line of cells.
export function lightsOf(model, cell) {
  const { origin } = model.byName[cell.matrix];
  if (!origin) return [];
  if (origin.kind === "product") {
    return [
      { matrix: origin.left, row: cell.row, part: "left" },
      { matrix: origin.right, part: "right", ...(origin.transposed ? { row: cell.column } : { column: cell.column }) },
    ];
  }
  if (origin.kind === "added") return origin.parts.map((name) => ({ matrix: name, row: cell.row, column: cell.column, part: "left" }));
  if (["shares", "mean", "variance"].includes(origin.kind)) return [{ matrix: origin.of, row: cell.row, part: "left" }];
  return [{ matrix: origin.of, row: cell.row, column: cell.column, part: "left" }];
}

export function arithmetic(model, cell) {
  const matrix = model.byName[cell.matrix];
  const total = { text: number(valueAt(matrix, cell.row, cell.column)), part: "total" };
  if (!matrix.origin || !isHere(model, cell, matrix.origin)) return { pieces: [total], note: matrix.alt };
  return { note: matrix.alt, ...{ product, added, divided, masked, shares, bent, mean, variance, normed, stretched }[matrix.origin.kind](model, cell, matrix, total) };
}

// After the slider moved, the rest of a projection's matrix is on its way.
function isHere(model, { column }, origin) {
  return origin.kind !== "product" || origin.transposed || column < model.byName[origin.right].columns;
}

function product(model, { row, column }, matrix, total) {
  const { left, right, transposed, bias } = matrix.origin;
  const [one, other] = [model.byName[left], model.byName[right]];
  const terms = Array.from({ length: one.columns }, (_, index) => [
    valueAt(one, row, index),
    transposed ? valueAt(other, column, index) : valueAt(other, index, column),
  ]);
  const added = bias ? bias[column] : null;
  return { terms, bias: added, pieces: [" = ", total] };
}

function added(model, { row, column }, matrix, total) {
  const numbers = matrix.origin.parts.map((name) => ({ text: inSum(valueAt(model.byName[name], row, column)), part: "left" }));
  return { pieces: [...numbers.flatMap((one, index) => (index ? [" + ", one] : [one])), " = ", total] };
}

function divided(model, { row, column }, matrix, total) {
  const { of, divisor, written } = matrix.origin;
  const before = { text: number(valueAt(model.byName[of], row, column)), part: "left" };
  if (divisor === 1) return { pieces: [before, " stays ", total], note: "Scaling is off." };
  const worked = written === number(divisor) ? "" : ` = ${before.text} ÷ ${number(divisor)}`;
  return { pieces: [before, ` ÷ ${written}${worked} = `, total] };
}

function masked(model, { row, column }, matrix, total) {
  const before = { text: number(valueAt(model.byName[matrix.origin.of], row, column)), part: "left" };
  const [query, key] = [matrix.rowTexts[row], matrix.columnTexts[column]];
  if (valueAt(matrix, row, column) === -Infinity) {
    return { pieces: [before, " becomes ", total], note: `“${key}” comes later than “${query}”, so it is hidden: its weight will be 0.` };
  }
  return { pieces: [before, " stays ", total], note: `“${query}” may look at “${key}”.` };
}

function shares(model, { row, column }, matrix, total) {
  const scores = rowOf(model.byName[matrix.origin.of], row);
  const own = scores[column];
  if (own === -Infinity) return { pieces: ["hidden by the mask: ", total] };
  return { softmax, sparsemax, hardmax }[matrix.origin.how](scores, own, total, matrix, row);
}

function softmax(scores, own, total) {
  const greatest = Math.max(...scores);
  const shift = greatest > EXPONENT_LIMIT ? greatest : 0;
  const seen = scores.filter((score) => score !== -Infinity);
  const powers = seen.map((score) => Math.exp(score - shift));
  const sum = powers.reduce((one, other) => one + other, 0);
  const power = (score) => ["e", { text: number(score - shift), part: score === own ? "left" : undefined, raised: true }];
  const listed = seen.slice(0, 12).flatMap((score, index) => [...(index ? [" + "] : []), ...power(score)]);
  const rest = seen.length > 12 ? [` + ${seen.length - 12} more`] : [];
  const note = shift ? `The greatest score of the row, ${number(shift)}, was taken from each first: the shares stay the same.` : undefined;
  const pieces = [...power(own), " ÷ (", ...listed, ...rest, ") = ", `${number(Math.exp(own - shift))} ÷ ${number(sum)} = `, total];
  return note ? { pieces, note } : { pieces };
}

// Sparsemax takes the same threshold from every score and cuts off what falls below zero.
function sparsemax(scores, own, total, matrix, row) {
  const weights = rowOf(matrix, row);
  const kept = weights.indexOf(Math.max(...weights));
  const threshold = scores[kept] - weights[kept];
  const score = { text: number(own), part: "left" };
  const note = "Sparsemax takes the same number from every score of the row, so that what is left above zero adds up to 1.";
  const cut = own - threshold <= 0 ? " is below zero, so the weight is " : " = ";
  return { pieces: [score, ` − ${inSum(threshold)}`, cut, total], note };
}

function hardmax(scores, own, total) {
  const score = { text: number(own), part: "left" };
  const greatest = Math.max(...scores);
  if (total.text !== "0") return { pieces: [score, " is the greatest score of the row: ", total], note: "Hard attention gives everything to one token." };
  const why = own === greatest ? " is as great as the winner, which comes first: " : ` is below the greatest of the row, ${number(greatest)}: `;
  return { pieces: [score, why, total], note: "Hard attention gives everything to one token." };
}
