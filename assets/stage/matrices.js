// A stage of matrices: a computation step by step, the matrices of one step, and the sum behind any cell; and a small stage that may
// stand below it, a lookup in a store of keys and values. Python sends the numbers and which controls compute; this module owns how they
// are looked at. See README.md.

import { drawDimensions, exists, rowOf } from "./matrices/matrix.js";
import { element, mountOnce, setText, visible, watchScreen } from "../canvas/core/surface.js";
import { TEXTS } from "../canvas/core/texts.js";
import { filled } from "../canvas/core/text.js";
import { applyTheme } from "../canvas/core/theme.js";
import { addressOf, flag, makeAddressWriter, writtenView } from "./core/address.js";
import { takeMatrices } from "./core/matrices.js";
import { compute, computed, connect, full, onTurn, present, tellLook } from "./core/page.js";
import { placeStage } from "./core/place.js";
import { unpackStage } from "./core/run.js";
import { makeStore } from "./core/store.js";
import { makeControls } from "./matrices/toolbar.js";
import { drawArchitecture, makeArchitecture } from "./views/architecture.js";
import { drawMatrices, fillLegend, makeMatrices, same, zoomed } from "./views/matrices.js";
import { drawSum, makeSum } from "./views/sum.js";

const [NARROW_HEIGHT, ALL_HEIGHT, LOOKUP_HEIGHT] = [360, 640, 240];
const [SUM_HEIGHT, GAP] = [128, 8]; // pixels kept for a sum of one line, so that cells stay as they are from one sum to the next
const ANSWER = "attention-lookup-cell"; // the event by which the small stage tells of its cell, which stands in the same address
const cellWritten = (cell) => (cell ? `${cell.matrix}-${cell.row + 1}-${cell.column + 1}` : "none");
const WRITE = { numbers: flag, dimensions: String, cell: cellWritten, matrices: String, answer: cellWritten };
const looksOf = ({ address: { defaults } }) => Object.fromEntries(Object.keys(defaults).map((name) => [name, WRITE[name] ?? String])); // by name, how each is written
const cellOf = (sent) => (sent ? { matrix: sent[0], row: sent[1], column: sent[2] } : null);
const lookOf = (view) => ({ ...view, cell: cellOf(view.cell), answer: cellOf(view.answer) });
const views = new Map(); // by page, or step of a room: how it was looked at last, for who comes back to it

export default mountWith({ entry: "matrices" });

// parts: what another page adds. `entry`, the name of its bundle; `arrange(stage)`, once its nodes are made, which may set `stage.tools`, more
// controls; `step(header)`, the step that is shown whatever is looked at; `beginsAtFirst`, whether a narrow first view shows the first matrix
// and not the chosen cell; `derive(stage, state)`, before every picture, for numbers that the browser computes; `draw(stage, state)`, after it.
export function mountWith(parts) {
  const make = (parent) => makeStage(parent, parts);
  return (mounted) => mountStage(mounted, make);
}

function mountStage(mounted, make) {
  const { data, parentElement } = mounted;
  const message = unpackStage(data);
  if (message.header.kind === "lookup") return mountLookup(parentElement, message);
  const [stage, end] = mountOnce(parentElement, make, removeStage);
  connect(stage, mounted, () => writtenView(stage.store.get(), looksOf(stage.header)));
  receive(stage, message, data);
  return end;
}

// Shows matrices from a file, without a server.
export function offline(parent, texts, written, parts = { entry: "matrices" }) {
  Object.assign(TEXTS, texts);
  const data = Uint8Array.from(atob(written), (sign) => sign.charCodeAt(0));
  const stage = makeStage(parent, parts);
  stage.offline = true;
  connect(stage, null, () => {});
  receive(stage, unpackStage(data), data);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => draw(stage));
}

function makeStage(parent, parts) {
  const store = makeStore({ numbers: false, dimensions: 6, cell: null, matrices: "cell", answer: null, zoom: 1, hover: null });
  const stage = { parts, store, header: null, arrival: null, offline: false, asked: {}, tools: [], column: null, address: makeAddressWriter() };
  stage.act = makeActions(stage);
  stage.addToLesson = () => stage.report("added");
  stage.wholeMessage = () => wholeMessage(stage);
  stage.root = element("div", { class: "stage matrices", "data-testid": "stage" });
  (parent.querySelector?.(".stage-box") ?? parent).append(stage.root);
  const redraw = () => stage.header?.run && draw(stage);
  stage.observer = new ResizeObserver(redraw);
  stage.stopWatching = watchScreen(redraw);
  stage.events = new AbortController();
  const { signal } = stage.events;
  addEventListener("resize", redraw, { signal });
  stage.stopTurning = onTurn(stage, (by) => turn(stage, by));
  addEventListener(ANSWER, ({ detail }) => store.set({ answer: detail }), { signal });
  store.onChange((state, before) => changed(stage, state, before));
  return stage;
}

