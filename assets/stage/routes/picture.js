// A picture of routes with what can be done to it, for any stage: it asks for arcs, keeps what is chosen, says it, and offers cuts.

import { button, element, isStill, refill, setText, visible } from "../../canvas/core/surface.js";
import { TEXTS } from "../../canvas/core/texts.js";
import { say as fill } from "../../canvas/core/text.js";
import { percent } from "../../canvas/core/numbers.js";
import { css } from "../../canvas/core/palette.js";
import { makeStore } from "../core/store.js";
import { fillChips } from "../core/toolbar.js";
import { arcName, drawRoutes, hindering, makeRoutes, routesDrawing } from "../views/routes.js";

const [PLAY_MS, LAYER_MS] = [4000, 600]; // milliseconds of a whole play, and at most of a layer
const UNMOVED = 0.0005; // of a probability
const SEVERAL = 4; // requests: fewer need no bar
const [ASK_AGAIN_MS, MOST_TRIES] = [1000, 60]; // of a server that has to answer others first

const layerTime = ({ layers }) => Math.min(LAYER_MS, PLAY_MS / layers);
const same = (one, other) => JSON.stringify(one) === JSON.stringify(other);
const say = (name, values = {}) => fill(TEXTS.routes[name], values);
const isMixed = ({ look }) => look.by === "mixed" && look.header.mixes;
const layerName = (number) => (number ? say("layer", { number }) : TEXTS.routes.embeddings);

// change({ add, drop }): asks the page for a run with other changes; null where nobody computes one. onChange(): after every choice.
// Returns what a stage lays out (`node`, `side`) and calls: take(header) with a run, set({ least, by }), draw({ theme, height }).
export function makeRoutePicture({ change, onChange = () => {} }) {
  const store = makeStore({ shown: null, chosen: null, pointed: null });
  const picture = { store, change, onChange, look: { header: null, least: 0, by: "effect" }, drawing: null, wanted: [], arcs: new Map(), old: [], sorted: [], heads: new Map(), mixed: null, asked: new Set(), failed: false };
  const choose = (chosen) => store.set({ chosen: chosen && same(chosen, store.get().chosen) ? null : chosen, pointed: null });
  picture.view = makeRoutes({
    choose: (arc) => choose(arc && place(arc)), point: (pointed) => store.set({ pointed }), chooseWord: (word) => choose({ word }), chooseLayer: (off) => choose({ off }), showLayer: (layer) => showLayer(picture, layer), step: (by) => step(picture, by),
  });
  picture.legend = element("p", { class: "route-legend quiet-text" });
  picture.chips = element("div", { class: "chips" });
  picture.said = element("p", { class: "said", role: "status", "data-testid": "stage-said" });
  picture.offered = element("div", { class: "route-offers" });
  picture.told = element("div", { class: "route-told" }, picture.said, picture.offered);
  picture.headsNode = element("div", { class: "route-offers" });
  picture.more = element("p", { class: "quiet-text", role: "status" });
  picture.progress = element("progress", { class: "route-progress", "aria-hidden": "true" });
  picture.pieces = element("p", { class: "quiet-text" });
  picture.side = element("div", { class: "route-side" }, picture.legend, picture.chips, picture.told, picture.headsNode, picture.progress, picture.more, picture.pieces);
  picture.node = element("div", { class: "route-body" }, picture.view.node, picture.side);
  store.onChange((state, before) => {
    if (!picture.drawing) return;
    redraw(picture);
    const { chosen } = state;
    if (chosen !== before.chosen && chosen && (chosen.layer ?? chosen.off) !== undefined) fetchHeads(picture, chosen);
    if (!picture.isTaking) onChange();
  });
  return Object.assign(picture, {
    take: (header) => take(picture, header),
    set: (look) => setLook(picture, look),
    draw(drawing) {
      picture.drawing = drawing;
      redraw(picture);
    },
    step: (by) => step(picture, by),
    play: () => play(picture),
    end() {
      clearInterval(picture.playing);
      Object.assign(picture, { measuring: null, ended: true });
    },
    paper: (row) => routesDrawing(picture.look.header, { arcs: shownArcs(picture), layer: store.get().shown }, row),
    film: (row) => filmed(picture, row),
    caption: () => caption(picture),
    rows: () => picture.sorted,
    tokens: () => picture.look.header.tokens,
    whole: () => ({ measured: picture.sorted, mixed: picture.mixed }),
  });
}

