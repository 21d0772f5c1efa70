// Prefetched maps of heads, as the map beside a wall receives them. Both name the same path to their maps.

import { filled } from "./text.js";

export const HEAD_MAP = "attention-head-map";
export const ANSWER_MS = 3000; // in which the page has usually answered

// Calls `draw` with what the map is to show before the page has answered. Returns a function that ends this.
export function receiveHeadMaps(map, draw) {
  const receive = ({ detail: { mapsPath, place, at, cells } }) => {
    const { header } = map;
    const answered = header.timestamp !== null && header.timestamp >= at;
    if (!header.mapsPath || header.mapsPath !== mapsPath || answered) return;
    map.prefetched = { at, until: performance.now() + ANSWER_MS };
    const alt = filled(header.texts.headShown, { layer: place[0] + 1, head: place[1] + 1 }).join("");
    draw({ header: { ...header, heads: [place], alt }, cells });
  };
  window.addEventListener(HEAD_MAP, receive);
  return () => window.removeEventListener(HEAD_MAP, receive);
}

// Whether a header predates the choice whose map is drawn already, and so is stale.
export function isOutdated({ prefetched, header }, next) {
  if (!prefetched || performance.now() > prefetched.until || next.mapsPath !== header.mapsPath) return false;
  return next.timestamp === null || next.timestamp < prefetched.at;
}
