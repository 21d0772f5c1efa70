// The stage of a page of pictures: charts, and the controls that the page lists. Python sends the charts with the values of the
// controls under which each is shown; this module owns which of them is looked at. See README.md.

import { element, setText, visible } from "../canvas/core/surface.js";
import { TEXTS } from "../canvas/core/texts.js";
import { applyTheme } from "../canvas/core/theme.js";
import { compute, onTurn } from "./core/page.js";
import { placeStage } from "./core/place.js";
import { packStage, unpackStage } from "./core/run.js";
import { arrive, begin, fileHeader, noteLooks, setQuietly, stageOf } from "./core/stage.js";
import { makeStore } from "./core/store.js";
import { isOn } from "./core/controls.js";
import { makeControls } from "./pictures/toolbar.js";
import { takeMatrices } from "./matrices/matrix.js";
import { drawTraining, makeTraining } from "./core/training.js";
import { drawArchitecture, makeArchitecture } from "./views/architecture.js";
import { drawChart, isFlexible as canStretch, makeChart } from "./views/chart.js";
import { drawFramed, makeFramed } from "./views/framed.js";
import { drawListing, makeListing } from "./views/listing.js";
import { drawSteps, makeSteps, turnSteps } from "./views/steps.js";

const [GAP, LEAST, NARROW] = [24, 200, 320]; // pixels between pictures; the least height of one; the height of one on a narrow screen
const AROUND = 110; // pixels of title, legend and sentence around the cells of a matrix that is as high as the bars beside it
const [MATRICES, NARROW_MATRICES] = [540, 600]; // the least height of matrices with a sum
const TOLD = "attention-picture-told"; // the event by which pictures beside a stage tell of the cell that stands in its address
const isFlexible = (chart) => chart.kind === "matrices" || canStretch(chart);

export const { mount, offline } = stageOf({ make: makeStage, receive, written: ({ store }) => store.get(), redraw: draw, end: ({ ended }) => ended() });
export default mount;

function makeStage(parent) {
  const stage = begin({ store: makeStore({}), asked: {}, all: [], rows: [], turned: 0, made: [] }, parent, "pictures", draw);
  stage.act = makeActions(stage);
  stage.isLook = (name) => name in stage.header.view;
  stage.isFixed = (name) => stage.offline && (!stage.isLook(name) || name in stage.header.partial); // nobody computes
  stage.wholeMessage = () => wholeMessage(stage);
  const stopTurning = onTurn(stage, (by) => turn(stage, by));
  const takeTold = ({ detail }) => Object.keys(detail).every((name) => name in (stage.header?.view ?? {})) && stage.store.set(detail);
  addEventListener(TOLD, takeTold);
  stage.ended = () => {
    stopTurning();
    removeEventListener(TOLD, takeTold);
  };
  stage.store.onChange((state, before) => changed(stage, state, before));
  return stage;
}

// The parts of the stage; made when the texts are here.
function build(stage) {
  stage.title = element("p", { class: "stage-title" });
  stage.controls = makeControls(stage);
  stage.waiting = element("p", { class: "waiting", role: "status" });
  stage.above = element("div", { class: "steps-row" }, stage.controls.row, stage.waiting);
  stage.training = makeTraining(stage.act.train, stage.act.train);
  stage.architecture = makeArchitecture((values) => stage.act.setAll(values));
  stage.body = element("div", { class: "pictures-body" });
  stage.root.append(stage.title, stage.above, stage.controls.node, stage.training.problem, stage.architecture.node, stage.body, stage.training.far);
}

// What a reader does. What only looks changes the state; what computes is reported.
function makeActions(stage) {
  return {
    set: (name, value) => stage.act.change({ [name]: value }),
    change: (change) => (Object.keys(change).every(stage.isLook) ? stage.store.set(change) : stage.act.compute(change)),
    setAll(values) {
      const [looks, others] = [true, false].map((isLook) => Object.fromEntries(Object.entries(values).filter(([name]) => stage.isLook(name) === isLook)));
      if (Object.keys(looks).length) stage.store.set(looks);
      if (Object.keys(others).length) stage.act.compute(others);
    },
    compute(change) {
      if (stage.offline) return;
      stage.asked = { ...stage.asked, ...change };
      stage.controls.sync(valuesOf(stage));
      compute(stage, "settings", stage.asked);
    },
    train: (training) => stage.report("settings", { training }),
  };
}

// What every field has now. A value that its control does not offer counts as the one that stands in for it.
function valuesOf({ header, asked, store }) {
  const values = { ...header.settings, ...asked, ...store.get() };
  for (const { name, fallback, options } of header.controls) if (fallback && !options.some(([one]) => one === values[name])) values[name] = fallback;
  return values;
}