function take(picture, header) {
  const { look } = picture;
  const before = look.header;
  if (same(before?.id, header.id)) {
    look.header = header;
    return measure(picture);
  }
  const moved = before && !same(before.tokens, header.tokens);
  picture.old = before && !moved && !isMixed(picture) ? shownArcs(picture).map((arc) => ({ ...arc, isOld: true })) : [];
  look.header = header;
  picture.isTaking = true;
  for (const name of ["arcs", "heads"]) picture[name].clear();
  Object.assign(picture, { mixed: null, failed: false, sorted: [], asked: new Set() });
  for (const answer of header.arcs ?? []) takeArcs(picture, answer);
  if (header.measured) Object.assign(picture, { sorted: header.measured, mixed: header.mixed, arcs: new Map(header.measured.map((arc) => [arcName(arc), arc])) });
  if (moved) picture.wanted = [];
  picture.store.set({ chosen: null, pointed: null, ...(moved ? { shown: null } : {}) });
  picture.isTaking = false;
  return measure(picture);
}

function setLook(picture, { least, by }) {
  const { look } = picture;
  if (look.least === least && look.by === by) return;
  const other = look.by !== by;
  Object.assign(look, { least, by });
  picture.failed = false;
  if (!look.header) return;
  if (other) picture.store.set({ chosen: null, pointed: null });
  measure(picture);
}

// Shows the picture up to a layer; null for all of it.
function step(picture, by) {
  pause(picture);
  const { layers } = picture.look.header;
  const next = Math.max(0, Math.min(layers, (picture.store.get().shown ?? layers) + by));
  picture.store.set({ shown: next === layers ? null : next });
}

// Shows the picture up to a layer whose guess was pressed, or pressed again all of it.
function showLayer(picture, layer) {
  pause(picture);
  picture.store.set({ shown: picture.store.get().shown === layer ? null : layer, chosen: null });
}

function pause(picture) {
  clearInterval(picture.playing);
  picture.playing = null;
}

function play(picture) {
  const { store, look: { header: { layers } } } = picture;
  if (picture.playing) {
    pause(picture);
    return picture.onChange();
  }
  const from = store.get().shown;
  picture.playing = setInterval(() => {
    const next = (store.get().shown ?? 0) + 1;
    if (next >= layers) pause(picture);
    store.set({ shown: next >= layers ? null : next });
  }, layerTime({ layers }));
  return store.set({ shown: from === null || from >= layers ? 0 : from, chosen: null });
}

// The play layer by layer, and the whole picture longer.
function filmed(picture, row) {
  const { header } = picture.look;
  const drawings = [...Array(header.layers).keys(), null, null, null].map((layer) => routesDrawing(header, { arcs: shownArcs(picture), layer }, row));
  return { drawings, milliseconds: layerTime(header) };
}

// --- What is asked for

// What the server says at a path; null where it says nothing, or stops halfway. It is asked again later where it has to answer
// others first (Retry-After), as long as that is wanted.
export async function fetchAnswer(path, isWanted = () => true) {
  for (let tries = 1; ; tries += 1) {
    const answer = await fetch(new URL(path, document.baseURI)).catch(() => null);
    if (answer?.ok) return answer.json().catch(() => null);
    if (!answer?.headers.has("Retry-After") || tries === MOST_TRIES) return null;
    await new Promise((after) => setTimeout(after, ASK_AGAIN_MS * (0.5 + Math.random()))); // not all of a class at once
    if (!isWanted()) return null;
  }
}

function takeArcs(picture, { query, layers, effect, after, first }) {
  const { header } = picture.look;
  layers.forEach((layer, row) => {
    picture.asked.add(`${query} ${layer}`);
    if (layer === header.layers - 1 && query !== header.place) return; // nothing reads it any more
    effect[row].forEach((value, key) => value && picture.arcs.set(arcName({ layer, query, key }), { layer, query, key, effect: value, after: after[row][key], first: first[row][key] }));
  });
  picture.sorted = [...picture.arcs.values()].sort((one, other) => Math.abs(other.effect) - Math.abs(one.effect));
}

