// Masks by name or painted, and what they do to the scores of one head: the same as tx_core/lessons/masking.py, in 32 bits as there.

import { base64Of, bytesOf } from "../../canvas/core/bytes.js";

const MASKS = {
  none: () => true,
  padding: (query, key, { real }) => key < real,
  causal: (query, key) => key <= query,
  combined: (query, key, { real }) => key <= query && key < real,
  window: (query, key, { width }) => Math.abs(query - key) <= width,
};

// 1 where a query may attend to a key. painted: a mask as links write it, for the kind "painted"; cells that it lacks are allowed.
export function maskOf(kind, tokens, { real, width, painted }) {
  const allows = kind === "painted" ? readMask(painted) : MASKS[kind];
  return Uint8Array.from({ length: tokens * tokens }, (_, at) => Number(allows(Math.floor(at / tokens), at % tokens, { real, width })));
}

// A painted mask in a link: its size and its bits, row by row, as in "3-v4A".
function readMask(written) {
  const [, size, bits] = /^(\d+)-([\w-]+)$/.exec(written) ?? [];
  if (!size) return () => true;
  const bytes = bytesOf(bits);
  return (query, key) => {
    if (query >= size || key >= size) return true;
    const at = query * size + key;
    return (bytes[at >> 3] >> (7 - (at & 7))) & 1;
  };
}

export function writeMask(mask) {
  const bytes = new Uint8Array(Math.ceil(mask.length / 8));
  mask.forEach((bit, at) => { bytes[at >> 3] |= bit << (7 - (at & 7)); });
  return `${Math.sqrt(mask.length)}-${base64Of(bytes).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "")}`;
}

// Weights of scores, row by row. A query that may attend to nothing gets zeros.
export function softmax(scores, tokens, mask = null) {
  const weights = new Float32Array(scores.length);
  for (let row = 0; row < scores.length; row += tokens) {
    let greatest = -Infinity;
    for (let at = row; at < row + tokens; at += 1) if ((!mask || mask[at]) && scores[at] > greatest) greatest = scores[at];
    if (greatest === -Infinity) continue;
    let sum = 0;
    for (let at = row; at < row + tokens; at += 1) {
      if (!mask || mask[at]) sum = Math.fround(sum + (weights[at] = Math.exp(scores[at] - greatest)));
    }
    for (let at = row; at < row + tokens; at += 1) weights[at] /= sum;
  }
  return weights;
}

// The queries that may attend to nothing.
export function emptyRows(mask, tokens) {
  return Array.from({ length: tokens }, (_, query) => query).filter((query) => !mask.subarray(query * tokens, (query + 1) * tokens).includes(1));
}

// Every matrix of the stage, by name.
export function maskedScores(scores, tokens, mask, penalty) {
  const lowered = scores.map((score, at) => (mask[at] ? score : score + penalty));
  const [before, weights] = [softmax(scores, tokens), softmax(scores, tokens, mask)];
  return {
    mask: Float32Array.from(mask, (bit) => (bit ? 0 : -Infinity)), masked: scores.map((score, at) => (mask[at] ? score : -Infinity)), lowered,
    before, weights, change: weights.map((weight, at) => weight - before[at]), leaky: softmax(lowered, tokens),
  };
}

// How much leaks past a penalty and without a mask, and the largest difference between −∞ and the penalty; null where there is no such row.
export function leaks({ before, weights, leaky }, tokens, mask) {
  const empty = emptyRows(mask, tokens);
  const rows = Array.from({ length: tokens }, (_, row) => row);
  const among = (row, value) => Array.from({ length: tokens }, (_, key) => value(row * tokens + key));
  const hidden = (matrix) => (row) => among(row, (at) => (mask[at] ? 0 : matrix[at])).reduce((sum, one) => sum + one, 0);
  const apart = (row) => Math.max(...among(row, (at) => Math.abs(weights[at] - leaky[at])));
  const greatest = (found, measure) => (found.length ? Math.max(...found.map(measure)) : null);
  const somewhere = rows.filter((row) => !empty.includes(row));
  return { leak: greatest(somewhere, hidden(leaky)), unmasked: greatest(somewhere, hidden(before)), apart: greatest(somewhere, apart), apartEmpty: greatest(empty, apart) };
}