// The parts of the stage; made when the texts are here.
function build(stage) {
  const { store, act } = stage;
  stage.legend = element("p", { class: "legend matrix-legend" });
  stage.parts.arrange?.(stage);
  stage.controls = makeControls(stage);
  stage.title = element("p", { class: "stage-title" });
  stage.steps = element("div", { class: "steps", role: "group", "aria-label": TEXTS.matrices.steps });
  stage.view = makeMatrices({ choose: act.choose, hover: (hover) => !same(hover, store.get().hover) && (hover || store.get().hover) && store.set({ hover }) });
  stage.sum = makeSum(() => act.choose(null));
  stage.waiting = element("p", { class: "waiting", role: "status" });
  stage.above = element("div", { class: "steps-row" }, stage.steps, stage.waiting);
  stage.architecture = makeArchitecture((values) => act.compute(values));
  stage.root.append(stage.title, stage.controls.row, stage.controls.node, stage.architecture.node, stage.above, stage.view.node, stage.sum.node);
  stage.observer.observe(stage.root);
}

const stepOf = ({ steps, firstStep }, cell) => (cell && steps.find(({ makes }) => makes.includes(cell.matrix))?.name) ?? firstStep;
const stepShown = ({ header, parts }, { matrices, cell }) => parts.step?.(header) ?? ([...header.steps.map(({ name }) => name), "all"].includes(matrices) ? matrices : stepOf(header, cell));

// What a reader does. What only looks changes the state; what computes is reported.
function makeActions(stage) {
  const { store } = stage;
  return {
    choose(cell) {
      const shown = stepShown(stage, store.get());
      const isOfCell = cell && !stage.header.stepsInToolbar && stepOf(stage.header, cell) === shown;
      store.set({ cell, hover: null, matrices: isOfCell ? "cell" : shown });
    },
    // Another step is looked at where the chosen cell leads to in it: the same row, and the same key where both have keys.
    chooseStep(name) {
      if (name === "all") return store.set({ matrices: "all", hover: null });
      const { model, header } = stage;
      const step = header.steps.find((one) => one.name === name);
      const matrix = model.byName[step.makes[0]];
      const { cell } = store.get();
      const row = Math.min(cell?.row ?? 0, matrix.rows - 1);
      store.set({ cell: { matrix: matrix.name, row, column: columnIn(stage, matrix, cell, row) }, matrices: "cell", hover: null });
    },
    zoom: (direction) => store.set({ zoom: zoomed(store.get().zoom, direction) }),
    compute(change) {
      if (stage.offline) return;
      stage.asked = { ...stage.asked, ...change };
      stage.controls.sync(store.get());
      compute(stage, "settings", stage.asked);
    },
    present,
    full: () => full(stage),
  };
}

// To a room, the steps are turned like pages.
function turn(stage, by) {
  const buttons = stage.steps.hidden ? [] : [...stage.steps.querySelectorAll("button")];
  const next = buttons[buttons.findIndex(({ ariaPressed }) => ariaPressed === "true") + by];
  if (next) stage.act.chooseStep(next.dataset.step);
  return Boolean(next);
}

function columnIn({ model, ...stage }, matrix, cell, row) {
  const before = cell && model.byName[cell.matrix];
  if (before && before.columnKind === matrix.columnKind) return Math.min(cell.column, matrix.shown - 1);
  if (matrix.columnKind !== "key") return 0;
  const weights = model.byName.weights ? rowOf(model.byName.weights, row) : [0];
  return stage.column ?? weights.indexOf(Math.max(...weights));
}

// Takes in what Python sent: numbers, and on arrival the view that is asked for. Everything else of the view is kept.
function receive(stage, message, data) {
  const first = !stage.header;
  const { header } = message;
  const before = stage.header;
  Object.assign(stage, { header, data, home: new URL(header.home, document.baseURI), asked: {} });
  if (first) build(stage);
  computed(stage);
  const { arrival } = header;
  const isNew = stage.arrival !== arrival.number;
  stage.arrival = arrival.number;
  const known = arrival.restored && views.get(arrival.place);
  const wanted = isNew ? known || lookOf(header.view) : stage.store.get();
  for (const part of [header.address.defaults, header.address.first]) {
    for (const name of ["cell", "answer"]) if (Array.isArray(part[name])) part[name] = cellOf(part[name]);
  }
  stage.root.classList.toggle("empty", !header.run);
  if (!header.run) {
    placeStage(stage.root);
    Object.assign(header, { model: "" });
    stage.quiet = true;
    stage.store.set({ ...wanted, hover: null });
    stage.quiet = false;
    return stage.address.write(addressOf(stage.store.get(), header.address, location.search, looksOf(header)));
  }
  stage.model = takeMatrices(message, TEXTS.matrixRow);
  if (before?.text !== header.text) stage.column = null; // positions change with the text
  stage.quiet = true; // of this change nobody is told: it came from the page
  stage.store.set({ ...wanted, hover: null });
  stage.quiet = false;
}

