// The legends of colours.

import { number } from "../../canvas/core/numbers.js";
import { colourTable, DIFFERENCE_TICKS, differenceTable, gradient, TICKS, tickOf } from "../../canvas/core/palette.js";
import { element, refill, setText } from "../../canvas/core/surface.js";
import { TEXTS } from "../../canvas/core/texts.js";
import { say } from "../../canvas/core/text.js";

const FEW_TITLES = 5;

export function makeLegend() {
  const [ramp, ticks, name] = [element("div", { class: "ramp" }), element("div", { class: "ticks" }), element("span", {})];
  const node = element("div", { class: "legend", "data-testid": "attention-legend" }, element("div", { class: "ramp-scale" }, ramp, ticks), name);
  return { node, ramp, ticks, name };
}

// The colours of a map: of weights in a scale, or of differences.
export function fillLegend({ ramp, ticks, name }, scale, isSigned, dark) {
  ramp.style.background = gradient(isSigned ? differenceTable(dark) : colourTable(scale, dark));
  setText(name, isSigned ? TEXTS.map.scaleOfChanges : TEXTS.map.scaleOfWeights);
  refill(ticks, isSigned, () => (isSigned ? DIFFERENCE_TICKS : TICKS).map((tick) => {
    const { share, text } = tickOf(tick, isSigned);
    return element("span", { style: `left: ${100 * share}%` }, text);
  }));
}

// Colours between their ends, which are said.
export function rampBetween([low, high], isSigned, dark) {
  const ramp = element("span", { class: isSigned ? "ramp" : "ramp half" });
  ramp.style.background = gradient(isSigned ? differenceTable(dark) : colourTable("blues", dark));
  return [low, ramp, high];
}

// The colours from 0, or from the other side of it, to a limit.
export const rampTo = (limit, isSigned, dark) => rampBetween([isSigned ? number(-limit) : "0", number(limit)], isSigned, dark);

const isBelowZero = (value) => Number.isFinite(value) && value < 0;
export const hasNegative = (values) => values.some(isBelowZero);

// Lists the colours of every group of matrices, and the meaning of the frames that there can be.
export function fillMatrixLegend(node, matrices, dark, texts) {
  const groups = new Map();
  for (const matrix of matrices) if (matrix.group !== "mask") groups.set(matrix.group, [...(groups.get(matrix.group) ?? []), matrix]);
  const named = (titles) => (titles.length <= FEW_TITLES ? titles.join(", ") : say(texts.range, { first: titles[0], last: titles.at(-1) }));
  const scales = [...groups.values()].map((group) => element("span", {}, groups.size > 1 ? `${named(group.map(({ title }) => title))}: ` : "",
    ...rampTo(group[0].limit, group.some(({ values }) => hasNegative(values)), dark)));
  const frame = (part, meaning) => element("span", {}, element("span", { class: `swatch ${part}` }), " ", meaning);
  const isMultiplied = matrices.some(({ origin }) => origin?.kind === "product");
  node.replaceChildren(...scales, element("span", {}, texts.squareRoot), frame("left", texts.madeFrom), ...(isMultiplied ? [frame("right", texts.times)] : []));
}
