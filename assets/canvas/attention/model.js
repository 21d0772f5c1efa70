// What a map is drawn from: the cells, the tokens as they are written, and the colours.

import { colourTable } from "../core/palette.js";
import { visible } from "../core/surface.js";

export function modelOf({ header, cells }, dark) {
  return {
    cells, queries: header.queries.length, keys: header.keys.length, strongest: header.strongest,
    queryTexts: header.queries.map(visible), keyTexts: header.keys.map(visible),
    same: header.queries.length === header.keys.length && header.queries.every((token, index) => token === header.keys[index]),
    table: colourTable(header.scale, dark), pictures: new Map(), texts: header.texts,
  };
}