function changed(stage, state, before) {
  if (!stage.header?.run) return;
  draw(stage);
  if (stage.offline) return;
  const looks = Object.keys(stage.header.address.defaults);
  views.set(stage.header.arrival.place, Object.fromEntries(looks.map((name) => [name, state[name]])));
  if (!stage.quiet && looks.every((name) => state[name] === before[name])) return;
  stage.address.write(addressOf(state, stage.header.address, location.search, looksOf(stage.header)));
  if (stage.quiet) return stage.address.now();
  tellLook(stage);
}

// --- Drawing

function draw(stage) {
  const { header, model, root, store: { get } } = stage;
  const state = get();
  const theme = applyTheme(root);
  stage.parts.derive?.(stage, state);
  if (header.dimensionsShown) drawDimensions(model, state.dimensions);
  const chosen = exists(model, state.cell) ? state.cell : null;
  const active = exists(model, state.hover) ? state.hover : chosen;
  const name = stepShown(stage, state);
  const step = header.steps.find((one) => one.name === name);
  const [names, leads] = [step?.shows ?? null, step?.leads];
  if (chosen && model.byName[chosen.matrix].columnKind === "key") stage.column = chosen.column;
  stage.shown = { names, leads, chosen, several: name === "all" };
  stage.controls.sync(state);
  drawSteps(stage, name, chosen);
  setText(stage.title, [header.title, header.model, `“${header.text}”`].map(visible).join(" · "));
  if (stage.legend.model !== model || stage.legend.dark !== theme.dark) {
    Object.assign(stage.legend, { model, dark: theme.dark });
    fillLegend(stage.legend, model.matrices, theme.dark, TEXTS.matrixRow);
  }
  drawSum(stage.sum, model, active, Boolean(header.grows));
  const height = placeStage(root);
  stage.architecture.node.hidden = !header.architecture;
  const touch = matchMedia("(pointer: coarse)").matches;
  if (header.architecture) drawArchitecture(stage.architecture, header.architecture, { width: root.clientWidth, theme, touch });
  root.classList.toggle("all-steps", !step);
  const { node } = stage.view;
  const taken = [stage.title, stage.controls.row, stage.controls.node, stage.architecture.node, stage.above].reduce((sum, { offsetHeight }) => sum + offsetHeight + (offsetHeight ? GAP : 0), 0);
  const left = root.classList.contains("wide") ? height - taken - SUM_HEIGHT - (stage.parts.below ?? 0) : NARROW_HEIGHT;
  node.style.maxHeight = step ? `${left}px` : "";
  const room = { width: node.clientWidth - 8, height: step ? left - GAP : ALL_HEIGHT };
  drawMatrices(stage.view, model, { names, leads, chosen, active, numbers: state.numbers, theme, room, zoom: state.zoom, several: name === "all", least: header.leastCell });
  stage.parts.draw?.(stage, state);
  const isAtStart = stage.parts.beginsAtFirst && !stage.lastShown && header.address.isFirst; // the first matrix is what the first view is about
  if (stage.lastShown !== `${name} ${cellWritten(chosen)}` && chosen && !state.hover && !isAtStart) showCellSideways(stage, chosen);
  stage.lastShown = `${name} ${cellWritten(chosen)}`;
  root.dataset.chosen = chosen ? cellWritten(chosen) : "";
  root.dataset.step = name;
  root.dataset.run = header.controls.map(({ value }) => value).join(" ");
  root.dataset.paints = String((stage.paints = (stage.paints ?? 0) + 1));
}

// Brings a cell that another step or a link led to into the box of its line; the page itself stays where it is.
function showCellSideways(stage, { matrix, column }) {
  const { canvas } = stage.view.panels.get(matrix) ?? {};
  const line = canvas?.closest(".line");
  if (!line || line.scrollWidth <= line.clientWidth + 1) return;
  const wide = Number(canvas.dataset.wide);
  const left = canvas.offsetLeft - line.offsetLeft + column * wide;
  if (left < line.scrollLeft || left + wide > line.scrollLeft + line.clientWidth) line.scrollLeft = left - line.clientWidth / 2;
}

