// Words in a row and, for every pair of them, an arc from the word that attends to the word attended to: over the row where
// that stands before, under it where it stands after. On a narrow screen the words stand in a column, with arcs on both sides.
// Whoever points at a word, taps it, or comes to it by keyboard sees its arcs alone and reads what they are.

import { element, mountOnce, setText, sharpen, visible, watchScreen } from "../core/surface.js";
import { css, mix } from "../core/palette.js";
import { applyTheme } from "../core/theme.js";

const NARROW = 620; // pixels: below, the words stand in a column
const LARGEST_FONT = 30;
const GAP = 0.62; // at least, between two words, in heights of a letter
const WIDEST_GAP = 1.1;
const COLUMN_ROW = 46;
const SPACE = 38; // between the arcs of both sides, for the words
const FLATNESS = 0.82; // height of an arc by half its width
const GROWING_MS = 900;
const FADED = 0.07;

export default function mountArcs({ data, parentElement }) {
  const [chart, end] = mountOnce(parentElement, makeArcs, removeArcs);
  receiveArcs(chart, data);
  return end;
}

function makeArcs(parent) {
  const chart = { buttons: [], pointed: null, chosen: null, width: 0, began: null, frame: null };
  chart.canvas = element("canvas", { "aria-hidden": "true" });
  chart.words = element("div", { class: "words", role: "group" });
  chart.stage = element("div", { class: "stage" }, chart.canvas, chart.words);
  chart.readout = element("p", { class: "readout", role: "status", "aria-live": "polite", "data-testid": "arcs-readout" });
  chart.root = element("div", { class: "arcs", "data-testid": "arcs" }, chart.stage, chart.readout);
  parent.querySelector(".arcs-view").append(chart.root);
  const wordOf = (target) => chart.buttons.indexOf(target.closest?.("button"));
  const point = (word) => {
    chart.pointed = word < 0 ? null : word;
    show(chart);
  };
  chart.words.onpointerover = ({ target, pointerType }) => pointerType === "mouse" && point(wordOf(target));
  chart.words.onpointerleave = () => point(-1);
  chart.words.addEventListener("focusin", ({ target }) => target.matches(":focus-visible") && choose(chart, wordOf(target)));
  chart.words.onclick = ({ target }) => wordOf(target) >= 0 && choose(chart, chart.chosen === wordOf(target) ? null : wordOf(target));
  chart.words.onkeydown = (event) => press(chart, event);
  chart.observer = new ResizeObserver(() => chart.root.clientWidth !== chart.width && lay(chart));
  chart.observer.observe(chart.root);
  chart.stopWatching = watchScreen(() => lay(chart));
  return chart;
}

function removeArcs(chart) {
  chart.observer.disconnect();
  chart.stopWatching();
  if (chart.frame !== null) cancelAnimationFrame(chart.frame);
  chart.root.remove();
}

function receiveArcs(chart, data) {
  chart.data = data;
  chart.theme = applyTheme(chart.root);
  chart.words.setAttribute("aria-label", visible(data.alt));
  if (chart.buttons.length !== data.words.length) chart.chosen = chart.pointed = null;
  chart.buttons = data.words.map(() => element("button", { type: "button", tabindex: "-1" }));
  chart.buttons.forEach((button, word) => button.append(visible(data.words[word])));
  chart.words.replaceChildren(...chart.buttons);
  if (chart.began === null) chart.began = matchMedia("(prefers-reduced-motion: reduce)").matches ? -GROWING_MS : performance.now();
  lay(chart);
}

// One word can be reached by Tab, the others by the arrow keys.
function press(chart, event) {
  if (event.altKey || event.ctrlKey || event.metaKey) return;
  const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
  const here = chart.buttons.findIndex((button) => button.matches(":focus"));
  if (event.key === "Escape") choose(chart, null);
  else if (step && chart.buttons[here + step]) {
    chart.buttons[here + step].focus();
    choose(chart, here + step);
  } else return;
  event.preventDefault();
}

function choose(chart, word) {
  chart.chosen = word;
  show(chart);
}

function show(chart) {
  const word = chart.pointed ?? chart.chosen;
  chart.buttons.forEach((button, number) => {
    button.setAttribute("aria-pressed", String(number === chart.chosen));
    button.tabIndex = number === (chart.chosen ?? 0) ? 0 : -1;
    const seen = word === null ? 1 : Math.max(0, ...chart.data.arcs.filter(([from, to]) => from === word && to === number).map(([, , weight]) => weight));
    button.classList.toggle("from", number === word);
    button.classList.toggle("quiet", number !== word && word !== null && seen === 0);
    button.classList.toggle("to", number !== word && word !== null && seen > 0);
  });
  setText(chart.readout, word === null ? chart.data.hint : chart.data.said[word]);
  chart.root.dataset.word = word ?? "";
  paint(chart);
}