// Takes in what Python sent: pictures, and on arrival the view that is asked for. Everything else of the view is kept.
function receive(stage, data) {
  const { header, body } = unpackStage(data);
  const isOtherText = stage.header && stage.header.text !== header.text;
  Object.assign(stage, { data, asked: {}, pictures: takePictures(header, body) });
  const { isNew, known } = arrive(stage, header, build);
  stage.above.hidden = stage.controls.node.hidden = stage.title.hidden = !header.address; // pictures beside the stage of their page
  stage.root.dataset.testid = header.address ? "stage" : "pictures";
  const forgotten = isOtherText ? Object.assign({}, ...header.pictures.map(({ chart }) => chart.forgets)) : {};
  setQuietly(stage, isNew ? known || header.view : { ...header.view, ...stage.store.get(), ...forgotten });
  const state = stage.store.get();
  if (header.follows && Object.keys(header.view).some((name) => state[name] !== header.view[name])) stage.follow();
}

// Each picture with its numbers, a row after the other behind the header. What it does not say is empty.
const NOTHING = { sentence: "", cell: "", details: [], when: {}, chooses: "", choices: [], varies: "", variants: {}, link: null };

function takePictures(header, body) {
  let start = 0;
  return header.pictures.map((picture) => {
    const { chart } = picture;
    if (chart.kind === "matrices") {
      const model = takeMatrices({ header: chart, body: body.subarray(start, (start += chart.bytes)) }, TEXTS.matrices);
      return { ...picture, values: [], chart: { ...chart, model } };
    }
    const [rows, columns] = [header.names[picture.rows], header.names[picture.columns]];
    const size = rows.length * columns.length;
    const values = new Float32Array(body.slice(start, (start += 4 * size)).buffer);
    const drawn = { ...chart };
    if (chart.kind === "matrix") Object.assign(drawn, { rows, columns, cells: values });
    if (chart.nearest) drawn.inEachLayer = Array.from({ length: chart.nearest.length }, (_, layer) => rows.map((_, row) => Array.from(values.subarray(row * columns.length + 2 * layer, row * columns.length + 2 * layer + 2))));
    if (chart.kind === "lines") {
      const series = chart.series.map((line, row) => ({ ...line, values: Array.from(values.subarray(row * columns.length, (row + 1) * columns.length)) }));
      Object.assign(drawn, { steps: columns, series });
    }
    return { ...NOTHING, ...picture, rows, columns, values, chart: drawn };
  });
}

function changed(stage, state, before) {
  const { header, offline: isFile } = stage;
  draw(stage);
  if (header.tells && !stage.quiet) dispatchEvent(new CustomEvent(TOLD, { detail: { [header.tells]: state.cell } }));
  if (isFile || !header.address) return;
  askForOthers(stage);
  noteLooks(stage, state, before, Object.fromEntries(Object.keys(header.view).map((name) => [name, String])));
  if (!stage.quiet && state.kind !== before.kind) askForPadding(stage, state.kind);
}

// A mask of padding that a reader chooses would hide nothing where there is none: it asks for some.
function askForPadding(stage, kind) {
  const { masking } = stage.rows.flat().find(({ chart }) => chart.masking)?.chart ?? {};
  const padding = masking?.padding[kind];
  if (padding && valuesOf(stage).padding === "0") stage.act.compute({ padding });
}

// Has what is looked at computed where it was not sent, once for each look.
function askForOthers(stage) {
  const { header } = stage;
  const values = valuesOf(stage);
  const partial = Object.entries(header.partial);
  const looked = JSON.stringify(partial.map(([name]) => values[name]));
  if (partial.every(([name, sent]) => sent.includes(values[name])) || looked === stage.looked) return;
  stage.looked = looked;
  stage.act.compute({});
}

// --- Drawing

// The pictures that are shown, row by row, each as it is for what is chosen; until others are computed, those of before.
function shownRows(stage, values) {
  const shown = stage.pictures.filter(({ when }) => isOn(when, values)).map((picture) => picked(asChosen(picture, values), values));
  if (!shown.length && Object.keys(stage.header.partial).length) return stage.all;
  const numbers = [...new Set(shown.map(({ row }) => row))].sort((one, other) => one - other);
  return numbers.map((number) => shown.filter(({ row }) => row === number));
}

