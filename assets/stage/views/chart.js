// Any chart of a page, painted as in a figure, whose bars, steps, heads, points or cells are read out to whoever points at one or
// goes there by keyboard. What is read of several charts over the same rows and columns stands together.

import { layKind, lineSign, threeDigits, withMinus } from "../../canvas/figure/charts.js";
import { element, isStill, localPoint, placeBeside, setText, sharpen, visible } from "../../canvas/core/surface.js";
import { placeByKey, stepByKey } from "../../canvas/core/keys.js";
import { TEXTS } from "../../canvas/core/texts.js";
import { say } from "../../canvas/core/text.js";
import { hasNegative, rampTo } from "./legend.js";

const LEAST = 120; // pixels of height
const NAMED_BARS = 5;
const GROWN = { bars: 0, moved: 0, grid: 72, listing: 0, lines: 52, points: 48, matrix: 8 }; // what a kind takes beyond the height that it is asked to have; 0: it has its own
export const isFlexible = ({ kind }) => Boolean(GROWN[kind]);

// choose: called with the number of the row, head, point or cell that is clicked.
export function makeChart({ choose }) {
  const made = { chart: null, laid: null, spot: null, dismissed: null, linked: [] };
  made.title = element("figcaption", { class: "title" });
  made.canvas = element("canvas", { role: "img" });
  made.mark = element("div", { class: "spot", hidden: "" });
  made.shown = element("div", { class: "spot line-mark shown-moment", hidden: "" });
  made.readout = element("div", { class: "tooltip spot-readout", role: "status", "aria-live": "polite", "data-testid": "spot-readout" });
  made.pad = element("div", { class: "pad", role: "group", tabindex: "0" }, made.canvas, made.mark, made.shown, made.readout);
  made.legend = element("p", { class: "legend matrix-legend" });
  made.note = element("p", { class: "quiet-text" });
  made.said = element("p", { class: "chart-said" });
  made.node = element("figure", { class: "chart", "data-testid": "chart" }, made.title, made.pad, made.legend, made.note, made.said);
  const at = (event) => made.laid?.spots?.near(...localPoint(made.canvas, event)) ?? null;
  made.pad.onpointermove = made.pad.onpointerdown = (event) => {
    const spot = at(event);
    if (event.type === "pointerdown" || String(spot) !== String(made.dismissed)) point(made, spot);
  };
  made.pad.onpointerleave = ({ pointerType }) => pointerType !== "touch" && leave(made);
  made.pad.onpointercancel = () => leave(made); // a finger that began to scroll
  made.pad.addEventListener("focusout", () => leave(made));
  made.pad.onclick = (event) => at(event) && act(made, at(event), choose);
  made.pad.onkeydown = (event) => press(made, event, choose);
  return made;
}

// chart: as assets/canvas/figure/charts.js takes it; about: sentence, cell, details, `canChoose`, and the size that is left for it. least:
// pixels of height that it takes in any case.
export function drawChart(made, chart, { theme, width, height, sentence, cell, details, canChoose, least = LEAST }) {
  Object.assign(made, { about: { cell, details, canChoose } });
  setText(made.title, chart.title ? visible(chart.title) : "");
  made.title.hidden = !chart.title;
  setText(made.note, chart.note && chart.note !== sentence ? chart.note : "");
  setText(made.said, sentence);
  made.node.classList.toggle("sentence-first", Boolean(chart.sentenceFirst));
  made.legend.hidden = chart.kind !== "matrix" || chart.colouring === "mask";
  if (chart.kind === "matrix") {
    const isSigned = chart.colouring === "signed";
    const isRoot = chart.root || !isSigned;
    made.legend.replaceChildren(element("span", {}, ...rampTo(isSigned ? chart.limit : 1, isSigned && hasNegative(chart.cells), theme.dark)), isRoot ? element("span", {}, TEXTS.matrices.squareRoot) : "");
  }
  made.canvas.setAttribute("aria-label", visible((!chart.sentenceFirst && sentence) || [chart.title, largestBars(chart)].filter(Boolean).join(": ") || TEXTS.pictures.picture));
  const keys = canChoose ? TEXTS.pictures.keysChoose : TEXTS.pictures.keys;
  made.pad.setAttribute("aria-label", say(keys, { title: visible(chart.title || sentence || TEXTS.pictures.picture) }));
  const room = Math.max(least, height - heightAround(made));
  const lay = (tall) => {
    made.chart = sized(chart, Math.max(least, tall));
    made.laid = layKind(made.canvas.getContext("2d"), theme, made.chart, width);
  };
  lay(room - GROWN[chart.kind]);
  const excess = made.laid.height - room;
  const isLow = chart.kind === "points" || (chart.kind === "matrix" && -excess >= chart.rows.length); // its names took less than was kept for them
  if (isFlexible(chart) && (excess > 0 || isLow)) lay(room - GROWN[chart.kind] - excess); // such as of a legend of several rows
  if (chart.kind === "points") glide(made, theme, width);
  else made.laid.paint(sharpen(made.canvas, made.laid.width, made.laid.height));
  made.pad.style.width = `${made.laid.width}px`;
  const { rows = 0, columns = 0 } = made.laid.spots ?? {};
  made.pad.dataset.spots = `${rows}×${columns}`;
  if (made.spot && (made.spot[0] >= rows || made.spot[1] >= columns)) made.spot = null;
  mark(made, made.spot);
  markShown(made, chart.shown ?? -1);
  if (made.spot) read(made);
  else made.readout.replaceChildren();
}