// Places the words; both layouts give each a place along the line that the arcs span.
function lay(chart) {
  const width = (chart.width = chart.root.clientWidth);
  if (!width) return;
  chart.column = width < NARROW;
  chart.root.classList.toggle("column", chart.column);
  const context = chart.canvas.getContext("2d");
  const widthsAt = (size) => {
    context.font = `500 ${size}px ${chart.theme.font}`;
    return chart.data.words.map((word) => context.measureText(visible(word)).width);
  };
  const unit = widthsAt(100).reduce((sum, one) => sum + one + 100 * GAP, 0) / 100;
  const size = chart.column ? 18 : Math.min(LARGEST_FONT, (width - 24) / unit);
  const widths = widthsAt(size);
  const letters = widths.reduce((sum, wide) => sum + wide, 0);
  const gap = Math.min(WIDEST_GAP * size, (width - 24 - letters) / widths.length);
  let at = (width - letters - gap * widths.length) / 2;
  chart.places = widths.map((wide, word) => {
    if (chart.column) return (word + 0.5) * COLUMN_ROW;
    at += wide + gap;
    return at - (wide + gap) / 2;
  });
  chart.half = chart.column ? Math.max(...widths) / 2 + 8 : SPACE / 2;
  const spans = chart.data.arcs.map(([from, to]) => Math.abs(chart.places[from] - chart.places[to]) / 2);
  const tallest = chart.column ? width / 2 - chart.half - 6 : 168;
  chart.slope = Math.min(FLATNESS, tallest / Math.max(1, ...spans));
  const reach = Math.max(0, ...spans) * chart.slope;
  chart.height = chart.column ? COLUMN_ROW * widths.length : 2 * (reach + chart.half + 6);
  chart.middle = chart.column ? width / 2 : chart.height / 2;
  chart.stage.style.height = `${chart.height}px`;
  chart.buttons.forEach((button, word) => {
    const [x, y] = chart.column ? [chart.middle, chart.places[word]] : [chart.places[word], chart.middle];
    button.style.cssText = `left: ${x}px; top: ${y}px; font-size: ${size}px; padding: 0 ${(chart.column ? size : gap) / 2 - 1}px`;
  });
  show(chart);
}

function paint(chart) {
  if (!chart.width) return;
  const grown = Math.min(1, (performance.now() - chart.began) / GROWING_MS);
  const context = sharpen(chart.canvas, chart.width, chart.height);
  const word = chart.pointed ?? chart.chosen;
  context.lineCap = "round";
  const ordered = [...chart.data.arcs].sort((one, other) => (one[0] === word) - (other[0] === word) || one[2] - other[2]);
  for (const arc of ordered) paintArc(chart, context, arc, word, 1 - (1 - grown) ** 3);
  if (chart.frame !== null) cancelAnimationFrame(chart.frame);
  chart.frame = grown < 1 ? requestAnimationFrame(() => paint(chart)) : null;
  chart.root.dataset.painted = String(chart.data.arcs.length);
}

// Faint where the arc leaves its word, and full where it arrives; the wider, the larger the weight.
function paintArc(chart, context, [from, to, weight], word, grown) {
  const [start, end] = [chart.places[from], chart.places[to]];
  const back = end < start;
  const span = Math.abs(end - start) / 2;
  const side = (back ? -1 : 1) * chart.half + chart.middle;
  const colour = word === from ? chart.theme.accent : css(back ? chart.theme.line : mix(chart.theme.line, violet(chart.theme), 0.25));
  const gradient = chart.column ? context.createLinearGradient(0, start, 0, end) : context.createLinearGradient(start, 0, end, 0);
  gradient.addColorStop(0, transparent(colour, 0.16));
  gradient.addColorStop(1, colour);
  context.globalAlpha = word === null ? 0.2 + 0.8 * weight : word === from ? 0.45 + 0.55 * weight : FADED;
  context.strokeStyle = gradient;
  context.lineWidth = 1 + 5.5 * weight * weight;
  context.beginPath();
  const steps = 40;
  for (let step = 0; step <= steps; step += 1) {
    const turn = Math.PI * (step / steps) * grown;
    const along = (start + end) / 2 + ((start - end) / 2) * Math.cos(turn);
    const away = side + (back ? -1 : 1) * span * chart.slope * Math.sin(turn);
    const [x, y] = chart.column ? [away, along] : [along, away];
    context[step ? "lineTo" : "moveTo"](x, y);
  }
  context.stroke();
}

function violet({ second }) {
  return [1, 3, 5].map((at) => parseInt(second.slice(at, at + 2), 16));
}

function transparent(colour, share) {
  return `color-mix(in srgb, ${colour} ${100 * share}%, transparent)`;
}
