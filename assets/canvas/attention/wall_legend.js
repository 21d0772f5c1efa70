// The legend of a wall that shows differences: three numbers under a ramp.

import { differenceGradient } from "../core/palette.js";
import { element } from "../core/surface.js";

export function makeEnds() {
  const ramp = element("div", { class: "ramp" });
  const ticks = ["0%", "50%", "100%"].map((left) => {
    const tick = element("span");
    tick.style.left = left;
    return tick;
  });
  const scale = element("div", { class: "ramp-scale" }, ramp, element("div", { class: "ticks" }, ...ticks));
  return { node: element("div", { class: "legend", "data-testid": "wall-legend" }, scale), ramp, ticks };
}

export function fillEnds({ node, ramp, ticks }, ends, dark) {
  node.hidden = !ends;
  if (!ends) return;
  ramp.style.background = differenceGradient(dark);
  for (const [place, tick] of ticks.entries()) tick.textContent = ends[place];
}