function asChosen(picture, values) {
  const { chart: other, ...more } = picture.variants[values[picture.varies]] ?? {};
  const { chart, chooses, choices, link, ...shown } = { ...picture, ...more };
  const chosen = chooses ? choices.lastIndexOf(values[chooses]) : -1;
  const across = { grid: chart.cells?.[0]?.length, matrix: chart.columns?.length }[chart.kind];
  const inCells = across && chosen >= 0 ? { chosen: [Math.floor(chosen / across), chosen % across] } : {};
  const place = chart.kind === "lines" ? { shown: chosen } : inCells;
  const looks = values[picture.varies] ? `&${picture.varies}=${encodeURIComponent(values[picture.varies])}` : "";
  const leads = link && [link[0], link[1] + looks];
  const drawn = inLayer(listed({ ...chart, ...replaced(chart, other), ...place }), values, chosen);
  const numbers = other?.labels ? { rows: drawn.labels, values: drawn.values } : {};
  return { ...shown, ...numbers, chart: drawn, chooses, choices, chosen, link: leads };
}

// What is different of bars: whole lists, or those rows of them that `at` names.
function replaced(chart, other) {
  if (!other?.at) return other;
  const merged = (name) => other.at.reduce((rows, row, place) => rows.with(row, other[name][place] ?? rows[row]), chart[name]);
  return Object.fromEntries(["labels", "values", "ends"].map((name) => [name, merged(name)]));
}

// A listing of some of many entries, each of which is sent once: picks have the first cell of a row and the number of its entry, of
// which the last is its address; `adds` goes behind the address.
function listed(chart) {
  const { picks, entries, adds } = chart;
  if (!picks) return chart;
  const rows = picks.map(([first, number]) => [first, ...entries[number].slice(0, -1)]);
  return { ...chart, rows, links: picks.map(([, number]) => entries[number].at(-1) && entries[number].at(-1) + adds) };
}

// Points that move with the look `layer` and are coloured by the look `colour`; all layers have one scale.
function inLayer(chart, values, chosen) {
  const { inEachLayer, colourings, nearest } = chart;
  if (!nearest) return chart;
  const layer = Math.min(Number(values.layer), inEachLayer.length - 1);
  const near = nearest[layer];
  const kinds = colourings[values.colour] ?? Object.values(colourings)[0];
  return { ...chart, places: inEachLayer[layer], bounds: inEachLayer.flat(), kinds, chosen, near, neighbours: near[chosen]?.map(([other]) => other) ?? [] };
}

// A picture with those of its lines, or of its columns, that are chosen; lines take the looks of the first ones.
function picked(picture, values) {
  const { chart, picks } = picture;
  if (!picks) return picture;
  const chosen = values[picks] === "none" ? [] : values[picks].split("-").map((one) => Number(one) - 1);
  const of = (all) => chosen.filter((place) => place < all.length).map((place) => all[place]);
  if (chart.kind === "lines") {
    const series = of(chart.series).map((line, place) => ({ ...line, ...LINE_LOOKS.reduce((looks, name) => ({ ...looks, [name]: chart.series[place][name] }), {}) }));
    return { ...picture, chart: { ...chart, series } };
  }
  const kept = ([first, ...others]) => [first, ...of(others)];
  return { ...picture, chart: { ...chart, head: kept(chart.head), rows: chart.rows.map(kept) } };
}

const LINE_LOOKS = ["colour", "dash", "mark"];

function draw(stage) {
  const { header, root, body } = stage;
  const values = valuesOf(stage);
  const theme = applyTheme(root);
  stage.all = shownRows(stage, values);
  const trains = header.training?.buttons.length || header.training?.running;
  root.classList.toggle("empty", !stage.all.length && !header.controls.length && !trains);
  const height = Math.min(placeStage(root), header.height ?? Infinity);
  stage.rows = root.classList.contains("presented") ? stage.all.slice(rowShown(stage), rowShown(stage) + 1) : stage.all;
  const { architecture } = header;
  stage.architecture.node.hidden = !architecture;
  if (header.training) drawTraining(stage.training, header, stage.offline);
  else for (const node of [stage.training.node, stage.training.problem, stage.training.far]) node.hidden = true;
  stage.controls.sync(values);
  setText(stage.title, [header.title, header.title.includes(header.model) ? "" : header.model, header.text && `“${header.text}”`].filter(Boolean).map(visible).join(" · "));
  stage.isFramed = stage.rows.flat().some(({ chart }) => chart.kind === "framed");
  makeViews(stage);
  const isWide = root.classList.contains("wide");
  if (architecture) drawArchitecture(stage.architecture, architecture);
  for (const [number, row] of stage.rows.entries()) {
    const shares = isWide ? row.map(({ share }) => `minmax(0, ${share}fr)`).join(" ") : "minmax(0, 1fr)";
    body.children[number].style.gridTemplateColumns = shares;
  }
  const own = stage.rows.map((row) => (row.some(({ chart }) => isFlexible(chart)) ? null : drawRow(stage, row, theme, 0)));
  const above = [stage.title, stage.controls.node, stage.architecture.node, stage.above, stage.training.problem, stage.training.far].reduce((sum, { offsetHeight }) => sum + offsetHeight + (offsetHeight ? 8 : 0), 0);
  const left = height - above - own.reduce((sum, taken) => sum + (taken ?? 0), 0) - GAP * Math.max(0, own.length - 1);
  const each = isWide ? Math.max(LEAST, Math.floor(left / Math.max(1, own.filter((taken) => taken === null).length))) : NARROW;
  stage.rows.forEach((row, number) => own[number] === null && drawRow(stage, row, theme, each));
  root.dataset.run = JSON.stringify(header.settings);
  root.dataset.paints = String((stage.paints = (stage.paints ?? 0) + 1));
}

