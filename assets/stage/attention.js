// The stage of the page Attention: all heads, one map as heatmap and lines, the focused row as bars, and the same in a sentence.
// Python sends a run; this module owns how it is looked at. See README.md.

import { digits, NO_CHANGE, span, strongest } from "../canvas/core/bytes.js";
import { modelOf } from "../canvas/attention/map.js";
import { fillLegend, makeLegend } from "./views/legend.js";
import { channels } from "../canvas/core/palette.js";
import { element, setText, visible } from "../canvas/core/surface.js";
import { TEXTS } from "../canvas/core/texts.js";
import { filled, say } from "../canvas/core/text.js";
import { applyTheme } from "../canvas/core/theme.js";
import { addressOf, writtenView } from "./core/address.js";
import { compute } from "./core/page.js";
import { placeStage } from "./core/place.js";
import { codesOf, fetchAhead, fetchLayer, makeRuns, packStage, stacksOf, takeIn, unpackStage } from "./core/run.js";
import { describeAverage, describeChange, describeMap, headName } from "./core/sentences.js";
import { aheadOf, differenceOf, mapOf, rowOf, viewOf, wallOf } from "./core/shown.js";
import { arrive, begin, fileHeader, noteLooks, setQuietly, stageOf } from "./core/stage.js";
import { makeStore } from "./core/store.js";
import { coded } from "./core/weights.js";
import { canZoom, drawMap, makeMap, zoomStep } from "./views/map.js";
import { drawBars, makeBars, signed } from "./views/bars.js";
import { drawWall, makeWall, wallWidth } from "./views/wall.js";
import { headOff, makeChangesRow } from "./attention/changes.js";
import { makeControls } from "./attention/toolbar.js";

const NARROW_HEIGHT = 420; // pixels
const AFTER_PICTURE = 100; // milliseconds
const runs = makeRuns();

export const { mount, offline, render } = attentionStage({});
export default mount;

// parts: what another page adds. `entry`, the name of its bundle; `arrange(stage)`, once its nodes are made; `take(stage, view, before, isNew)`,
// which may change the view when a run has come in, before it is drawn; `wall(stage, shown)`, which may show something else than small
// maps on the wall; `draw(stage)`, after every picture, and where there is no run; `controls(stage)`, which returns what begins the toolbar; `end(stage)`,
// what else ends with the stage.
// And what it has instead: `fields` of the address; `makeRow`, the row below the toolbar; `choosers` of heads; `possible`, a view with what
// a run has; `settle`, what else follows from a change; `maps`, before and after on common axes; `describe` them; `titles`; `drawHeads`, the
// wall; `follows`, whether wall and bars show the run that the map shows; `notes`; `tell` of a cell; `files`, what goes into files; `figure`, another picture that is shown
// in place of the map, or null: its drawing, caption and CSV.
export function attentionStage(parts) {
  return stageOf({ make: (parent) => makeStage(parent, parts), receive: (stage, data) => receive(stage, unpackStage(data)), written, redraw: draw, end: (stage) => parts.end?.(stage) });
}

// The view as links write it; without a run it is the server's.
function written(stage) {
  return stage.header.run ? writtenView(stage.store.get(), stage.parts.fields) : undefined;
}

function makeStage(parent, parts) {
  const store = makeStore({ stack: "self", heads: [[0, 0]], words: false, hide: false, show: "both", lines: 40, scale: "blues", focus: null, compared: "after",
    stackNumber: 0, wallOpen: false });
  const stage = begin({ parts, store, shown: null, views: new Map(), runs }, parent, "", () => (stage.header.run ? draw(stage) : placeStage(stage.root)));
  stage.act = makeActions(stage);
  stage.redraw = () => draw(stage);
  stage.current = () => {
    const { stackNumber } = store.get();
    const first = stage.header.stacks.slice(0, stackNumber).reduce((sum, { layers }) => sum + layers, 0);
    return { stack: stage.header.stacks[stackNumber], first, header: stage.header };
  };
  store.onChange((state, before) => changed(stage, state, before));
  return stage;
}