// What is to be measured as far as is known, by token and layers: of the blank, then of tokens that carry something, from above.
function listAsked({ look: { header, least }, sorted, wanted }) {
  const carrying = header.asksAlone ? sorted.filter(({ effect }) => Math.abs(effect) >= least).map(({ key }) => key) : [];
  const steps = Array.from({ length: Math.ceil(header.layers / header.atOnce) }, (_, step) => header.layers - step * header.atOnce);
  return [...new Set([header.place, ...wanted, ...carrying])].flatMap((query) => steps.map((to) => ({ query, from: Math.max(0, to - header.atOnce), to })));
}

const isMissing = ({ asked }) => ({ query, from }) => !asked.has(`${query} ${from}`);
const nextAsked = (picture) => listAsked(picture).find(isMissing(picture)) ?? null;

// One request after the other, until all that is to be drawn is here.
async function measure(picture) {
  const { header } = picture.look;
  if (picture.ended) return;
  fetchMixed(picture);
  if (picture.measuring === header || !header.path) return;
  picture.measuring = header;
  for (let next = nextAsked(picture); next && !picture.failed; next = nextAsked(picture)) {
    if (picture.drawing) redraw(picture);
    const answer = await fetchAnswer(`${header.path}&query=${next.query}&from=${next.from}&to=${next.to}`, () => picture.measuring === header);
    if (picture.measuring !== header) return; // another run has come
    if (answer) takeArcs(picture, answer);
    else picture.failed = true;
  }
  Object.assign(picture, { measuring: null, old: [] });
  if (picture.drawing) redraw(picture);
}

async function fetchMixed(picture) {
  const { header } = picture.look;
  if (picture.mixed || !isMixed(picture) || !header.path) return;
  const answer = await fetchAnswer(`${header.path}&mixed=1`, () => same(picture.look.header.id, header.id));
  if (!same(picture.look.header.id, header.id)) return;
  if (answer) picture.mixed = answer.mixed;
  else picture.failed = true;
  redraw(picture);
}

async function fetchHeads(picture, { layer, query, key, off }) {
  const { header } = picture.look;
  const name = layer === undefined ? `off ${off}` : arcName({ layer, query, key });
  if (picture.heads.has(name) || !header.path || header.level === "basic") return;
  const answer = await fetchAnswer(`${header.path}${layer === undefined ? `&layer=${off}` : `&query=${query}&layer=${layer}&key=${key}`}`, () => same(picture.look.header.id, header.id));
  if (!answer || !same(picture.look.header.id, header.id)) return;
  picture.heads.set(name, answer.heads);
  redraw(picture);
}

// --- What is drawn

function shownArcs(picture) {
  const { look: { least }, sorted, known } = picture;
  if (known && known.sorted === sorted && known.least === least && known.mixed === picture.mixed && known.by === picture.look.by) return known.arcs;
  const strong = sorted.filter(({ effect }) => Math.abs(effect) >= least);
  const arcs = isMixed(picture) ? mostMixed(picture, strong.length) : strong;
  picture.known = { sorted, least, mixed: picture.mixed, by: picture.look.by, arcs };
  return arcs;
}

