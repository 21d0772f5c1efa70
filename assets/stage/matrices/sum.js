// The sum behind the chosen cell: the cells that it was computed from, and its arithmetic written out.
//
// A piece of arithmetic is a string, or { text, part } where part says whose number it is: "left", "right" or "total".

import { inSum, number } from "../../canvas/core/numbers.js";
import { filled, say } from "../../canvas/core/text.js";
import { rowOf, valueAt } from "./matrix.js";

const FEW_SUMMANDS = 3; // of a mean or a variance
const EXPONENT_LIMIT = 50; // e to a larger power is shifted by the largest score of the row

// Returns the cells to highlight: { matrix, row, column, part }. Without a row or a column, the whole column or row.
export function lightsOf(model, cell) {
  const { origin } = model.byName[cell.matrix];
  if (!origin) return [];
  if (origin.kind === "product") {
    return [
      { matrix: origin.of[0], row: cell.row, part: "left" },
      { matrix: origin.of[1], part: "right", ...(origin.transposed ? { row: cell.column } : { column: cell.column }) },
    ];
  }
  const column = ["shares", "mean", "variance"].includes(origin.kind) ? {} : { column: cell.column };
  return origin.of.map((matrix) => ({ matrix, row: cell.row, ...column, part: "left" }));
}

// What a cell was computed of: { pieces, note }, and for a sum of products its { terms, by, bias } before the pieces.
export function arithmetic(model, cell) {
  const matrix = model.byName[cell.matrix];
  const total = { text: number(valueAt(matrix, cell.row, cell.column)), part: "total" };
  if (!matrix.origin || !isHere(model, cell, matrix.origin)) return { pieces: [total], note: matrix.alt };
  return { note: matrix.alt, ...{ product, added: joined(" + "), subtracted: joined(" − "), divided, allowed, masked, lowered, shares, activation, mean: averaged, variance: averaged, normalised }[matrix.origin.kind](model, cell, matrix, total) };
}

// Tells whether the column of a projection's matrix is here: after the slider moved, the page still has to send it.
function isHere(model, { column }, origin) {
  return origin.kind !== "product" || origin.transposed || column < model.byName[origin.of[1]].columns;
}

function product(model, { row, column }, matrix, total) {
  const { of, transposed, bias } = matrix.origin;
  const [one, other] = of.map((name) => model.byName[name]);
  const terms = Array.from({ length: one.columns }, (_, index) => ({
    left: valueAt(one, row, index),
    right: transposed ? valueAt(other, column, index) : valueAt(other, index, column),
    name: one.columnTexts[index],
  }));
  return { terms, by: one.columnKind, bias: bias ? bias[column] : null, pieces: [" = ", total], note: noteOnProduct(model.texts, { row, column }, matrix) };
}

// Says of a dot product of query and key how it compares with the others of its row; of other products the matrix's sentence.
function noteOnProduct(texts, { row, column }, matrix) {
  if (matrix.rowKind !== "query" || matrix.columnKind !== "key" || matrix.rows === 1) return matrix.alt;
  return compared(matrix, row, column, texts.noBetterKey, texts.betterKeys);
}

// A sentence on a cell, according to whether others of its row are larger.
function compared(matrix, row, column, largest, others) {
  const values = rowOf(matrix, row);
  const larger = values.filter((value) => value > values[column]).length;
  const [query, key] = [matrix.rowTexts[row], matrix.columnTexts[column]];
  return say(larger ? others : largest, { query, key, larger, others: values.length - 1, weight: number(values[column]) });
}

const joined = (sign) => (model, { row, column }, matrix, total) => {
  const numbers = matrix.origin.of.map((name) => ({ text: inSum(valueAt(model.byName[name], row, column)), part: "left" }));
  return { pieces: [...numbers.flatMap((one, index) => (index ? [sign, one] : [one])), " = ", total] };
};

// A cell of a mask; whoever sets `hiddenNote` says why a key is hidden.
function allowed(model, { row, column }, matrix, total) {
  const names = { query: matrix.rowTexts[row], key: matrix.columnTexts[column] };
  return { pieces: [total], note: say(valueAt(matrix, row, column) === 0 ? model.texts.mayAttend : model.hiddenNote, names) };
}

function lowered(model, { row, column }, matrix, total) {
  const before = valueAt(model.byName[matrix.origin.of[0]], row, column);
  const first = { text: number(before), part: "left" };
  if (valueAt(matrix, row, column) === before) return { pieces: filled(model.texts.stays, { before: first, after: total }) };
  return { pieces: [first, " + ", inSum(matrix.penalty), " = ", total] };
}

function divided(model, { row, column }, matrix, total) {
  const { of: [of], divisor, written } = matrix.origin;
  const before = { text: number(valueAt(model.byName[of], row, column)), part: "left" };
  if (divisor === 1) return { pieces: filled(model.texts.stays, { before, after: total }), note: model.texts.scalingOff };
  const worked = written === number(divisor) ? "" : ` = ${before.text} ÷ ${number(divisor)}`;
  return { pieces: [before, ` ÷ ${written}${worked} = `, total] };
}