function drawSteps(stage, shown, chosen) {
  const { header, steps: node } = stage;
  const steps = header.steps.filter(({ name, makes, optional }) => !optional || name === shown || makes.includes(chosen?.matrix));
  node.hidden = steps.length < 2 || Boolean(header.stepsInToolbar);
  const pattern = JSON.stringify(steps.map(({ name, sign }) => [name, sign]));
  if (node.dataset.pattern !== pattern) {
    node.dataset.pattern = pattern;
    const buttons = steps.flatMap(({ name, sign, title }, index) => {
      const made = element("button", { type: "button", "data-step": name }, element("span", { class: "sign" }, sign), element("span", { class: "made" }, title));
      made.setAttribute("aria-label", filled(TEXTS.matrices.stepOf, { sign, title }).join(""));
      made.onclick = () => stage.act.chooseStep(name);
      return index ? [element("span", { class: "arrow", "aria-hidden": "true" }, "→"), made] : [made];
    });
    const all = element("button", { type: "button", "data-step": "all", class: "all" }, TEXTS.matrices.allSteps);
    all.onclick = () => stage.act.chooseStep("all");
    node.replaceChildren(...buttons, ...(header.grows ? [] : [all]));
  }
  for (const made of node.querySelectorAll("button")) made.ariaPressed = String(made.dataset.step === shown);
}

function removeStage(stage) {
  stage.address.end();
  stage.observer.disconnect();
  stage.stopWatching();
  stage.events.abort();
  stage.stopTurning();
  clearTimeout(stage.computing);
  clearTimeout(stage.following);
  stage.root.remove();
}

// The message again as it is looked at now, for a file that needs no server.
function wholeMessage({ header, data, store: { get } }) {
  const { body, header: sent } = unpackStage(data);
  const state = get();
  const sendable = (value) => (value?.matrix ? [value.matrix, value.row, value.column] : value);
  const view = Object.fromEntries(Object.keys(header.address.defaults).map((name) => [name, sendable(state[name])]));
  const kept = { ...sent, view, hidden: [...header.hidden, "share", "forms"], arrival: { number: 0, restored: false }, awaited: false, follows: false };
  const words = new TextEncoder().encode(JSON.stringify(kept));
  const message = new Uint8Array(4 + words.length + body.length);
  new DataView(message.buffer).setUint32(0, words.length, true);
  message.set(words, 4);
  message.set(body, 4 + words.length);
  return message;
}

// --- The lookup below: the same picture and sum, all steps in one line

function mountLookup(parentElement, { header, body }) {
  const [lookup, end] = mountOnce(parentElement, makeLookup, removeLookup);
  if (lookup.arrival !== header.arrival) lookup.cell = cellOf(header.cell);
  lookup.arrival = header.arrival;
  lookup.model = takeMatrices({ header, body }, TEXTS.matrixRow);
  drawLookup(lookup);
  return end;
}

function makeLookup(parent) {
  const lookup = { cell: null, hover: null, arrival: null };
  const choose = (cell) => {
    Object.assign(lookup, { cell, hover: null });
    dispatchEvent(new CustomEvent(ANSWER, { detail: cell }));
    drawLookup(lookup);
  };
  const hover = (cell) => {
    if (same(cell, lookup.hover) || (!cell && !lookup.hover)) return;
    lookup.hover = cell;
    drawLookup(lookup);
  };
  lookup.view = makeMatrices({ choose, hover });
  lookup.sum = makeSum(() => choose(null));
  lookup.root = element("div", { class: "stage lookup", "data-testid": "lookup" }, lookup.view.node, lookup.sum.node);
  (parent.querySelector(".stage-box") ?? parent).append(lookup.root);
  lookup.observer = new ResizeObserver(() => drawLookup(lookup));
  lookup.observer.observe(lookup.root);
  lookup.stopWatching = watchScreen(() => drawLookup(lookup));
  return lookup;
}

function drawLookup(lookup) {
  const { model, view, root, sum } = lookup;
  if (!model || !root.clientWidth) return;
  const theme = applyTheme(root);
  const chosen = exists(model, lookup.cell) ? lookup.cell : null;
  const active = exists(model, lookup.hover) ? lookup.hover : chosen;
  const room = { width: root.clientWidth - 8, height: LOOKUP_HEIGHT };
  drawMatrices(view, model, { names: null, chosen, active, numbers: true, theme, room, zoom: 1, several: true });
  drawSum(sum, model, active);
  root.dataset.chosen = chosen ? cellWritten(chosen) : "";
}

function removeLookup(lookup) {
  lookup.observer.disconnect();
  lookup.stopWatching();
  lookup.root.remove();
}

