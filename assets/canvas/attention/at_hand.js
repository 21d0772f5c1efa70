// The map of a head, fetched as soon as its place on the wall is pressed.

import { ARRIVED } from "./arrivals.js";
import { unpack } from "../core/bytes.js";

// Begins to fetch the cells of a map, or goes on. null: they cannot be had, and the page's own answer is waited for.
export function fetchMap(wall, [layer, head]) {
  if (!wall.atHand) return null;
  const address = `${wall.atHand}/${layer}-${head}`;
  if (wall.fetched?.address !== address) wall.fetched = { address, cells: cellsAt(address) };
  return wall.fetched.cells;
}

async function cellsAt(address) {
  try {
    const answer = await fetch(new URL(address, document.baseURI));
    return answer.ok ? unpack(new Uint8Array(await answer.arrayBuffer())).cells : null;
  } catch {
    return null;
  }
}

// Lets the map beside the wall draw the head that was chosen, unless another one was chosen meanwhile. at: the moment.
export async function showMap(wall, place, at) {
  const { atHand } = wall;
  const cells = await fetchMap(wall, place);
  if (!cells) wall.fetched = null; // it is asked for again when it is pressed again
  else if (wall.atHand === atHand && wall.toldAt === at) {
    window.dispatchEvent(new CustomEvent(ARRIVED, { detail: { atHand, place, at, cells } }));
  }
}
