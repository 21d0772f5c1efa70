// Two maps of different texts on common axes: the words of both sides in one order, as in tx_core/analysis/comparison.py. Its test
// is tests/browser/test_sums.py.

import { NO_CHANGE } from "../../canvas/core/bytes.js";
import { coded, codedDifference, movedAttention } from "./weights.js";

// rows: [place in A, place in B] of each word, null where it has none; views: of A and of B (core/shown.js); nameAlone(word, side)
// labels a word that one side has alone. Returns a view as `viewOf` does, with `rows` and `keyRows`, both views, and `words`, plain.
export function pairViews(rows, views, nameAlone) {
  const pads = views.map(({ queries, keys }) => (keys.labels.length > queries.labels.length ? queries.labels.length : null));
  const keyRows = pads.some((pad) => pad !== null) ? [...rows, pads] : rows;
  const of = (places) => (places[0] === null ? 1 : 0);
  const words = keyRows.map((places) => views[of(places)].keys.labels[places[of(places)]]);
  const special = keyRows.map((places) => Number(views[of(places)].keys.special[places[of(places)]]));
  const labels = words.map((word, row) => (keyRows[row].includes(null) ? nameAlone(word, of(keyRows[row])) : word));
  const axis = (count) => ({ labels: labels.slice(0, count), places: keyRows.slice(0, count).map((_, row) => [row]), special: special.slice(0, count) });
  const hides = views.some((view) => view.hides);
  return { queries: axis(rows.length), keys: axis(keyRows.length), hides, isPlain: false, rows, keyRows, views, words };
}

export const hasBoth = (places) => !places.includes(null);

// The map of one side, 0 for A and 1 for B, on the axes of both; `hatched` where it lacks a word.
export function onPair({ rows, keyRows, views }, side, { weights, lost }) {
  const [size, width] = [keyRows.length, views[side].keys.labels.length];
  const spread = new Float32Array(rows.length * size);
  const hatched = new Uint8Array(spread.length);
  rows.forEach(({ [side]: query }, row) => keyRows.forEach(({ [side]: key }, column) => {
    if (query === null || key === null) hatched[row * size + column] = 1;
    else spread[row * size + column] = weights[query * width + key];
  }));
  return { codes: coded(spread), weights: spread, lost, hatched };
}

// B − A where both sides have both words.
export function differenceOn(before, after) {
  const hatched = after.hatched.map((missing, at) => missing | before.hatched[at]);
  const codes = codedDifference(before.weights, after.weights).map((code, at) => (hatched[at] ? NO_CHANGE : code));
  return { codes, weights: after.weights, lost: after.lost, hatched };
}

// How much of its attention a head gives to other words in B than in A: over the words that both have, 0 to 1.
export function differingShare({ rows, keyRows }, before, after) {
  const both = (map) => map.weights.map((weight, at) => (before.hatched[at] || after.hatched[at] ? 0 : weight));
  const moved = movedAttention(both(before), both(after), keyRows.length).filter((_, row) => hasBoth(rows[row]));
  return moved.length ? Math.min(1, moved.reduce((sum, one) => sum + one, 0) / moved.length) : 0;
}