// The parts of the stage; made when the texts are here.
function build(stage) {
  const { store, act } = stage;
  stage.wall = makeWall((heads) => store.set({ heads }));
  stage.map = makeMap({ focus: act.focusRow, tell: (node, at) => fillTooltip(stage, node, at) });
  stage.bars = makeBars((by) => act.focusRow(by === null ? null : stepped(stage.shown, by)));
  stage.controls = makeControls(stage);
  stage.changes = (stage.parts.makeRow ?? makeChangesRow)(stage);
  stage.title = element("p", { class: "stage-title" });
  stage.said = element("p", { class: "said", role: "status", "data-testid": "stage-said" });
  stage.waiting = element("p", { class: "waiting", role: "status" });
  stage.legend = makeLegend();
  stage.details = element("p", { class: "quiet-text" });
  stage.about = element("details", { class: "about" }, element("summary", {}, TEXTS.about), stage.details);
  stage.ahead = element("p", { class: "quiet-text hatched" }, element("span", { class: "hatch", "aria-hidden": "true" }), TEXTS.ahead);
  stage.classLegend = element("p", { class: "class-legend" }, element("i"), TEXTS.classLegend);
  stage.picture = element("div", { class: "picture" }, stage.map.node, stage.classLegend);
  stage.side = element("div", { class: "side" }, stage.wall.node, stage.bars.node);
  const foot = element("div", { class: "foot" }, element("div", { class: "words" }, stage.said, stage.waiting), element("div", { class: "legends" }, stage.ahead, stage.legend.node));
  stage.body = element("div", { class: "body" }, stage.side, stage.picture);
  stage.root.append(element("div", { class: "frame" }, stage.title, stage.controls.node, stage.changes.node, stage.body, foot), stage.about);
  stage.parts.arrange?.(stage);
}

const stepped = ({ row, view }, by) => (row === null ? (by > 0 ? 0 : view.queries.labels.length - 1)
  : Math.min(view.queries.labels.length - 1, Math.max(0, row + by)));

// What a reader does. What only looks changes the state; what computes is reported, with what it is to change.
function makeActions(stage) {
  const { store } = stage;
  return {
    chooseHead: (head) => store.set({ heads: [head] }),
    focusRow: (row) => store.set({ focus: row === null ? null : stage.shown.view.queries.places[row][0] }),
    zoom(direction) {
      zoomStep(stage.map, direction);
      draw(stage);
    },
    canZoom: () => Boolean(stage.map) && canZoom(stage.map),
    changes: () => stage.header.changes.map(({ link }) => link),
    areOff(heads) {
      const { first } = stage.current();
      return heads.every((head) => stage.act.changes().includes(headOff(first, head)));
    },
    switchHeads() {
      const { heads } = store.get();
      const { first } = stage.current();
      const written = heads.map((head) => headOff(first, head));
      stage.act.change(stage.act.areOff(heads) ? { drop: written } : { add: written });
    },
    change(change) {
      if (!stage.offline) compute(stage, "interventions", change);
    },
    wholeMessage: () => wholeMessage(stage),
  };
}

