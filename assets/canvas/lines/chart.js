// Numbers over the depth of a model as lines: whoever points at a step, or goes there by keyboard, reads the number of each line.

import { element, mountOnce, sharpen, visible, watchScreen } from "../core/surface.js";
import { readTheme } from "../core/theme.js";
import { superscript } from "../core/numbers.js";
import { filled } from "../core/text.js";
import { layLines, lineSign } from "./line_chart.js";

const BESIDE = 12; // pixels between a step and what is read of it

export default function mountLines({ data, parentElement }) {
  const [chart, end] = mountOnce(parentElement, makeLines, removeLines);
  receiveLines(chart, data);
  return end;
}

function makeLines(parent) {
  const chart = { data: null, step: null, dismissed: null, width: 0, paints: 0 };
  chart.canvas = element("canvas", { role: "img" });
  chart.line = element("div", { class: "line", hidden: "" });
  chart.readout = element("div", { class: "readout", role: "status", "aria-live": "polite", "data-testid": "lines-readout" });
  chart.stage = element("div", { class: "stage", role: "group", tabindex: "0" }, chart.canvas, chart.line);
  chart.root = element("div", { class: "lines", "data-testid": "lines" }, chart.stage, chart.readout);
  parent.querySelector(".lines-view").append(chart.root);
  chart.stage.onpointermove = chart.stage.onpointerdown = (event) => pointAt(chart, event);
  chart.stage.onpointerleave = ({ pointerType }) => pointerType !== "touch" && leaveLines(chart);
  chart.stage.onpointercancel = () => leaveLines(chart); // a finger that began to scroll
  chart.stage.addEventListener("focusout", () => leaveLines(chart));
  chart.stage.onkeydown = (event) => pressInLines(chart, event);
  chart.observer = new ResizeObserver(() => chart.root.clientWidth !== chart.width && paintLines(chart));
  chart.observer.observe(chart.root);
  chart.stopWatching = watchScreen(() => paintLines(chart));
  return chart;
}

function receiveLines(chart, data) {
  chart.data = data;
  chart.theme = readTheme(chart.root);
  chart.canvas.setAttribute("aria-label", visible(data.alt));
  chart.stage.setAttribute("aria-label", filled(data.texts.steps, { title: visible(data.title) }).join(""));
  if (chart.step >= data.steps.length) chart.step = null;
  paintLines(chart);
  chart.root.dataset.paints = String((chart.paints += 1));
}

function paintLines(chart) {
  chart.width = chart.root.clientWidth;
  if (!chart.width) return;
  chart.laid = layLines(chart.canvas.getContext("2d"), chart.theme, chart.data, chart.width);
  chart.laid.paint(sharpen(chart.canvas, chart.laid.width, chart.laid.height));
  chart.stage.dataset.steps = JSON.stringify(chart.data.steps.map((_, step) => Math.round(chart.laid.x(step))));
  tellStep(chart, chart.step);
}

function pointAt(chart, event) {
  const at = event.clientX - chart.canvas.getBoundingClientRect().left;
  const far = (step) => Math.abs(chart.laid.x(step) - at);
  const nearest = chart.data.steps.reduce((best, _, step) => (far(step) < far(best) ? step : best), 0);
  if (nearest !== chart.dismissed || event.type === "pointerdown") tellStep(chart, nearest);
}

// A finger that is lifted is no leaving: what it chose stays until the next tap.
function leaveLines(chart) {
  chart.dismissed = null;
  tellStep(chart, null);
}

function pressInLines(chart, event) {
  if (event.altKey || event.ctrlKey || event.metaKey) return;
  const last = chart.data.steps.length - 1;
  if (event.key === "Escape" && chart.step !== null) {
    chart.dismissed = chart.step;
    tellStep(chart, null);
  }
  const next = { ArrowLeft: (chart.step ?? last + 1) - 1, ArrowRight: (chart.step ?? -1) + 1, Home: 0, End: last }[event.key];
  if (next === undefined) return;
  event.preventDefault();
  tellStep(chart, Math.min(last, Math.max(0, next)));
}

function tellStep(chart, step) {
  chart.step = step;
  if (step !== null) chart.dismissed = null;
  chart.line.hidden = step === null;
  fillReadout(chart.readout, chart.data, step);
  if (step === null) return;
  Object.assign(chart.line.style, { left: `${Math.round(chart.laid.x(step))}px`, height: `${chart.laid.plot.height}px` });
  placeReadout(chart.readout, chart.laid, step);
}

function removeLines(chart) {
  chart.observer.disconnect();
  chart.stopWatching();
  chart.root.remove();
}

// What is read of a step: its name, and under it each line's sign, name and number.
function fillReadout(readout, { places, series }, step) {
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
function placeReadout(readout, laid, step) {
  const at = laid.x(step);
  readout.style.maxWidth = `${laid.width}px`;
  readout.style.left = "0";
  const wide = readout.offsetWidth;
  const right = at + BESIDE + wide <= laid.width;
  const left = right ? at + BESIDE : Math.max(0, at - BESIDE - wide);
  const covers = left < at && left + wide > at; // on its own step: then below the lines, on the legend
  Object.assign(readout.style, { left: `${left}px`, top: covers ? `${laid.plot.height + 4}px` : "4px" });
}

function threeDigits(value) {
  const size = Math.abs(value);
  const sign = value < 0 ? "−" : "";
  if (size !== 0 && (size < 0.0005 || size >= 1e6)) {
    const [digits, exponent] = size.toExponential(2).split("e");
    return `${sign}${digits}·10${superscript(String(Number(exponent)))}`;
  }
  return sign + (size >= 99.95 ? String(Math.round(size)) : size.toPrecision(3));
}
