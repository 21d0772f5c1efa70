// Numbers over the depth of a model as lines: whoever points at a step, or goes there by keyboard, reads the number of each line.

import { mountOnce } from "../core/mount.js";
import { element, sharpen, visible, watchScreen } from "../core/surface.js";
import { readTheme } from "../core/theme.js";
import { layLines } from "./line_chart.js";
import { fillReadout, placeReadout } from "./readout.js";

const HOW = "Left and right arrow keys read out one step after another.";

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
  chart.stage.setAttribute("aria-label", `${visible(data.title)}. ${HOW}`);
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
