// The map of a head, fetched as soon as its place on the wall is pressed.

import { ARRIVED } from "./arrivals.js";
import { unpack } from "./bytes.js";

// Begins to fetch a map, or goes on. Where it cannot be had, the page's own answer is waited for.
export function fetchMap(wall, [layer, head]) {
  const address = `${wall.atHand}/${layer}-${head}`;
  if (wall.atHand && wall.fetched?.address !== address) {
    const asked = fetch(new URL(address, document.baseURI)).then((answer) => (answer.ok ? answer.arrayBuffer() : null));
    wall.fetched = { address, bytes: asked.catch(() => null) };
  }
  return wall.atHand ? wall.fetched.bytes : null;
}

// Lets the map beside the wall draw the head that was chosen, unless another one was chosen meanwhile. at: the moment.
export async function showMap(wall, place, at) {
  const { atHand } = wall;
  const bytes = await fetchMap(wall, place);
  if (!bytes || wall.atHand !== atHand || wall.toldAt !== at) return;
  const { cells } = unpack(new Uint8Array(bytes));
  window.dispatchEvent(new CustomEvent(ARRIVED, { detail: { atHand, place, at, cells } }));
}
