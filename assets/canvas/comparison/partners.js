// Which word of one map stands for which of another: rows of the words of both sides, [place in A, place in B].

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