// Takes in what Python sent: a run, and on arrival the view that is asked for. Everything else of the view is kept.
function receive(stage, message) {
  const { header: before } = stage;
  const { header } = message;
  const { isNew, known } = arrive(stage, header, build);
  const wanted = isNew ? { ...header.address.defaults, ...(known || header.view) } : { ...stage.store.get() };
  const address = () => addressOf(wanted, header.address, location.search, stage.parts.fields);
  stage.root.classList.toggle("empty", !header.run);
  if (!header.run) {
    stage.parts.draw?.(stage);
    placeStage(stage.root);
    return stage.address.write(address());
  }
  stage.thumbnails = takeIn(runs, message);
  stage.views.clear();
  const asked = JSON.stringify(header.asked ?? [header.model, header.text, header.pair, header.bare]);
  if (!isNew && stage.asked !== undefined && stage.asked !== asked) wanted.focus = null; // positions change with the text
  stage.asked = asked;
  stage.parts.take?.(stage, wanted, before, isNew);
  setQuietly(stage, (stage.parts.possible ?? possible)(header, wanted));
  if (header.follows && JSON.stringify(written(stage)) !== JSON.stringify(writtenView({ ...header.address.defaults, ...header.view }, stage.parts.fields))) stage.follow();
}

// A view with what this run has: another model may lack a head, another text a token.
function possible({ stacks }, view) {
  const stackNumber = Math.max(0, stacks.findIndex(({ kind }) => kind === view.stack));
  const stack = stacks[stackNumber];
  const heads = view.heads.filter(([layer, head]) => layer < stack.layers && head < stack.heads);
  const focus = view.focus !== null && view.focus < stack.queries.tokens.length ? view.focus : null;
  return { ...view, stackNumber, stack: stack.kind, heads: heads.length ? heads : [[0, 0]], focus };
}

function changed(stage, state, before) {
  if (!stage.header?.run) return;
  if (state.stack !== before.stack) {
    const stackNumber = stage.header.stacks.findIndex(({ kind }) => kind === state.stack);
    if (stackNumber !== state.stackNumber) return void stage.store.set({ stackNumber });
  }
  const settled = stage.quiet ? null : stage.parts.settle?.(stage, state, before);
  if (settled) return void stage.store.set(settled);
  draw(stage);
  noteLooks(stage, state, before, stage.parts.fields);
}

// --- Drawing

function prepared(stage, { words, hide, stackNumber }) {
  const { header } = stage;
  const name = `${words} ${hide} ${stackNumber}`;
  if (!stage.views.has(name)) stage.views.set(name, viewOf(header.stacks[stackNumber], { words, hide }, header.padding));
  return stage.views.get(name);
}

function draw(stage) {
  const { header, store: { get } } = stage;
  const state = get();
  stage.theme = applyTheme(stage.root);
  const { view, before, after, difference, wanted } = (stage.parts.maps ?? mapsOf)(stage, state);
  stage.controls.sync(state);
  stage.changes.sync(state);
  if (!after || (header.before && !before)) {
    waitFor(stage, wanted);
    if (!after || stage.parts.maps) return;
  } else if (stage.waiting.textContent === TEXTS.loading) stage.waiting.textContent = "";
  show(stage, state, view, before, after, difference);
  later(stage);
}

// The run with its changes and the one without: the same heads on the same axes. wanted: the layers that they need.
function mapsOf(stage, state) {
  const { header } = stage;
  const view = prepared(stage, state);
  const chosen = { stack: state.stackNumber, heads: state.heads };
  const [before, after] = [header.before, header.run].map((run) => run && mapOf(runs, run, header.stacks, chosen, view));
  const layers = state.heads.map(([layer]) => layer);
  const difference = before && after && differenceOf(before, after);
  if (header.causal && header.stacks[state.stackNumber].kind === "self") for (const map of [before, after, difference]) if (map) map.hatched = aheadOf(view);
  return { view, before, after, difference, wanted: [[header.run, layers], [header.before, layers]] };
}

// What is not here yet is fetched; the picture before it stays, and the stage says so. wanted: layers of each run.
function waitFor(stage, wanted) {
  const { header, store: { get } } = stage;
  stage.waiting.textContent = TEXTS.loading;
  const asked = wanted.filter(([run]) => run).flatMap(([run, layers]) => [...new Set(layers)].map((layer) => fetchLayer(runs, run, get().stackNumber, layer)));
  Promise.all(asked).then((here) => {
    if (stage.header !== header) return;
    if (here.every(Boolean)) draw(stage);
    else stage.waiting.textContent = TEXTS.notLoaded;
  });
}

