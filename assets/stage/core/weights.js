// Small sums over the rows of one attention map: pieces merged into words, special tokens hidden, heads averaged. The same as
// tx_core/analysis/views.py; tests/browser/test_sums.py runs the same cases through both.

import { NO_CHANGE, weightOf } from "../../canvas/core/bytes.js";

const LARGEST = 65535;
const SIGNED = 32767;

export function decoded(codes) {
  return Float32Array.from(codes, weightOf);
}

// The square root of each weight as a whole number that prints the same three decimals: tx_core/analysis/packing.py.
export function coded(weights) {
  return Uint16Array.from(weights, (weight) => {
    const exact = Math.min(1, Math.max(0, weight));
    const code = Math.round(Math.sqrt(exact) * LARGEST);
    return code + Math.sign(Math.round(exact * 1000) - Math.round(weightOf(code) * 1000));
  });
}

export function codedDifference(before, after) {
  return Uint16Array.from(after, (weight, index) => {
    const change = Math.min(1, Math.max(-1, weight - before[index]));
    const size = Math.abs(change);
    const code = Math.round(Math.sqrt(size) * SIGNED);
    const exact = code + Math.sign(Math.round(size * 1000) - Math.round((code / SIGNED) ** 2 * 1000));
    return NO_CHANGE + Math.sign(change) * exact;
  });
}

// Attention to a word is the sum over its pieces, attention from it the mean.
export function mergePieces(weights, keys, queryGroups, keyGroups) {
  const merged = new Float32Array(queryGroups.length * keyGroups.length);
  queryGroups.forEach((from, row) => keyGroups.forEach((to, column) => {
    let sum = 0;
    for (const query of from) for (const key of to) sum += weights[query * keys + key];
    merged[row * keyGroups.length + column] = sum / from.length;
  }));
  return merged;
}

// Drops rows and columns and rescales each row to sum to 1; also returns the share that each row lost. A row that attended to
// hidden tokens only becomes zeros.
export function leaveOut(weights, keys, queryHidden, keyHidden) {
  const [rows, columns] = [placesOf(queryHidden, 0), placesOf(keyHidden, 0)];
  const shown = new Float32Array(rows.length * columns.length);
  const lost = new Float32Array(rows.length);
  rows.forEach((query, row) => {
    let [left, whole] = [0, 0];
    for (let key = 0; key < keys; key += 1) whole += weights[query * keys + key];
    for (const key of columns) left += weights[query * keys + key];
    columns.forEach((key, column) => { shown[row * columns.length + column] = left > 0 ? weights[query * keys + key] / left : 0; });
    lost[row] = Math.max(whole - left, 0);
  });
  return { weights: shown, lost };
}

// The places of a list of 0 and 1 that hold `wanted`.
export function placesOf(flags, wanted) {
  return flags.flatMap((flag, place) => (Number(flag) === wanted ? [place] : []));
}

export function mean(maps) {
  if (maps.length === 1) return maps[0];
  return Float32Array.from(maps[0], (_, index) => maps.reduce((sum, map) => sum + map[index], 0) / maps.length);
}

// Adds a last column for padding that is not masked, whose weights a run does not keep: 1 minus the sum of each row.
export function withPadding(weights, queries, keys) {
  const wider = new Float32Array(queries * (keys + 1));
  for (let row = 0; row < queries; row += 1) {
    const taken = weights.subarray(row * keys, (row + 1) * keys);
    wider.set(taken, row * (keys + 1));
    wider[row * (keys + 1) + keys] = Math.max(0, 1 - taken.reduce((sum, weight) => sum + weight, 0));
  }
  return wider;
}

// How much attention moved elsewhere or was lost, by row: half of the change, as in tx_core/analysis/comparison.py.
export function movedAttention(before, after, keys) {
  return Array.from({ length: after.length / keys }, (_, row) => {
    let [gained, lost] = [0, 0];
    for (let index = row * keys; index < (row + 1) * keys; index += 1) {
      const change = after[index] - before[index];
      if (change > 0) gained += change;
      else lost -= change;
    }
    return Math.max(gained, lost);
  });
}
