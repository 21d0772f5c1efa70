// What the three maps of a comparison are drawn from: A, B, and B − A over the words of both; and which of them are partners.

import { modelOf } from "../attention/heatmap.js";
import { differenceTable } from "../core/palette.js";
import { filled } from "../core/text.js";

export function comparedModels({ header, cells }, dark) {
  const tokens = [header.one, header.other, header.labels];
  let start = 0;
  const models = tokens.map((words) => {
    const end = start + words.length ** 2;
    const part = { queries: words, keys: words, scale: header.scale, strongest: 1, texts: header.texts };
    const model = modelOf({ header: part, cells: cells.subarray(start, end) }, dark);
    start = end;
    return model;
  });
  // In the map of both, a word without a partner is labelled by its side.
  const marked = header.rows.map((places, row) => {
    const word = models[2].queryTexts[row];
    const missing = places.indexOf(null);
    return missing < 0 ? word : filled(header.texts.wordOf[1 - missing], { word }).join("");
  });
  Object.assign(models[2], { signed: true, table: differenceTable(dark), queryTexts: marked, keyTexts: marked });
  return models;
}

// Which word of one map stands for which of another: rows of the words of both sides, [position in A, position in B].
export function partnersOf(rows) {
  const inverse = [new Map(), new Map()];
  for (const [row, places] of rows.entries()) {
    for (const side of [0, 1]) if (places[side] !== null) inverse[side].set(places[side], row);
  }
  return { rows, inverse };
}

// Where a row stands in a map: 0 is A, 1 is B, 2 is the map of all rows; null where it has no place.
export function placeIn({ rows }, map, row) {
  if (row === null || row === undefined) return null;
  return map === 2 ? row : rows[row][map];
}

export function rowOf({ inverse }, map, place) {
  if (place === null || place === undefined) return null;
  return map === 2 ? place : inverse[map].get(place);
}

export function hasBoth({ rows }, row) {
  return rows[row][0] !== null && rows[row][1] !== null;
}

// The positions of all cells that are a difference: both words have a partner.
export function comparable(partners, row = null) {
  const both = partners.rows.map((_, at) => at).filter((at) => hasBoth(partners, at));
  const from = row === null ? both : both.filter((at) => at === row);
  return from.flatMap((query) => both.map((key) => query * partners.rows.length + key));
}

// Strokes over the cells that are no difference, because one of their words has no partner.
export function paintHatch(context, shape, partners, theme, scroll) {
  const { left, top, cell } = shape;
  const count = partners.rows.length;
  const inset = cell < 9 ? 0 : 2;
  context.save();
  context.beginPath();
  context.rect(left, top, shape.viewWidth, shape.viewHeight);
  context.clip();
  context.beginPath();
  for (let query = 0; query < count; query += 1) {
    for (let key = 0; key < count; key += 1) {
      if (hasBoth(partners, query) && hasBoth(partners, key)) continue;
      context.rect(left + key * cell + inset - scroll.x, top + query * cell + inset - scroll.y, cell - 2 * inset, cell - 2 * inset);
    }
  }
  context.clip();
  context.strokeStyle = theme.quiet;
  context.globalAlpha = 0.55;
  context.lineWidth = 1;
  context.beginPath();
  const side = count * cell;
  for (let start = -side; start < side; start += 6) {
    context.moveTo(left + start, top + side);
    context.lineTo(left + start + side, top);
  }
  context.stroke();
  context.restore();
}