const GLIDE = 450; // milliseconds

// Paints points, which move to where they lie now; at once for whoever wants no motion.
function glide(made, theme, width) {
  cancelAnimationFrame(made.frame);
  const { places } = made.chart;
  const from = made.places?.length === places.length && !isStill() ? made.places : places;
  const isThere = from.every(([x, y], index) => x === places[index][0] && y === places[index][1]);
  const begun = performance.now();
  const paint = (now) => {
    const share = isThere ? 1 : Math.min(1, Math.max(0, now - begun) / GLIDE);
    const eased = share * share * (3 - 2 * share);
    made.places = from.map(([x, y], index) => [x + (places[index][0] - x) * eased, y + (places[index][1] - y) * eased]);
    const laid = share === 1 ? made.laid : layKind(made.canvas.getContext("2d"), theme, { ...made.chart, places: made.places, bounds: made.chart.bounds ?? places }, width);
    laid.paint(sharpen(made.canvas, laid.width, laid.height));
    made.canvas.dataset.moving = String(share < 1);
    if (share < 1) made.frame = requestAnimationFrame(paint);
  };
  paint(begun);
}

// A line over the step of lines at which the page is shown; none where `step` is below 0.
function markShown({ laid, shown }, step) {
  shown.hidden = step < 0;
  if (step < 0) return;
  const [left, top, , high] = laid.spots.box(0, step);
  Object.assign(shown.style, { left: `${left}px`, top: `${top}px`, width: "1px", height: `${high}px` });
}

// For whom nothing else says it: the longest bars in words.
function largestBars({ kind, labels, values, ends }) {
  if (kind !== "bars") return "";
  const order = labels.map((_, row) => row).sort((one, other) => Math.abs(values[other]) - Math.abs(values[one]));
  return order.slice(0, NAMED_BARS).map((row) => `${labels[row]} ${ends[row]}`).join(", ");
}

const heightAround = ({ node, pad }) => node.offsetHeight - pad.offsetHeight;

function sized(chart, tall) {
  if (["lines", "points", "grid"].includes(chart.kind)) return { ...chart, tall };
  if (chart.kind !== "matrix") return chart;
  const names = 60; // above the cells
  return { ...chart, tallest: Math.max(tall - names, (chart.leastRow ?? 0) * chart.rows.length), largest: Math.min(46, Math.max(4, (tall - names) / chart.rows.length)), tallestRow: chart.tallestRow ?? 36 };
}

// Marks a spot, also in the charts over the same rows and columns, and reads out what stands there.
function point(made, spot) {
  made.spot = spot;
  if (spot) made.dismissed = null;
  mark(made, spot);
  for (const other of made.linked) {
    other.spot = null;
    other.readout.replaceChildren();
    mark(other, spot);
  }
  if (spot) read(made);
  else made.readout.replaceChildren();
}

function leave(made) {
  made.dismissed = null;
  point(made, null);
}

