// What the colours stand for: for matrices that share a scale, its ends; and the two frames of a chosen cell.

import { differenceGradient, gradient } from "../core/palette.js";
import { element } from "../core/surface.js";
import { number } from "../core/numbers.js";

const FEW_TITLES = 5;

export function fillLegend(node, matrices, dark) {
  const groups = new Map();
  for (const matrix of matrices) groups.set(matrix.group, [...(groups.get(matrix.group) ?? []), matrix]);
  const scales = [...groups.values()].map((group) => scaleOf(group, groups.size > 1, dark));
  const [left, right] = ["left", "right"].map((part) => element("span", { class: `swatch ${part}` }));
  node.replaceChildren(...scales, element("span", {}, "colours by the square root"),
    element("span", {}, left, " made from this"), element("span", {}, right, " times this"));
}

function scaleOf(matrices, named, dark) {
  const { limit } = matrices[0];
  const negative = matrices.some((matrix) => matrix.values.some((value) => Number.isFinite(value) && value < 0));
  const ramp = element("span", { class: negative ? "ramp" : "ramp half" });
  ramp.style.background = negative ? differenceGradient(dark) : gradient("blues", dark);
  return element("span", {}, named ? `${titled(matrices)}: ` : "", negative ? number(-limit) : "0", ramp, number(limit));
}

function titled(matrices) {
  const titles = matrices.map((matrix) => matrix.title);
  return titles.length <= FEW_TITLES ? titles.join(", ") : `${titles[0]} to ${titles.at(-1)}`;
}
