// The map of a head, fetched as soon as it is pressed on a wall and sent to the map beside it before the page has answered. Where it
// cannot be had, the page's own answer is waited for.

import { unpack } from "./bytes.js";
import { HEAD_MAP } from "./head_maps.js";

// Fetches a packed message; null where there is none.
async function fetchMessage(address) {
  try {
    const answer = await fetch(new URL(address, document.baseURI));
    return answer.status === 200 ? unpack(new Uint8Array(await answer.arrayBuffer())) : null;
  } catch {
    return null;
  }
}

// Begins to fetch the map of a head, or goes on; null where the wall has no path to its maps.
export function fetchHeadMap(wall, [layer, head]) {
  if (!wall.mapsPath) return null;
  const address = `${wall.mapsPath}?head=${layer}-${head}`;
  if (wall.request?.address !== address) wall.request = { address, message: fetchMessage(address) };
  return wall.request.message;
}

// Passes on the map of a chosen head, unless another head was chosen meanwhile. at: the timestamp of the choice.
export async function sendHeadMap(wall, place, at) {
  const { mapsPath } = wall;
  const message = await fetchHeadMap(wall, place);
  if (!message) wall.request = null; // requested again when it is pressed again
  else if (wall.mapsPath === mapsPath && wall.sentAt === at) {
    window.dispatchEvent(new CustomEvent(HEAD_MAP, { detail: { mapsPath, place, at, cells: message.cells } }));
  }
}