function show(stage, state, view, before, after, difference) {
  const { header, theme, parts } = stage;
  const row = rowOf(view, state.focus);
  const compared = before ? state.compared : "after";
  const map = { before, after, difference }[compared];
  const said = parts.describe ? parts.describe(stage, { view, row, before, after, difference })
    : header.before && before ? describeChange(before.weights, after.weights, view, row) : describeMap(after, view, row);
  const padding = header.padding && before && !view.hides && !parts.maps ? paddingSaid(after, view, row, header.padding) : "";
  const named = parts.headsInWords?.(stage, state) ?? headName(state.heads);
  const sentence = [`${named}.`, said, padding].filter(Boolean).join(" ");
  const drawn = drawnHeader(stage, state, view, row);
  const model = modelOf(drawn, map, { dark: theme.dark, isDifference: compared === "difference" });
  const lines = compared === "difference" ? changedLines(model, difference.codes, theme) : model;
  stage.shown = { view, row, weights: map.weights, map, before, after, difference, compared, said, sentence, header: drawn };
  setText(stage.said, sentence); // before the map, which takes the room that it leaves
  const heads = [header.run, header.before].filter(Boolean).flatMap((run) => stacksOf(header, run)).map((stack) => stack.heads);
  stage.root.style.setProperty("--wall", `${wallWidth(Math.max(...heads))}px`);
  placeStage(stage.root);
  const isAloneToRoom = stage.root.classList.contains("presented") && state.show === "both"; // in larger cells, without its lines
  drawMap(stage.map, { model, lines, focus: row, show: isAloneToRoom ? "heatmap" : state.show, said: sentence, theme, room: roomOf(stage) });
  const isAlone = parts.follows && compared !== "difference"; // of one of two runs, its own weights are listed
  const moved = before && !isAlone && { before: before.codes, after: after.codes, difference: difference.codes, texts: parts.barTexts?.(stage, view, row) };
  drawBars(stage.bars, model, row, moved ?? {});
  setText(stage.title, [header.model, named, `“${header.text}”`].map(visible).join(" · "));
  fillLegend(stage.legend, state.scale, compared === "difference", theme.dark);
  stage.classLegend.hidden = !model.guesses.length;
  stage.ahead.hidden = !header.causal || !map.hatched;
  stage.root.dataset.focus = row === null ? "" : String(row);
  stage.root.dataset.guesses = String(model.guesses.length);
  stage.root.dataset.heads = state.heads.map(([layer, head]) => `${layer + 1}-${head + 1}`).join("_");
  stage.root.dataset.compared = compared;
  stage.root.dataset.paints = String((stage.paints = (stage.paints ?? 0) + 1));
  (parts.drawHeads ?? drawTheWall)(stage, state, header.whole);
  parts.draw?.(stage);
}

function paddingSaid({ weights }, view, row, padding) {
  const keys = view.keys.labels.length;
  const rows = row === null ? [...view.queries.labels.keys()] : [row];
  const share = rows.reduce((sum, one) => sum + weights[(one + 1) * keys - 1], 0) / rows.length;
  return say(TEXTS.toPadding, { padding, share: share.toFixed(2) });
}

// What the painters of assets/canvas take: see `modelOf`.
function drawnHeader(stage, state, view, row) {
  return {
    queries: view.queries.labels, keys: view.keys.labels, texts: { ...TEXTS.map, hatched: stage.header.labels?.hatched ?? TEXTS.ahead, titles: stage.parts.titles?.(stage, state) ?? Object.values(TEXTS.changed.titles) }, scale: state.scale,
    strongest: state.lines, show: state.show, focus: row, guesses: guessesOn(stage, view),
  };
}