function mark(made, spot) {
  made.mark.hidden = !spot;
  if (!spot) return;
  const [left, top, wide, high] = made.laid.spots.box(...spot);
  const line = made.chart.kind === "lines";
  const [width, height] = line ? [1, high] : [Math.max(6, wide), Math.max(6, high)];
  made.mark.classList.toggle("line-mark", line);
  Object.assign(made.mark.style, { width: `${width}px`, height: `${height}px`, left: `${left + (wide - width) / 2}px`, top: `${top + (high - height) / 2}px` });
}

function read(made) {
  const { title, rows, named } = readingOf(made, made.spot);
  const all = [...rows, ...made.linked.flatMap((other) => readingOf(other, made.spot).rows)];
  const several = made.linked.length > 0;
  made.readout.replaceChildren(element("div", { class: "place" }, visible(title)), ...all.map(({ name, value, line }) => {
    const sign = line ? [element("canvas", { "aria-hidden": "true" })] : [];
    const row = element("div", { class: "reading" }, ...sign, ...(several || line || named ? [element("bdi", {}, visible(name))] : []), " ", element("span", { class: "value" }, value));
    if (line) lineSign(sharpen(row.firstChild, 24, 14), line, 12, 7);
    return row;
  }));
  placeBeside(made.readout, made.node, made.laid.spots.box(...made.spot));
}

function press(made, event, choose) {
  const { spots } = made.laid ?? {};
  if (!spots || event.altKey || event.ctrlKey || event.metaKey) return;
  if (event.key === "Escape" && made.spot) {
    made.dismissed = made.spot;
    return point(made, null);
  }
  if ((event.key === "Enter" || event.key === " ") && made.spot && made.about.canChoose) {
    event.preventDefault();
    return act(made, made.spot, choose);
  }
  const { rows, columns } = spots;
  const isList = rows === 1 || columns === 1;
  const at = isList ? stepByKey(event, made.spot && Math.max(...made.spot), rows * columns) : null;
  const next = isList ? at !== null && (columns === 1 ? [at, 0] : [0, at]) : placeByKey(event, made.spot, [rows, columns]);
  if (!next) return;
  event.preventDefault();
  point(made, next);
}

function act(made, [row, column], choose) {
  if (made.about.canChoose) choose(row * made.laid.spots.columns + column);
}

// --- What is read of a spot: a title, and rows of a name and a value

const READ = {
  bars: ({ chart, about }, [row]) => ({ title: chart.labels[row], rows: [{ name: chart.title, value: [chart.ends[row], about.details[row]].filter(Boolean).join(" · ") }] }),
  moved: ({ chart, about }, [row]) => ({ title: chart.labels[row], rows: [{ name: chart.title, value: [`${chart.ends[row]} (${chart.deltas[row]})`, about.details[row]].filter(Boolean).join(" · ") }] }),
  lines: ({ chart, about }, [, step]) => ({
    title: about.cell && !Number.isNaN(Number(chart.steps[step])) ? say(about.cell, { step: withMinus(chart.steps[step]) }) : withMinus(chart.steps[step]),
    rows: chart.series.map((line) => ({ name: line.name, value: threeDigits(line.values[step]), line })),
  }),
  grid: ({ chart }, [row, column]) => ({ title: chart.cells[row][column].alt, rows: [] }),
  points: ({ chart, about }, [, index]) => ({
    title: about.details[index] ?? String(index + 1), named: true,
    rows: (chart.near?.[index] ?? []).map(([other, hundredths]) => ({ name: chart.names[other], value: (hundredths / 100).toFixed(2).replace("-", "−") })),
  }),
  matrix: ({ chart, about }, [row, column]) => ({
    title: say(about.cell || TEXTS.pictures.pair, { row: chart.rows[row], column: chart.columns[column] }),
    rows: [{ name: chart.title, value: about.details[row * chart.columns.length + column] || fullNumber(chart, chart.cells[row * chart.columns.length + column]) }],
  }),
};

// A number with all its digits.
function fullNumber({ colouring, root }, value) {
  if (value === -Infinity) return "−∞";
  if (value !== 0 && Math.abs(value) < 0.0005) return value.toExponential(1).replaceAll("-", "−");
  const sign = colouring === "signed" && root && value > 0 ? "+" : "";
  return sign + value.toFixed(Math.abs(value) >= 100 ? 1 : 3).replace("-", "−");
}

const readingOf = (made, spot) => READ[made.chart.kind](made, spot);
