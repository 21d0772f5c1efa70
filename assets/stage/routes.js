// The stage of routes: a sentence below, its prediction above, the model's guess after each layer between them, and arcs from word to
// word, as wide as what the prediction loses without them. Arcs, heads and words can be cut; Python computes what becomes of it.

import { element, mountOnce, setText, visible, watchScreen } from "../canvas/core/surface.js";
import { TEXTS } from "../canvas/core/texts.js";
import { filled } from "../canvas/core/text.js";
import { percent } from "../canvas/core/numbers.js";
import { applyTheme } from "../canvas/core/theme.js";
import { addressOf, makeAddressWriter, writtenView } from "./core/address.js";
import { placeStage } from "./core/place.js";
import { unpackStage } from "./core/run.js";
import { makeStore } from "./core/store.js";
import { button } from "./core/toolbar.js";
import { makeControls } from "./routes/toolbar.js";
import { arcName, drawRoutes, makeRoutes } from "./views/routes.js";

export { TEXTS };

const COMPUTING = 200; // milliseconds after which a change that is computed says so
const LAYER_MS = 600; // of a layer, while it plays
const WRITE = { least: String, by: String };
const [LEAST_HEIGHT, DOORS] = [400, 104]; // pixels; below the picture the ways on are to be in sight
const STILL = matchMedia("(prefers-reduced-motion: reduce)");

export default function mountStage({ data, parentElement, setTriggerValue }) {
  const [stage, end] = mountOnce(parentElement, makeStage, removeStage);
  stage.report = (name, value) => {
    stage.address.now(); // the server reads the view in it
    setTriggerValue(name, value);
  };
  receive(stage, unpackStage(data).header);
  return end;
}

function makeStage(parent) {
  const store = makeStore({ least: "", by: "effect", shown: null, chosen: null, pointed: null });
  const stage = { store, header: null, arrival: null, arcs: [], heads: new Map(), mixed: null, address: makeAddressWriter() };
  stage.act = makeActions(stage);
  stage.root = element("div", { class: "stage routes", "data-testid": "stage" });
  (parent.querySelector?.(".stage-box") ?? parent).append(stage.root);
  const redraw = () => stage.header && draw(stage);
  stage.observer = new ResizeObserver(redraw);
  stage.stopWatching = watchScreen(redraw);
  store.onChange((state, before) => changed(stage, state, before));
  return stage;
}

function build(stage) {
  const texts = TEXTS.routes;
  stage.words = element("div", { class: "route-words", role: "group", "aria-label": texts.words });
  stage.controls = makeControls(stage);
  stage.title = element("p", { class: "stage-title" });
  stage.view = makeRoutes({ choose: stage.act.choose, point: (arc) => stage.store.set({ pointed: arc }), chooseWord: stage.act.chooseWord });
  stage.chips = element("div", { class: "chips" });
  stage.said = element("p", { class: "said", role: "status", "data-testid": "stage-said" });
  stage.heads = new Map();
  stage.offered = element("div", { class: "route-offers" });
  stage.more = element("p", { class: "quiet-text", role: "status" });
  stage.waiting = element("p", { class: "waiting", role: "status" });
  const side = element("div", { class: "route-side" }, stage.chips, stage.said, stage.offered, stage.waiting, stage.more);
  stage.body = element("div", { class: "route-body" }, stage.view.node, side);
  stage.root.append(stage.title, stage.words, stage.controls.node, stage.body);
  stage.observer.observe(stage.root);
}

function makeActions(stage) {
  const { store } = stage;
  const pause = () => {
    clearInterval(stage.playing);
    stage.playing = null;
  };
  return {
    choose: (arc) => store.set({ chosen: arc && same(arc, store.get().chosen) ? null : arc, pointed: null }),
    chooseWord: (place) => store.set({ chosen: { word: place }, pointed: null }),
    least(value) {
      stage.failed = false;
      store.set({ least: value });
    },
    by(value) {
      stage.failed = false;
      store.set({ by: value, chosen: null, pointed: null });
    },
    // Shows the picture up to a layer; null for all of it.
    step(by) {
      pause();
      const { layers } = stage.header;
      const now = store.get().shown ?? layers;
      store.set({ shown: Math.max(0, Math.min(layers, now + by)) });
    },
    play() {
      if (stage.playing) {
        pause();
        return draw(stage);
      }
      const { layers } = stage.header;
      const from = store.get().shown;
      stage.playing = setInterval(() => {
        const next = (store.get().shown ?? 0) + 1;
        if (next >= layers) pause();
        store.set({ shown: next >= layers ? null : next });
      }, LAYER_MS);
      store.set({ shown: from === null || from >= layers ? 0 : from, chosen: null });
      return undefined;
    },
    change(change) {
      stage.failed = false;
      clearTimeout(stage.computing);
      stage.computing = setTimeout(() => { stage.waiting.textContent = TEXTS.computing; }, COMPUTING);
      stage.report("interventions", { ...change, view: writtenView(store.get(), WRITE), at: Date.now() });
    },
    present() {
      document.documentElement.requestFullscreen?.().catch(() => {}); // refused, nothing is lost
      document.documentElement.attentionPresenter?.toggle(true);
    },
    full: () => (document.fullscreenElement ? document.exitFullscreen() : stage.root.requestFullscreen()).catch(() => {}),
  };
}

