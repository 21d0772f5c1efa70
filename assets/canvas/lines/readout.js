// What is read of a step: its name, and under it each line's sign, name and number.

import { element, sharpen, visible } from "../core/surface.js";
import { superscript } from "../core/numbers.js";
import { lineSign } from "./line_chart.js";

const BESIDE = 12; // pixels between a step and what is read of it

export function fillReadout(readout, { places, series }, step) {
  if (step === null) return readout.replaceChildren();
  const rows = series.map((line) => element("div", { class: "row" }, ...rowOf(line, step)));
  readout.replaceChildren(element("div", { class: "place" }, visible(places[step])), ...rows);
  rows.forEach((row, index) => lineSign(sharpen(row.firstChild, 24, 14), series[index], 12, 7));
}

function rowOf(line, step) {
  const name = element("bdi", { class: "name" }, visible(line.name));
  return [element("canvas", { "aria-hidden": "true" }), name, " ", element("span", { class: "number" }, threeDigits(line.values[step]))];
}

// Beside its step where there is room, to the right first; else as near as the chart allows.
export function placeReadout(readout, laid, step) {
  const at = laid.x(step);
  readout.style.maxWidth = `${laid.width}px`;
  readout.style.left = "0";
  const wide = readout.offsetWidth;
  const right = at + BESIDE + wide <= laid.width;
  const left = right ? at + BESIDE : Math.max(0, at - BESIDE - wide);
  const covers = left < at && left + wide > at; // on its own step: then below the lines, on the legend
  Object.assign(readout.style, { left: `${left}px`, top: covers ? `${laid.plot.height + 4}px` : "4px" });
}

export function threeDigits(value) {
  const size = Math.abs(value);
  const sign = value < 0 ? "−" : "";
  if (size !== 0 && (size < 0.0005 || size >= 1e6)) {
    const [digits, exponent] = size.toExponential(2).split("e");
    return `${sign}${digits}·10${superscript(String(Number(exponent)))}`;
  }
  return sign + (size >= 99.95 ? String(Math.round(size)) : size.toPrecision(3));
}
