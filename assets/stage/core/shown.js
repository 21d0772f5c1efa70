// What is drawn of a run: its axes with words merged and special tokens hidden, and the map of the chosen heads.

import { codesOf, THUMBNAIL, thumbnail } from "./run.js";
import { coded, codedDifference, decoded, leaveOut, mean, mergePieces, placesOf, withPadding } from "./weights.js";

// The rows or columns of an axis: labels, the positions of the tokens behind each, and which are special.
function axisOf({ tokens, special, groups, words }, merges) {
  if (!merges) return { labels: tokens, places: tokens.map((_, place) => [place]), special };
  return { labels: words, places: groups, special: groups.map(([first]) => special[first]) };
}

function without(axis) {
  const kept = placesOf(axis.special, 0);
  return { labels: kept.map((at) => axis.labels[at]), places: kept.map((at) => axis.places[at]), special: kept.map(() => 0) };
}

// Returns how the maps of a stack are shown: both axes, and `weigh`, which makes a shown map of the codes of a head.
export function viewOf(stack, { words, hide }, padding = 0) {
  const [queries, keys] = [axisOf(stack.queries, words), axisOf(stack.keys, words)];
  const hides = hide && !(queries.special.every(Boolean) || keys.special.every(Boolean));
  const pads = padding > 0 && !hides;
  const isPlain = !words && !hides && !pads;
  const width = stack.keys.tokens.length;
  const weigh = (codes) => {
    let weights = decoded(codes);
    if (words) weights = mergePieces(weights, width, queries.places, keys.places);
    if (!hides) return { weights: pads ? withPadding(weights, queries.labels.length, keys.labels.length) : weights, lost: null };
    return leaveOut(weights, keys.labels.length, queries.special, keys.special);
  };
  const shownKeys = hides ? without(keys) : keys;
  const padded = { labels: [...keys.labels, `[PAD] × ${padding}`], places: [...keys.places, []], special: [...keys.special, 1] };
  return { queries: hides ? without(queries) : queries, keys: pads ? padded : shownKeys, hides, isPlain, weigh };
}

export function rowOf({ queries }, focus) {
  const row = focus === null ? -1 : queries.places.findIndex((places) => places.includes(focus));
  return row < 0 ? null : row;
}

// The map of the chosen heads, or their mean: codes to draw, weights to reckon with, and the share that hidden tokens had.
// Null while a layer is not here.
export function mapOf(runs, run, stacks, { stack, heads }, view) {
  const codes = heads.map((head) => codesOf(runs, run, stacks, stack, head));
  if (codes.includes(null)) return null;
  if (view.isPlain && codes.length === 1) {
    let weights = null;
    return { codes: codes[0], get weights() { return (weights ??= decoded(codes[0])); }, lost: null };
  }
  const maps = codes.map(view.weigh);
  const weights = mean(maps.map((map) => map.weights));
  return { codes: coded(weights), weights, lost: view.hides ? mean(maps.map((map) => map.lost)) : null };
}

// Which cells no token may look at: what lies ahead of it.
export function aheadOf({ queries, keys }) {
  return Uint8Array.from({ length: queries.places.length * keys.places.length }, (_, at) => {
    const [query, key] = [queries.places[Math.floor(at / keys.places.length)], keys.places[at % keys.places.length]];
    return Number(Math.min(...key) > Math.max(...query));
  });
}

export function differenceOf(before, after) {
  return { codes: codedDifference(before.weights, after.weights), weights: after.weights, lost: after.lost };
}

// The thumbnails of all heads as they are shown; null while a layer is not here.
export function wallOf(runs, run, stacks, stack, view) {
  const { layers, heads } = stacks[stack];
  const [queries, keys] = [view.queries.labels.length, view.keys.labels.length];
  const [rows, columns] = [Math.min(queries, THUMBNAIL), Math.min(keys, THUMBNAIL)];
  const cells = new Uint8Array(layers * heads * rows * columns);
  for (let at = 0; at < layers * heads; at += 1) {
    const codes = codesOf(runs, run, stacks, stack, [Math.floor(at / heads), at % heads]);
    if (!codes) return null;
    cells.set(thumbnail(view.isPlain ? codes : coded(view.weigh(codes).weights), queries, keys), at * rows * columns);
  }
  return { rows, columns, cells };
}
