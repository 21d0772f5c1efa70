// What the three maps of a comparison are drawn from: A, B, and B − A over the words of both.

import { modelOf } from "../attention/model.js";
import { differenceTable } from "../core/palette.js";

export function comparedModels({ header, cells }, dark) {
  const tokens = [header.one, header.other, header.labels];
  let start = 0;
  const models = tokens.map((words) => {
    const end = start + words.length ** 2;
    const model = modelOf({ header: { queries: words, keys: words, scale: header.scale, strongest: 1 }, cells: cells.subarray(start, end) }, dark);
    start = end;
    return model;
  });
  // In the map of both, a word without a partner says whose it is.
  const marked = header.rows.map(([one, other], row) => (one === null ? "B: " : other === null ? "A: " : "") + models[2].queryTexts[row]);
  Object.assign(models[2], { signed: true, table: differenceTable(dark), queryTexts: marked, keyTexts: marked });
  return models;
}
