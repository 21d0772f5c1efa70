// A head's map on its way from the wall where it was pressed to the map beside it, which draws it before the page has answered.
// The two belong together where the same maps are at hand for both.

export const ARRIVED = "attention-map-arrived";
const ANSWERED = 3000; // milliseconds in which the page has surely answered a click

// Calls `draw` with what the map is to show, at hand before the page's answer. Gives what ends that.
export function takeArrivals(map, draw) {
  const take = ({ detail: { atHand, place, at, cells } }) => {
    const { header } = map;
    const answered = header.heard !== null && header.heard >= at; // the page has answered this click: what it shows is newer
    if (!header.atHand || header.atHand !== atHand || answered) return;
    map.early = { at, until: performance.now() + ANSWERED };
    const label = `Layer ${place[0] + 1}, head ${place[1] + 1}.`;
    draw({ header: { ...header, heads: [place], label }, cells });
  };
  window.addEventListener(ARRIVED, take);
  return () => window.removeEventListener(ARRIVED, take);
}

// Whether what the page sends was sent before it had heard of the click whose map is drawn already.
export function overtaken({ early, header }, next) {
  if (!early || performance.now() > early.until || next.atHand !== header.atHand) return false;
  return next.heard === null || next.heard < early.at;
}