// To a room one row is shown at a time.
const rowShown = ({ all, turned }) => Math.min(turned, all.length - 1);

function turn(stage, by) {
  const steps = stage.rows[0]?.find(({ chart }) => chart.kind === "matrices");
  if (steps && turnSteps(steps.view, by)) return true;
  const next = rowShown(stage) + by;
  if (!stage.all[next]) return false;
  stage.turned = next;
  draw(stage);
  return true;
}

// Draws the pictures of a row, and returns how high it is.
function drawRow(stage, row, theme, least) {
  const isWide = stage.root.classList.contains("wide");
  const isPresented = stage.root.classList.contains("presented");
  let height = least;
  for (const picture of row.toSorted((one, other) => isFlexible(one.chart) - isFlexible(other.chart))) {
    const { view, chart, sentence, cell, details, chooses, chosen } = picture;
    if (chart.kind === "matrices") {
      const tall = isPresented ? height : isWide ? Math.max(MATRICES, height) : NARROW_MATRICES;
      drawSteps(view, chart, valuesOf(stage), { theme, width: view.node.clientWidth, height: tall, sentence });
      continue;
    }
    if (chart.kind === "framed") {
      drawFramed(view, chart, valuesOf(stage), theme);
      continue;
    }
    const canChoose = Boolean(chooses) && !stage.isFixed(chooses);
    const link = stage.offline ? null : picture.link;
    const draw = chart.kind === "listing" ? drawListing : drawChart;
    draw(view, chart, { theme, width: view.node.clientWidth, height, sentence, cell, details, canChoose, chosen, link });
    if (isWide && !isPresented && chart.kind === "bars") height = Math.max(height, view.laid.height + AROUND);
  }
  return row[0].view.node.parentElement.offsetHeight;
}

const MAKE = { framed: makeFramed, listing: makeListing, matrices: ({ setAll }, { masking }) => makeSteps(setAll, masking) };

// One view for each picture that is shown, kept while the picture at its place is of the same kind.
function makeViews(stage) {
  const { body, rows, act } = stage;
  const pattern = JSON.stringify(rows.map((row) => row.map(({ chart: { kind, masking } }) => (kind in MAKE ? `${kind} ${Boolean(masking)}` : ""))));
  if (stage.pattern !== pattern) {
    stage.pattern = pattern;
    stage.made = rows.map((row) => row.map(({ chart }) => {
      const holder = { picture: null };
      const open = stage.offline ? null : (address) => stage.report("opened", { address });
      const choose = (number) => act.set(holder.picture.chooses, holder.picture.choices[number]);
      holder.view = (MAKE[chart.kind] ?? makeChart)({ open, choose, setAll: act.setAll, again: () => act.compute({}) }, chart);
      return holder;
    }));
    body.replaceChildren(...stage.made.map((row) => element("div", { class: "pictures-row" }, ...row.map(({ view }) => view.node))));
  }
  rows.forEach((row, number) => row.forEach((picture, place) => {
    const holder = stage.made[number][place];
    picture.view = holder.view;
    holder.picture = picture;
  }));
  const axes = ({ rows: down, columns }) => JSON.stringify([down, columns]);
  const shown = rows.flat().filter(({ chart }) => chart.kind === "matrix");
  for (const one of rows.flat()) one.view.linked = [];
  for (const one of shown) one.view.linked = shown.filter((other) => other !== one && axes(other) === axes(one)).map(({ view }) => view);
}

// The message again as it is looked at now, for a file that needs no server.
function wholeMessage({ data, store }) {
  const { header, body } = unpackStage(data);
  const controls = header.controls.map((control) => (control.name in header.partial ? { ...control, looks: false } : control));
  return packStage(fileHeader(header, { controls, view: store.get() }), body);
}
