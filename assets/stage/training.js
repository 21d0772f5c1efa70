// The stage of a model that is trained on its page: what it makes of an input and where its heads look, at any moment of its training,
// beside the curves of that training and its buttons. The rest is the stage of attention.

import { button, element, setText, visible } from "../canvas/core/surface.js";
import { TEXTS } from "../canvas/core/texts.js";
import { applyTheme } from "../canvas/core/theme.js";
import { attentionStage } from "./attention.js";
import { headsWritten } from "./core/address.js";
import { headName } from "./core/sentences.js";
import { segments } from "./core/toolbar.js";
import { drawTraining, makeTraining } from "./core/training.js";
import { drawArchitecture, makeArchitecture } from "./views/architecture.js";
import { drawChart, makeChart } from "./views/chart.js";

const FIELDS = {
  stack: ["kind", String], heads: ["head", headsWritten], show: String, lines: String, scale: String,
  focus: (place) => (place === null ? "" : String(place + 1)), moment: (batch) => (batch === null ? "" : String(batch)),
};
const PARTS = { entry: "training", fields: FIELDS, arrange, take, settle, draw, controls, headsInWords };
const [CURVE_HEIGHT, LEAST_CURVE, BETWEEN_CURVES] = [150, 64, 8]; // pixels

export const { mount, offline } = attentionStage(PARTS);
export default mount;

// What begins the toolbar: the buttons of the training, and how far it is.
function controls(stage) {
  stage.training = makeTraining((wish) => ask(stage, wish), (wish) => report(stage, wish));
  return [stage.training.node];
}

// What the model makes of the input stands before the map; the training beside it.
function arrange(stage) {
  const texts = TEXTS.training;
  stage.answer = makeChart({ choose: () => {} });
  stage.above = makeChart({ choose: () => {} });
  stage.rows = element("table", { class: "answer-rows" });
  stage.rowsBox = element("div", { class: "scroller", tabindex: "0", role: "region", "aria-label": texts.answer }, stage.rows);
  stage.notes = element("div", { class: "answer-notes" });
  stage.other = element("p", { class: "quiet-text" });
  stage.showOther = button(texts.showOther, () => ask(stage, "show"), { class: "chip" });
  stage.curves = [];
  stage.charts = element("div", { class: "curves" });
  stage.ends = segments(texts.ends, [["first", texts.untrained], ["last", texts.trained]], (end) => turn(stage, end === "first" ? 0 : Infinity));
  stage.slider = element("input", { type: "range", min: "0", step: "1", "aria-label": texts.moments });
  stage.slider.oninput = () => turn(stage, stage.header.moments[Number(stage.slider.value)].batch);
  stage.moments = element("div", { class: "moments" }, stage.ends, stage.slider);
  const training = element("section", { class: "training", "aria-label": texts.training, "data-testid": "training" }, stage.training.problem,
    element("div", { class: "other" }, stage.other, stage.showOther), stage.moments, stage.charts, stage.training.far);
  stage.side.prepend(stage.answer.node, training);
  stage.body.append(element("div", { class: "looks" }, stage.above.node, stage.rowsBox, stage.notes, stage.bars.node, stage.picture));
  stage.model = makeArchitecture(({ kind }) => stage.store.set({ stack: kind }));
  stage.root.append(stage.model.node);
  stage.root.classList.add("trainer");
}

// A head that the page chose by itself gives way to the one that it chooses now.
function take(stage, view, before) {
  const { header } = stage;
  if (before && String(view.heads) === String(before.address.defaults.heads)) view.heads = header.address.defaults.heads;
  turnTo(stage, view.moment);
}

function settle(stage, state, before) {
  if (state.moment !== before.moment) turnTo(stage, state.moment);
}

// A moment is the last one that is not after the batch that is asked for; where none is, the last of all.
function turnTo(stage, batch) {
  const { header } = stage;
  const { moments } = header;
  const moment = batch === null ? moments.at(-1) : moments.findLast((one) => one.batch <= batch) ?? moments[0];
  if (header.run === moment) return;
  Object.assign(header, { run: moment, stacks: moment.stacks, model: moment.model });
  stage.views.clear();
}

function headsInWords({ header: { run } }, { heads }) {
  return `${run.title}: ${run.said} ${headName(heads)}`;
}

// Shows the model after so many batches; the last moment stays the last while a training goes on.
function turn(stage, batch) {
  const { moments } = stage.header;
  stage.store.set({ moment: batch >= moments.at(-1).batch ? null : batch });
}