// As many arcs by which most is mixed in, from the blank backwards: into it, or into a token that such an arc comes from.
function mostMixed({ look: { header: { layers, place: blank } }, arcs, mixed }, count) {
  const all = (mixed ?? []).flatMap((rows, layer) => rows.flatMap((row, query) => row.map((share, key) => ({ ...arcs.get(arcName({ layer, query, key })), layer, query, key, share }))));
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

// Until they are measured anew, the arcs of the run before stay.
function drawnArcs(picture) {
  const arcs = shownArcs(picture);
  const cut = picture.look.header.changes.map(({ link }) => link);
  return [...arcs, ...picture.old.filter(({ layer, query, key }) => !picture.asked.has(`${query} ${layer}`) && !cut.includes(cutLink({ layer, query, key })))];
}

const cutLink = ({ layer, query, key }) => `cut~${query + 1}-${key + 1}~${layer + 1}`;
const place = ({ layer, query, key }) => ({ layer, query, key });

function redraw(picture) {
  const { look: { header }, drawing: { theme, height }, store } = picture;
  const state = store.get();
  const arcs = shownArcs(picture);
  const active = state.pointed ?? (state.chosen?.layer === undefined ? null : state.chosen);
  const arc = active && (arcs.find((one) => arcName(one) === arcName(active)) ?? picture.arcs.get(arcName(active)) ?? active);
  drawRoutes(picture.view, header, { arcs: drawnArcs(picture), active: arc, layer: state.shown, theme, height, still: isStill(), describe: (one) => describe(header, one) });
  picture.chips.hidden = !header.changes.length || header.chipsElsewhere;
  if (!picture.chips.hidden) fillChips(picture.chips, header, picture.change);
  setText(picture.said, sentence(picture, state, arc));
  drawLegend(picture, arcs, theme);
  drawOffers(picture, state, theme);
  const weaker = isMixed(picture) ? 0 : picture.sorted.length - arcs.length;
  const rest = header.level === "basic" || isMixed(picture) ? "" : weaker ? say("hidden", { count: weaker }) : TEXTS.routes.noneHidden;
  const asked = picture.measuring && !picture.failed ? listAsked(picture) : [];
  const done = asked.length - asked.filter(isMissing(picture)).length;
  picture.progress.hidden = asked.length < SEVERAL;
  Object.assign(picture.progress, { max: asked.length || 1, value: done });
  setText(picture.more, picture.failed ? TEXTS.routes.notMeasured : asked.length ? say("measuring", { done, count: asked.length }) : rest);
  const piece = header.tokens.find((token) => token.startsWith("##"));
  setText(picture.pieces, piece ? say("pieces", { piece: visible(piece) }) : "");
  const told = picture.node.closest(".stage")?.dataset ?? {};
  const values = { arcs: arcs.length, measured: !picture.measuring, layer: state.shown ?? "" };
  for (const [name, value] of Object.entries(values)) if (told[name] !== String(value)) told[name] = String(value);
}

function nameOf(header, token) {
  return token === header.place && !header.next ? TEXTS.routes.theBlank : say("token", { token: visible(header.tokens[token]) });
}

// An arc in words.
function describe(header, { layer, query, key, effect, after, first, share }) {
  const names = { layer: layer + 1, query: nameOf(header, query), key: nameOf(header, key) };
  const mixed = share === undefined ? "" : say("mixedArc", { ...names, share: percent(share) });
  if (effect === undefined) return mixed;
  const said = say(effect >= 0 ? "arc" : "arcHinders", { ...names, word: visible(header.word), before: percent(header.probability), after: percent(after) });
  if (mixed) return `${mixed} ${said}`;
  return first === header.word ? said : `${said} ${say("arcChanges", { first: visible(first) })}`;
}

function sentence(picture, state, active) {
  const { header } = picture.look;
  if (active) return describe(header, active);
  if (state.shown !== null && state.shown < header.layers) {
    const [[word, share]] = header.guesses[state.shown];
    return say("guess", { layer: layerName(state.shown), word: visible(word), share: percent(share) });
  }
  if (isMixed(picture)) return say("mixedHelp", { agreement: TEXTS.routes.agreement });
  if (header.changes.length) return changeSaid(header);
  return say(header.level === "basic" ? (header.next ? "helpBasicNext" : "helpBasic") : "help", { word: visible(header.word) });
}

// What the changes do to the prediction, and what that means where the page says it.
function changeSaid(header) {
  const { plainGuesses, word, probability, likely, meaning } = header;
  const [[was, before]] = plainGuesses.at(-1);
  const now = likely.find((one) => one.word === word);
  const values = { without: withoutSaid(header), word: visible(word), after: percent(probability), before: percent(before), was: visible(was) };
  if (was !== word) return [say("becomes", values), meaning, say("arcsNow", values)].filter(Boolean).join(" ");
  return say(now && Math.abs(now.after - now.before) < UNMOVED ? "unmoved" : "stays", values);
}

// The changes in words, as a sentence begins.
function withoutSaid({ changes, ...header }) {
  if (changes.length > 1) return say("withChanges", { count: changes.length });
  const [{ link }] = changes;
  const [name, place, layer] = link.split("~");
  if (name === "cut" && layer) return say("withoutLook", { key: nameOf(header, place.split("-")[1] - 1) });
  if (name === "hide" && !layer) return say("withoutWord", { key: nameOf(header, place - 1) });
  if (name !== "off" || !/^[0-9-]+$/.test(place)) return TEXTS.routes.withChange;
  const [number, head] = place.split("-");
  return say(head ? "withoutHead" : "withoutLayer", { layer: number, head });
}

function drawLegend({ legend, look: { header } }, arcs, theme) {
  const most = Math.max(0, ...arcs.filter(({ share }) => share === undefined).map(({ effect }) => Math.abs(effect)));
  const helps = header.level === "basic" || !most ? TEXTS.routes.helps : say("helpsMost", { most: most.toFixed(1) });
  const hinders = arcs.some(({ effect, share }) => share === undefined && effect < 0);
  const entry = (colour, label) => {
    const line = element("i", { "aria-hidden": "true" });
    line.style.color = colour;
    return element("span", {}, line, label);
  };
  refill(legend, [theme.dark, helps, hinders], () => [entry(css(theme.line), helps), ...(hinders ? [entry(hindering(theme), TEXTS.routes.hinders)] : [])]);
}

// What can be switched off of what is chosen: an arc and its heads, a layer and its heads, a word.
function drawOffers(picture, { chosen }, theme) {
  const { offered, headsNode, look: { header }, heads, asked } = picture;
  const known = chosen && heads.get(chosen.off === undefined ? arcName(chosen) : `off ${chosen.off}`);
  const isLooked = chosen?.word === undefined || header.asksAlone || asked.has(`${chosen.word} 0`);
  const isOffered = chosen && !header.hidden.includes("changes");
  refill(offered, [chosen, header.id, isLooked], () => (isOffered ? offersOf(picture, chosen, isLooked) : []));
  refill(headsNode, [chosen, known, header.id, theme.dark], () => (isOffered && known ? headsOf(picture, chosen, known) : []));
}

const layerOf = ({ off, layer }) => off ?? layer;
const linkOf = (chosen) => (chosen.off === undefined ? cutLink(chosen) : `off~${chosen.off + 1}`);
const has = ({ changes }, link) => changes.some((one) => one.link === link);

function offersOf(picture, chosen, isLooked) {
  const { look: { header }, change } = picture;
  const offer = (label, link) => (has(header, link) ? [] : [button(label, () => change({ add: [link] }), { class: "primary" })]);
  if (chosen.word !== undefined) {
    const token = visible(header.tokens[chosen.word]);
    const look = button(say("measure", { token }), () => {
      picture.wanted = [...picture.wanted, chosen.word];
      measure(picture);
    });
    return [...offer(say("hide", { token }), `hide~${chosen.word + 1}`), ...(isLooked ? [] : [look])];
  }
  return offer(chosen.off === undefined ? TEXTS.routes.cut : say("layerOff", { number: chosen.off + 1 }), linkOf(chosen));
}

function headsOf(picture, chosen, known) {
  const { look: { header }, change } = picture;
  const [layer, cut] = [layerOf(chosen), linkOf(chosen)];
  const most = Math.max(...known.map(Math.abs), 1e-9);
  const title = say(chosen.off === undefined ? "heads" : "headsOff", { word: visible(header.word) });
  return [element("p", { class: "quiet-text" }, title), element("div", { class: "route-heads" }, ...known.map((effect, head) => {
    const bar = element("span", { class: `head-bar${effect < 0 ? " hinders" : ""}`, "aria-hidden": "true" });
    bar.style.width = `${(100 * Math.abs(effect)) / most}%`;
    const label = [element("span", {}, say("head", { number: head + 1 })), element("span", { class: "head-track", "aria-hidden": "true" }, bar), element("span", { class: "head-value" }, effect.toFixed(2))];
    const made = button(label, () => change({ add: [`${cut}-${head + 1}`] }), { class: "route-head" });
    const off = `off~${layer + 1}-${head + 1}`;
    const switched = button(TEXTS.routes.off, () => change({ add: [off] }), { class: "head-off", "aria-label": say("headOff", { head: head + 1, layer: layer + 1 }) });
    return element("div", { class: "group" }, made, ...(chosen.off === undefined && !has(header, off) ? [switched] : []));
  }))];
}

// What a file of the picture says below it.
function caption(picture) {
  const { header } = picture.look;
  const weaker = picture.sorted.length - shownArcs(picture).length;
  const state = picture.store.get();
  const changes = header.changes.length ? [fill(TEXTS.caption.changed, { changes: header.changes.map(({ label }) => label).join("; ") }), changeSaid(header)] : [];
  const arcs = isMixed(picture) ? say("mixedHelp", { agreement: TEXTS.routes.agreement }) : say("paper", { word: visible(header.word) });
  const hidden = weaker && !isMixed(picture) ? [say("hidden", { count: weaker })] : [];
  const shown = state.shown === null ? [] : [sentence(picture, { ...state, pointed: null }, null)];
  return [...changes, arcs, ...hidden, ...shown];
}