const leastOf = ({ store, header }) => Number(store.get().least || header.usualLeast);
const same = (one, other) => JSON.stringify(one) === JSON.stringify(other);

function receive(stage, header) {
  const first = !stage.header;
  const before = stage.header;
  Object.assign(stage, { header, home: new URL(header.home, document.baseURI) });
  clearTimeout(stage.computing);
  if (first) build(stage);
  stage.waiting.textContent = "";
  const isNew = stage.arrival !== header.arrival.number;
  stage.arrival = header.arrival.number;
  if (before?.path !== header.path) {
    stage.arcs = header.run ? header.arcs.slice() : [];
    stage.heads.clear();
    stage.mixed = null;
    stage.failed = false;
  }
  const moved = before?.text !== header.text;
  stage.quiet = true;
  stage.store.set({ ...(isNew ? { ...header.view, least: header.view.least || header.usualLeast } : {}), ...(moved || before?.path !== header.path ? { chosen: null, pointed: null } : {}), ...(moved ? { shown: null } : {}) });
  stage.quiet = false;
  if (!header.run) return;
  measureMore(stage);
  fetchMixed(stage);
}

function changed(stage, state, before) {
  if (!stage.header) return;
  draw(stage);
  stage.address.write(addressOf(state, stage.header.address, location.search, WRITE));
  if (stage.quiet) return;
  if (stage.header.awaited) {
    stage.header.awaited = false;
    stage.report("touched", Date.now());
  }
  if (state.least !== before.least) measureMore(stage);
  if (state.by !== before.by) fetchMixed(stage);
  if (state.chosen && state.chosen !== before.chosen && state.chosen.layer !== undefined) fetchHeads(stage, state.chosen);
}

// Arcs into tokens that carry something of what is measured so far, one request after the other.
async function measureMore(stage) {
  const { header } = stage;
  if (stage.measuring === header) return;
  stage.measuring = header;
  for (;;) {
    const known = new Set(stage.arcs.map(({ query }) => query));
    const least = leastOf(stage);
    const next = strongestFirst(stage).filter(({ effect }) => Math.abs(effect) >= least).map(({ key }) => key).find((key) => !known.has(key));
    if (next === undefined || stage.failed) break;
    const answer = await fetch(new URL(`${header.path}?query=${next}`, document.baseURI)).catch(() => null);
    if (stage.header !== header) return;
    if (answer?.ok) stage.arcs.push(await answer.json());
    else stage.failed = true;
    draw(stage);
  }
  stage.measuring = null;
  draw(stage);
}

async function fetchMixed(stage) {
  const { header } = stage;
  if (stage.mixed || stage.store.get().by !== "mixed") return;
  const answer = await fetch(new URL(`${header.path}?mixed=1`, document.baseURI)).catch(() => null);
  if (stage.header !== header) return;
  if (answer?.ok) stage.mixed = (await answer.json()).mixed;
  else stage.failed = true;
  draw(stage);
}

async function fetchHeads(stage, { layer, query, key }) {
  const { header } = stage;
  const name = arcName({ layer, query, key });
  if (stage.heads.has(name)) return;
  const answer = await fetch(new URL(`${header.path}?query=${query}&layer=${layer}&key=${key}`, document.baseURI)).catch(() => null);
  if (!answer?.ok || stage.header !== header) return;
  stage.heads.set(name, (await answer.json()).heads);
  draw(stage);
}