function ask(stage, wish) {
  stage.store.set({ moment: null });
  report(stage, wish);
}

const report = (stage, wish) => stage.report("settings", { training: wish });

function draw(stage) {
  const { header, root } = stage;
  const { training, run, moments } = header;
  root.classList.toggle("waits", !run && Boolean(training));
  if (!training) return;
  const theme = run ? stage.theme : applyTheme(root);
  drawTraining(stage.training, header, stage.offline);
  setText(stage.other, stage.offline ? "" : training.other);
  stage.other.hidden = stage.showOther.hidden = !stage.other.textContent;
  stage.said.ariaLive = training.running ? "off" : "polite"; // it changes every second
  const places = run ? moments.indexOf(run) : -1;
  stage.moments.hidden = !run || moments.length < 2;
  if (run) {
    setText(stage.title, [header.model, headName(stage.store.get().heads), `“${header.text}”`].map(visible).join(" · "));
    Object.assign(stage.slider, { max: String(moments.length - 1), value: String(places) });
    stage.slider.ariaValueText = run.title;
    stage.ends.hidden = moments[0].batch > 0;
    stage.ends.set(places === 0 ? "first" : places === moments.length - 1 ? "last" : "");
    drawAnswer(stage, run, theme);
  }
  drawCurves(stage, training.curves, run?.batch ?? 0, theme);
  drawModel(stage);
}

function drawAnswer(stage, { drawn: { side, above, rows, notes } }, theme) {
  const about = { theme, height: 0, sentence: "", cell: TEXTS.training.cell, details: [], canChoose: false };
  for (const [view, chart] of [[stage.answer, side], [stage.above, above]]) {
    view.node.hidden = !chart;
    if (chart) drawChart(view, chart.cells ? { ...chart, cells: chart.cells.flat() } : chart, { ...about, width: view.node.clientWidth });
  }
  stage.rowsBox.hidden = !rows;
  if (rows) drawRows(stage.rows, rows);
  stage.notes.replaceChildren(...notes.map((note) => element("p", {}, note)));
}

// Rows of words or numbers below each other, and whether what stands in a column is right.
function drawRows(table, { names, cells, right }) {
  const row = (name, values, make) => element("tr", {}, element("th", { scope: "row" }, name), ...values.map(make));
  const marks = right ? [row(TEXTS.training.isRight, right, (is) => element("td", { class: is ? "right" : "wrong" }, is ? "✓" : "✗"))] : [];
  table.replaceChildren(element("tbody", {}, ...names.map((name, number) => row(name, cells[number], (value) => element("td", {}, visible(value)))), ...marks));
}

// A click on a point of a curve shows the model at that batch; a mark says at which it is shown.
function drawCurves(stage, curves, batch, theme) {
  while (stage.curves.length < curves.length) {
    const number = stage.curves.length;
    stage.curves.push(makeChart({ choose: (step) => turn(stage, Number(stage.header.training.curves[number].steps[step])) }));
  }
  stage.curves.forEach(({ node }, number) => {
    if (number >= curves.length) node.remove();
    else if (!node.isConnected) stage.charts.append(node); // one that is moved loses the focus
  });
  const { side, answer, root } = stage;
  const areAlone = root.classList.contains("presented") && answer.node.hidden; // in sight of a room all at once
  const size = areAlone ? { height: Math.floor(side.clientHeight / curves.length) - BETWEEN_CURVES, least: LEAST_CURVE } : { height: CURVE_HEIGHT };
  curves.forEach((curve, number) => {
    const view = stage.curves[number];
    const series = curve.series.map((line) => ({ ...line, values: line.values.map((value) => value ?? NaN) }));
    const canChoose = Boolean(stage.header.run);
    const shown = curve.steps.findLastIndex((step) => Number(step) <= batch);
    drawChart(view, { ...curve, series, shown }, { theme, width: view.node.clientWidth, ...size, sentence: "", cell: TEXTS.training.step, details: [], canChoose });
  });
}

// The architecture, in which the kind of attention that is shown is lit.
function drawModel({ header: { architecture }, model, store }) {
  model.node.hidden = !architecture;
  if (!architecture) return;
  const lit = (boxes) => boxes.map((box) => ({ ...box, lit: box.sets.kind === store.get().stack }));
  drawArchitecture(model, { ...architecture, stacks: architecture.stacks.map((stack) => ({ ...stack, parts: lit(stack.parts) })) });
}
