// What the colours stand for: for matrices that share a scale, its ends; and the two frames of a chosen cell.

import { element } from "../core/surface.js";
import { number } from "../core/numbers.js";

const FEW_TITLES = 5;

export function fillLegend(node, matrices, stops) {
  const groups = new Map();
  for (const matrix of matrices) groups.set(matrix.group, [...(groups.get(matrix.group) ?? []), matrix]);
  const scales = [...groups.values()].map((group) => scaleOf(group, groups.size > 1, stops));
  const [left, right] = ["left", "right"].map((part) => element("span", { class: `swatch ${part}` }));
  node.replaceChildren(...scales, element("span", {}, "colours by the square root"),
    element("span", {}, left, " made from this"), element("span", {}, right, " times this"));
}

function scaleOf(matrices, named, { above, below }) {
  const { limit } = matrices[0];
  const negative = matrices.some((matrix) => matrix.values.some((value) => Number.isFinite(value) && value < 0));
  const ramp = element("span", { class: negative ? "ramp" : "ramp half" });
  ramp.style.background = `linear-gradient(to right, ${(negative ? [...[...below].reverse(), ...above] : above).join(", ")})`;
  return element("span", {}, named ? `${titled(matrices)}: ` : "", negative ? number(-limit) : "0", ramp, number(limit));
}

function titled(matrices) {
  const titles = matrices.map((matrix) => matrix.title);
  return titles.length <= FEW_TITLES ? titles.join(", ") : `${titles[0]} to ${titles.at(-1)}`;
}