// Every arc that is measured, the one with the largest effect first.
function strongestFirst({ arcs, header }) {
  const found = arcs.flatMap(({ query, effect, after, first }) => effect.flatMap((row, layer) => row.map((value, key) => (
    { layer, query, key, effect: value, after: after[layer][key], first: first[layer][key] }))));
  return found.filter(({ effect, layer, query }) => effect !== 0 && (layer < header.layers - 1 || query === header.place)).sort((one, other) => Math.abs(other.effect) - Math.abs(one.effect));
}

// As many arcs by which most is mixed in, from the blank backwards: into it, or into a token that such an arc comes from.
function mostMixed({ header, arcs, mixed }, count) {
  const { layers, place: blank } = header;
  const measured = new Map(arcs.flatMap(({ query, effect, after, first }) => effect.flatMap((row, layer) => row.map((value, key) => (
    [arcName({ layer, query, key }), { effect: value, after: after[layer][key], first: first[layer][key] }])))));
  const all = (mixed ?? []).flatMap((rows, layer) => rows.flatMap((row, query) => row.map((share, key) => ({ layer, query, key, share, ...measured.get(arcName({ layer, query, key })) }))));
  const sorted = all.filter(({ layer, query, key }) => query !== key && (layer < layers - 1 || query === blank)).sort((one, other) => other.share - one.share);
  const reached = new Set([blank]);
  const found = [];
  while (found.length < count) {
    const next = sorted.findIndex(({ query }) => reached.has(query));
    if (next < 0) break;
    const [arc] = sorted.splice(next, 1);
    reached.add(arc.key);
    found.push(arc);
  }
  return found;
}

// --- Drawing

function draw(stage) {
  const { header, store: { get }, root } = stage;
  const texts = TEXTS.routes;
  const state = get();
  const theme = applyTheme(root);
  drawWords(stage);
  root.classList.toggle("no-run", !header.run);
  stage.controls.sync(state);
  if (!header.run) return;
  setText(stage.title, [header.model, `“${header.text}”`].map(visible).join(" · "));
  const height = placeStage(root);
  const all = strongestFirst(stage);
  const strong = all.filter(({ effect }) => Math.abs(effect) >= leastOf(stage));
  const shown = state.by === "mixed" ? mostMixed(stage, strong.length) : strong;
  const active = state.pointed ?? (state.chosen?.layer === undefined ? null : state.chosen);
  const taken = [stage.title, stage.words, stage.controls.node].reduce((sum, { offsetHeight }) => sum + offsetHeight + 8, 0);
  drawRoutes(stage.view, header, { arcs: shown, active, layer: state.shown, theme, height: Math.max(LEAST_HEIGHT, height - taken - DOORS), still: STILL.matches, describe: (arc) => describe(header, arc) });
  drawChips(stage);
  setText(stage.said, sentence(stage, state, active && ([...shown, ...all].find((arc) => same(place(arc), place(active))) ?? active)));
  drawOffers(stage, state, theme);
  const weaker = state.by === "mixed" ? 0 : all.length - shown.length;
  setText(stage.more, stage.failed ? texts.notMeasured : stage.measuring ? texts.measuring : weaker ? filled(texts.hidden, { count: weaker }).join("") : state.by === "mixed" ? "" : texts.noneHidden);
  root.dataset.arcs = String(shown.length);
  root.dataset.measured = String(!stage.measuring);
  root.dataset.layer = state.shown === null ? "" : String(state.shown);
}

const place = ({ layer, query, key }) => ({ layer, query, key });

function nameOf(header, token) {
  return token === header.place ? TEXTS.routes.theBlank : filled(TEXTS.routes.token, { token: visible(header.tokens[token]) }).join("");
}

// An arc in words.
function describe(header, { layer, query, key, effect, after, first, share }) {
  const texts = TEXTS.routes;
  const names = { layer: layer + 1, query: nameOf(header, query), key: nameOf(header, key) };
  const mixed = share === undefined ? "" : filled(texts.mixedArc, { ...names, share: percent(share) }).join("");
  if (effect === undefined) return mixed;
  const said = filled(effect >= 0 ? texts.arc : texts.arcHinders, {
    ...names, word: visible(header.word), before: percent(header.probability), after: percent(after),
  }).join("");
  if (mixed) return `${mixed} ${said}`;
  return first === header.word ? said : `${said} ${filled(texts.arcChanges, { first: visible(first) }).join("")}`;
}