// The lines of a difference: as strong as the change, in the colour of its sign.
function changedLines(model, codes, { dark }) {
  const cells = Uint16Array.from(codes, (code) => Math.min(65535, Math.round(2 * Math.abs(code - NO_CHANGE))));
  const [more, less] = dark ? ["#88bbe9", "#f2a057"] : ["#125a9d", "#b85c0a"];
  return { ...model, cells, everywhere: undefined, lineAt: (at) => channels(codes[at] >= NO_CHANGE ? more : less) };
}

// The guesses of a class, by cell, on the map of the head that it was asked about, where it shows the very tokens that the class chose from.
function guessesOn({ header, store: { get } }, view) {
  const { guesses } = header;
  const { stackNumber, heads } = get();
  if (String(guesses?.head) !== String(heads) || header.stacks[stackNumber].kind !== "self" || view.keys.labels.length !== view.queries.labels.length) return [];
  const names = distinct(view.keys.labels);
  const words = names.filter((_, place) => !view.keys.special[place]);
  const known = guesses.cells.every(([row, column]) => names.includes(row) && names.includes(column));
  if (String(words) !== String(guesses.tokens) || !known) return [];
  return guesses.cells.map(([row, column, share, said]) => ({ query: names.indexOf(row), key: names.indexOf(column), share, said }));
}

// A name for each token that no other has: repeated ones get a number, as in tx_core/classroom/measures.py.
function distinct(labels) {
  return labels.map((label, place) => {
    const before = labels.slice(0, place).filter((one) => one === label).length;
    return before ? `${label} (${before + 1})` : label;
  });
}

function drawTheWall(stage, state, isHere) {
  const { header, theme } = stage;
  const stack = header.stacks[state.stackNumber];
  const isHidden = header.hidden.includes("heads") || (header.hidden.includes("wall") && !state.wallOpen);
  stage.wall.node.hidden = isHidden;
  const view = prepared(stage, state);
  const run = stage.parts.follows && state.compared === "before" && header.before ? header.before : header.run;
  const name = `wall ${run.id} ${state.words} ${state.hide} ${state.stackNumber}`;
  const sent = stage.thumbnails?.[state.stackNumber];
  if (!stage.views.get(name) && (view.isPlain ? !sent : isHere)) stage.views.set(name, wallOf(runs, run, header.stacks, state.stackNumber, view));
  const small = stage.views.get(name) ?? sent;
  if (!small || isHidden) return;
  const shown = {
    layers: stack.layers, heads: stack.heads, thumbnails: small, chosen: state.heads, scale: state.scale,
    moved: header.moved[state.stackNumber] ?? [], guesses: header.guesses?.wall ?? [],
    notes: [...(header.guesses?.notes ?? []), ...(header.moved[state.stackNumber] ?? []).map(([head, share]) => [head, say(TEXTS.changed.movedNote, { share: share.toFixed(2) })])],
  };
  drawWall(stage.wall, stage.parts.wall?.(stage, shown) ?? shown, theme, stage.side.clientWidth);
}

// What need not be there with the picture: notes, the rest of a long run, and small maps of words.
function later(stage) {
  const { header } = stage;
  clearTimeout(stage.later); // Safari has no requestIdleCallback
  stage.later = setTimeout(() => {
    if (stage.header !== header) return; // meanwhile Python sent another run, or none
    const state = stage.store.get();
    setText(stage.details, (stage.parts.notes ?? notes)(stage, state).join(" "));
    stage.about.hidden = !stage.details.textContent;
    if (header.whole) return;
    const isShown = () => stage.header === header && stage.root.isConnected;
    Promise.all([header.run, header.before].map((run) => run && fetchAhead(runs, run, stacksOf(header, run), isShown)))
      .then(() => isShown() && (stage.parts.drawHeads ?? drawTheWall)(stage, stage.store.get(), true));
  }, AFTER_PICTURE);
}