function masked(model, { row, column }, matrix, total) {
  const before = { text: number(valueAt(model.byName[matrix.origin.of[0]], row, column)), part: "left" };
  const { texts } = model;
  const names = { query: matrix.rowTexts[row], key: matrix.columnTexts[column] };
  const [change, note] = valueAt(matrix, row, column) === -Infinity ? [texts.becomes, model.hiddenNote ?? texts.comesLater] : [texts.stays, texts.mayAttend];
  return { pieces: filled(change, { before, after: total }), note: say(note, names) };
}

function shares(model, { row, column }, matrix, total) {
  const scores = rowOf(model.byName[matrix.origin.of[0]], row);
  const own = scores[column];
  const { texts } = model;
  if (own === -Infinity) return { pieces: filled(texts.hiddenByMask, { weight: total }), note: texts.nothingTaken };
  const result = { softmax, sparsemax, hardmax }[matrix.origin.how](texts, scores, own, total, matrix, row);
  const note = matrix.rows === 1 ? "" : compared(matrix, row, column, texts.givesMost, texts.gives);
  return { ...result, note: [note, result.note].filter(Boolean).join(" ") };
}

function softmax(texts, scores, own, total) {
  const greatest = Math.max(...scores);
  const shift = greatest > EXPONENT_LIMIT ? greatest : 0;
  const seen = scores.filter((score) => score !== -Infinity);
  const powers = seen.map((score) => Math.exp(score - shift));
  const sum = powers.reduce((one, other) => one + other, 0);
  const power = (score) => ["e", { text: number(score - shift), part: score === own ? "left" : undefined, raised: true }];
  const listed = seen.slice(0, 12).flatMap((score, index) => [...(index ? [" + "] : []), ...power(score)]);
  const rest = seen.length > 12 ? [` + ${say(texts.more, { count: seen.length - 12 })}`] : [];
  const pieces = [...power(own), " ÷ (", ...listed, ...rest, ") = ", `${number(Math.exp(own - shift))} ÷ ${number(sum)} = `, total];
  return { pieces, note: shift ? say(texts.shifted, { score: number(shift) }) : "" };
}

// Sparsemax subtracts one threshold from every score of a row and sets negative results to zero.
function sparsemax(texts, scores, own, total, matrix, row) {
  const weights = rowOf(matrix, row);
  const kept = weights.indexOf(Math.max(...weights));
  const threshold = scores[kept] - weights[kept];
  const score = { text: number(own), part: "left" };
  const difference = own - threshold <= 0 ? texts.belowZero : texts.difference;
  return { pieces: filled(difference, { score, threshold: inSum(threshold), weight: total }), note: texts.sparsemax };
}

function hardmax(texts, scores, own, total) {
  const score = { text: number(own), part: "left" };
  const greatest = Math.max(...scores);
  const lost = own === greatest ? texts.asGreat : texts.belowGreatest;
  const sentence = total.text === "0" ? lost : texts.greatest;
  return { pieces: filled(sentence, { score, greatest: number(greatest), weight: total }), note: texts.hard };
}

function activation(model, cell, matrix, total) {
  return { pieces: filled(model.texts.activation, { function: matrix.origin.how, number: from(model, cell, matrix), result: total }) };
}

function averaged(model, cell, matrix, total) {
  const values = rowOf(model.byName[matrix.origin.of[0]], cell.row);
  const written = matrix.origin.kind === "mean" ? values.map(inSum) : values.map((value) => `(${number(value)} − ${inSum(meanOf(values))})²`);
  return { pieces: ["(", ...listed(model.texts, written), `) ÷ ${values.length} = `, total] };
}

// weight and bias: the learned scale and shift, where the page sends them.
function normalised(model, cell, matrix, total) {
  const { of: [of], eps, weight, bias } = matrix.origin;
  const values = rowOf(model.byName[of], cell.row);
  const middle = meanOf(values);
  const spread = meanOf(values.map((value) => (value - middle) ** 2));
  const pieces = ["(", from(model, cell, matrix), ` − ${inSum(middle)}) ÷ √(${number(spread)} + ${number(eps)})`];
  const note = say(model.texts.meanAndVariance, { mean: number(middle), variance: number(spread) });
  if (!weight) return { pieces: [...pieces, " = ", total], note };
  return { pieces: [`${inSum(weight[cell.column])} × `, ...pieces, ` + ${inSum(bias[cell.column])} = `, total], note };
}

function from(model, { row, column }, matrix) {
  return { text: inSum(valueAt(model.byName[matrix.origin.of[0]], row, column)), part: "left" };
}

function listed(texts, written) {
  const count = written.length;
  const shown = written.slice(0, FEW_SUMMANDS).flatMap((text, index) => [...(index ? [" + "] : []), { text, part: "left" }]);
  return count > FEW_SUMMANDS ? [...shown, ` + … ${say(texts.more, { count: count - FEW_SUMMANDS })}`] : shown;
}

function meanOf(values) {
  return values.reduce((one, other) => one + other, 0) / values.length;
}