function sentence({ header }, state, active) {
  const texts = TEXTS.routes;
  if (active) return describe(header, active);
  if (state.shown !== null && state.shown < header.layers) {
    const [[word, share]] = header.guesses[state.shown];
    const layer = state.shown ? filled(texts.layer, { number: state.shown }).join("") : texts.embeddings;
    return filled(texts.guess, { layer, word: visible(word), share: percent(share) }).join("");
  }
  if (state.by === "mixed") return filled(texts.mixedHelp, { agreement: texts.agreement }).join("");
  if (header.changes.length) {
    const [[was, before]] = header.plainGuesses.at(-1);
    const values = { word: visible(header.word), after: percent(header.probability), before: percent(before), was: visible(was) };
    return filled(was === header.word ? texts.stays : texts.becomes, values).join("");
  }
  return filled(texts.help, { word: visible(header.word) }).join("");
}

function drawWords({ header, words: node, act }) {
  const written = JSON.stringify([header.words, header.text]);
  if (node.dataset.written === written) return;
  node.dataset.written = written;
  const had = node.getRootNode().activeElement?.dataset?.place;
  node.replaceChildren(...header.words.map(([word, isBlank], number) => button(isBlank ? "[ ? ]" : visible(word),
    () => !isBlank && act.change({ word: { number, text: header.text } }), { class: "word", "aria-pressed": String(isBlank), "data-place": String(number) })));
  if (had) node.querySelector(`[data-place="${had}"]`)?.focus();
}

function drawChips({ chips, header, act }) {
  const texts = TEXTS.routes;
  chips.hidden = !header.changes.length;
  const written = JSON.stringify(header.changes);
  if (chips.dataset.written === written) return;
  chips.dataset.written = written;
  const undo = header.changes.map(({ link, label }) => {
    const chip = button(label, () => act.change({ drop: [link] }), { class: "chip", "aria-label": filled(texts.undo, { change: label }).join("") });
    chip.append(element("span", { "aria-hidden": "true" }, " ×"));
    return chip;
  });
  chips.replaceChildren(...undo, button(texts.reset, () => act.change({ drop: header.changes.map(({ link }) => link) }), { class: "chip quiet" }), ...header.notices.map((notice) => element("span", { class: "quiet-text" }, notice)));
}

const has = ({ changes }, link) => changes.some((one) => one.link === link);

// What can be cut of what is chosen: the arc, its heads, a word.
function drawOffers(stage, { chosen }, theme) {
  const { offered: node, header, act } = stage;
  const texts = TEXTS.routes;
  const heads = chosen && stage.heads.get(arcName(chosen));
  const written = JSON.stringify([chosen, heads, header.path, theme.dark]);
  if (node.dataset.written === written) return;
  node.dataset.written = written;
  node.replaceChildren();
  if (!chosen || header.hidden.includes("changes")) return;
  if (chosen.word !== undefined) {
    const label = filled(texts.hide, { token: visible(header.tokens[chosen.word]) }).join("");
    const hidden = `hide~${chosen.word + 1}`;
    if (!has(header, hidden)) node.append(button(label, () => act.change({ add: [hidden] }), { class: "primary" }));
    return;
  }
  const link = `cut~${chosen.query + 1}-${chosen.key + 1}~${chosen.layer + 1}`;
  if (!has(header, link)) node.append(button(texts.cut, () => act.change({ add: [link] }), { class: "primary" }));
  if (!heads) return;
  const most = Math.max(...heads.map(Math.abs), 1e-9);
  node.append(element("p", { class: "quiet-text" }, ...filled(texts.heads, { word: visible(header.word) })), element("div", { class: "route-heads" }, ...heads.map((effect, head) => {
    const bar = element("span", { class: `head-bar${effect < 0 ? " hinders" : ""}`, "aria-hidden": "true" });
    bar.style.width = `${(100 * Math.abs(effect)) / most}%`;
    const made = button("", () => act.change({ add: [`${link}-${head + 1}`] }), { class: "route-head" });
    made.append(element("span", {}, filled(texts.head, { number: head + 1 }).join("")), element("span", { class: "head-track", "aria-hidden": "true" }, bar), element("span", { class: "head-value" }, effect.toFixed(2)));
    return made;
  })));
}

function removeStage(stage) {
  stage.address.end();
  stage.observer.disconnect();
  stage.stopWatching();
  clearTimeout(stage.computing);
  clearInterval(stage.playing);
  stage.root.remove();
}