// What is to be said of the map beside its sentence.
function notes(stage, state) {
  const { header, shown: { view, after, before } } = stage;
  const texts = TEXTS.notes;
  const stack = header.stacks[state.stackNumber];
  const detailed = !header.hidden.includes("details");
  const found = detailed ? [] : [texts.howToRead];
  if (detailed && !before && stack.kind === "self" && !view.hides) found.push(describeAverage(after, view));
  if (detailed && !before && stack.kind === "self" && state.heads.length === 1 && header.grammar) {
    const [[layer, head]] = state.heads;
    found.push(...header.grammar.of[layer * stack.heads + head].map((number) => header.grammar.sentences[number]));
  }
  const marks = [...new Set(view.keys.labels.filter((_, place) => view.keys.special[place]))];
  if (marks.length) found.push(say(texts.specialTokens, { tokens: marks.join(", ") }));
  if (state.hide && !view.hides) found.push(texts.nothingHidden);
  if (view.hides && after.lost) found.push(say(texts.specialHidden, { share: (after.lost.reduce((sum, one) => sum + one, 0) / after.lost.length).toFixed(2) }));
  if (state.words) found.push(texts.howMerged);
  return [...found, texts.notAnExplanation];
}

function fillTooltip(stage, node, { query, key }) {
  const { header, before, after, difference } = stage.shown;
  const name = (text) => element("bdi", { class: "token" }, visible(text));
  const parts = [];
  if (query != null) parts.push(name(header.queries[query]));
  if (query != null && key != null) parts.push(" → ");
  if (key != null) parts.push(name(header.keys[key]));
  if (query != null && key != null) {
    const at = query * header.keys.length + key;
    const numbers = stage.parts.tell?.(stage, query, key) ?? (difference ? `${digits(before.codes[at])} → ${digits(after.codes[at])} (${signed(difference.codes[at])})` : digits(after.codes[at]));
    parts.push(element("span", { class: "value" }, numbers));
    const guess = header.guesses.find((one) => one.query === query && one.key === key);
    if (guess) parts.push(element("span", { class: "side-note" }, guess.said));
  } else {
    const [sentence, at] = query != null ? [TEXTS.map.queryNumber, query] : [TEXTS.map.keyNumber, key];
    parts.push(element("span", { class: "side-note" }, ...filled(sentence, { number: String(at + 1) })));
  }
  node.replaceChildren(...parts);
}

// --- Its place on the page

// For the picture, in pixels; on a narrow screen it may be taller than the screen is.
function roomOf({ picture, root }) {
  const width = picture.clientWidth;
  return root.classList.contains("wide") ? { width, height: picture.clientHeight, besideFrom: 0 } : { width, height: Math.max(NARROW_HEIGHT, 1.2 * width) };
}

// --- Files

// The run as one message again, with every layer that is here, for a file that needs no server.
function wholeMessage(stage) {
  const { header, store: { get } } = stage;
  const state = get();
  const parts = [];
  const pack = (run) => {
    if (!run) return null;
    const included = [];
    stacksOf(header, run).forEach((stack, number, stacks) => {
      for (let layer = 0; layer < stack.layers; layer += 1) {
        const heads = Array.from({ length: stack.heads }, (_, head) => codesOf(runs, run, stacks, number, [layer, head]));
        if (heads.includes(null)) continue;
        included.push([number, layer]);
        parts.push(...heads);
      }
    });
    return { ...run, path: "", included };
  };
  const moments = header.moments?.map(pack);
  const [run, before] = moments ? [moments.at(-1), null] : [pack(header.run), pack(header.before)];
  const small = stage.thumbnails?.map(({ cells }) => cells) ?? [];
  const view = Object.fromEntries(Object.keys(header.address.defaults).map((name) => [name, state[name]]));
  const bytes = parts.map((codes) => new Uint8Array(Uint16Array.from(codes).buffer));
  return packStage(fileHeader(header, { run, before, moments, view, hidden: ["changes"], guesses: null }), ...bytes, ...small);
}
