// The stage of the page Next word: what the model finds likely behind a beginning as bars, with temperature, top-k and top-p; what it
// writes, token by token, each with what else could have stood there; and where the last token looks. The rest is the stage of attention.

import { button, element, refill, setText, visible } from "../canvas/core/surface.js";
import { TEXTS } from "../canvas/core/texts.js";
import { say } from "../canvas/core/text.js";
import { percent, points, sharesInChange } from "../canvas/core/numbers.js";
import { chartsDrawing } from "../canvas/figure/charts.js";
import { attentionStage } from "./attention.js";
import { WRITE } from "./core/address.js";
import { closed, withOrigin } from "./core/export_menu.js";
import { placesOf, shareOf, sharesAt } from "./core/sampling.js";
import { labelled, select } from "./core/toolbar.js";
import { arrangeRoutes, drawRoutes, ROUTE_FIELDS, ROUTE_PARTS } from "./routes/beside.js";
import { drawWords, makeWords } from "./views/predictions.js";

const SHOWN = 12; // bars
const FIELDS = { ...WRITE, ...ROUTE_FIELDS, at: String, temperature: String, top_k: String, top_p: String, seed: String };
const PARTS = { entry: "next_word", fields: FIELDS, ...ROUTE_PARTS, arrange, take, settle, draw, otherFigure };

export const { mount, offline } = attentionStage(PARTS);
export default mount;

const writes = ({ header, offline: isFile }) => !isFile && !header.hidden.includes("written");
const writtenCount = ({ header }) => header.next.written.length;
// The place that is looked at: 0 is the first written token, and the last what comes next. In a link 0 stands for that.
const placeOf = (stage, { at }) => (at === 0 || at > writtenCount(stage) ? writtenCount(stage) : at - 1);
const rowBefore = (stage, state) => stage.header.next.start - 1 + placeOf(stage, state);

function arrange(stage) {
  const texts = stage.header.labels;
  const { store, act } = stage;
  const ask = (wish) => act.change({ ...wish, about: stage.header.asked }); // of another text, it says nothing
  const set = (name) => (value) => store.set({ [name]: Number(value) });
  stage.strip = element("div", { class: "written", role: "group", "aria-label": texts.written, "data-testid": "written" });
  stage.words = makeWords(texts.likely, (word) => writes(stage) && ask({ put: [placeOf(stage, store.get()), word.id] }));
  stage.rest = element("p", { class: "quiet-text", "data-testid": "next-rest" });
  stage.headline = element("p", { class: "said headline", role: "status", "data-testid": "next-said" });
  stage.last = element("p", { class: "quiet-text", "data-testid": "next-last" });
  stage.sampling = {
    temperature: select(texts.temperature, set("temperature")), top_k: select(texts.topK, set("top_k")), top_p: select(texts.topP, set("top_p")),
  };
  stage.seed = element("input", { type: "number", min: "1", max: String(texts.mostSeed), "aria-label": texts.seed, title: texts.seedHelp });
  stage.seed.onchange = () => store.set({ seed: Math.max(1, Math.min(texts.mostSeed, Math.round(Number(stage.seed.value)) || 1)) });
  const fields = [["temperature", texts.temperature], ["top_k", texts.topK], ["top_p", texts.topP]].map(([name, label]) => labelled(label, stage.sampling[name]));
  stage.fields = { ...Object.fromEntries(["temperature", "top_k", "top_p"].map((name, number) => [name, fields[number]])), seed: labelled(texts.seed, stage.seed) };
  stage.buttons = {
    one: button(texts.writeOne, () => act.change({ write: 1 }), { class: "primary" }), many: button(say(texts.writeMany, { count: texts.many }), () => act.change({ write: texts.many })),
    back: button(texts.back, () => ask({ keep: writtenCount(stage) - 1 })), again: button(texts.again, () => ask({ keep: 0 })),
  };
  stage.choices = element("div", { class: "sampling", role: "group", "aria-label": texts.sampling }, ...Object.values(stage.fields));
  stage.temperatureHelp = element("p", { class: "quiet-text" }, texts.temperatureHelp);
  stage.cache = element("p", { class: "quiet-text", "data-testid": "next-cache" });
  const writing = element("div", { class: "writing", role: "group", "aria-label": texts.writing }, ...Object.values(stage.buttons));
  const following = element("section", { class: "predictions following", "aria-label": texts.likely, "data-testid": "following" }, stage.headline, stage.last, stage.choices, stage.temperatureHelp, stage.words.node, stage.rest);
  stage.root.classList.add("blanks", "writer");
  stage.title.after(element("div", { class: "writing-row" }, stage.strip, writing));
  stage.side.prepend(following);
  stage.body.append(element("div", { class: "looks" }, stage.bars.node, stage.picture));
  arrangeRoutes(stage);
  stage.about.before(stage.cache);
}

// What was written or typed since: look at what comes next, from the token that it follows.
function take(stage, view, _, isNew) {
  stage.likely = Object.fromEntries(["after", "before"].map((name) => [name, stage.header.next[name] && placesOf({ ...stage.header.next, ...stage.header.next[name] })]));
  const read = String(stage.header.asked);
  const isOther = !isNew && stage.read !== undefined && stage.read !== read;
  stage.read = read;
  if (isOther) view.at = 0;
  if (isOther || view.focus === null) view.focus = rowBefore(stage, view);
}

// Another place is looked at from the token before it; and some token always looks.
function settle(stage, state, before) {
  if (state.at !== before.at || state.focus === null) return state.focus === rowBefore(stage, state) ? null : { focus: rowBefore(stage, state) };
  return null;
}

const settingsOf = ({ temperature, top_k: topK, top_p: topP }) => ({ temperature, topK, topP });

// The tokens that are shown, with their shares before and after the changes of the run.
function likely(stage, state) {
  const place = placeOf(stage, state);
  const [after, before] = ["after", "before"].map((name) => stage.likely[name]?.[place]);
  const shares = new Map();
  const sums = {};
  for (const [name, one] of [["before", before ?? after], ["after", after]]) {
    sums[name] = sharesAt(one, settingsOf(state));
    one.tokens.forEach((token, rank) => shares.set(token, { ...shares.get(token), [name]: sums[name].shares[rank] }));
  }
  const known = [...shares].map(([token, { before: was = 0, after: now = 0 }]) => ({ token, was, now }));
  const best = (name) => known.filter((one) => one[name] > 0).sort((one, other) => other[name] - one[name]);
  const chosen = stage.header.next.written[place];
  const firsts = new Set(best("now").slice(0, before ? SHOWN - 3 : SHOWN));
  if (before) for (const one of best("was").slice(0, 3)) firsts.add(one);
  const words = [...firsts, ...known.filter((one) => one.token === chosen && !firsts.has(one))].map(({ token, was, now }) => {
    const [id, label] = stage.header.next.tokens[token];
    const [saidBefore, saidAfter] = before ? sharesInChange(was, now) : [percent(was), percent(now)];
    return { id, token, label: visible(label), before: was, after: now, moved: Boolean(before), saidBefore, saidAfter, delta: points(now - was),
      note: token === chosen ? stage.header.labels.stands : writes(stage) ? say(stage.header.labels.put, { word: label }) : "", guess: null, chosen: token === chosen };
  });
  return { words, best: best("now")[0], was: best("was")[0], sums, place };
}

function draw(stage) {
  const { header, store: { get } } = stage;
  stage.cache.hidden = !header.run;
  if (!header.run) return;
  const { next, labels: texts } = header;
  const state = get();
  drawRoutes(stage);
  const found = likely(stage, state);
  const compared = header.changes.length ? state.compared : "after";
  drawStrip(stage, state);
  drawWords(stage.words, found.words, 1, compared);
  const { sums: { [compared === "before" ? "before" : "after"]: sum }, place } = found;
  const shown = found.words.reduce((all, word) => all + (compared === "before" ? word.before : word.after), 0);
  const count = next.vocabulary - found.words.length;
  setText(stage.rest, [
    sum.about ? say(texts.about, { listed: next.listed, share: percent(sum.about) }) : "",
    shown < 0.999995 ? say(texts.others, { count: count.toLocaleString("en"), share: percent(Math.max(0, 1 - shown)) }) : texts.noOthers,
  ].filter(Boolean).join(" "));
  const word = (one) => visible(next.tokens[one.token][1]);
  const values = { word: word(found.best), share: percent(found.best.now), was: word(found.was), before: percent(found.was.was), ...writtenAt(stage, state, place) };
  const stood = place < writtenCount(stage);
  setText(stage.headline, say(header.changes.length ? (found.best.token === found.was.token ? texts.still : texts.now) : stood ? texts.stood : texts.first, values));
  setText(stage.last, stood || !place ? "" : say(texts.last, writtenAt(stage, state, place - 1)));
  stage.last.hidden = stood || !place;
  drawSampling(stage, state);
  const tokens = header.stacks[0].queries.tokens.length;
  const { layers } = header.stacks[0];
  setText(stage.cache, say(texts.cache, { before: tokens - 1, tokens, layers, kept: (layers * (tokens - 1)).toLocaleString("en"), all: (layers * tokens).toLocaleString("en") }));
  stage.root.dataset.place = String(place);
}

// The token that was written at a place, its rank and its share; nothing where none was.
function writtenAt(stage, state, place) {
  const { written, tokens, after: { stand } } = stage.header.next;
  if (place >= written.length) return {};
  const chance = shareOf(sharesAt(stage.likely.after[place], settingsOf(state)), stand[place], state);
  return { written: visible(tokens[written[place]][1]), rank: stand[place][0].toLocaleString("en"), chance: percent(chance) };
}

function drawSampling(stage, state) {
  const { header: { next, labels: texts, hidden }, sampling, buttons, fields } = stage;
  const numbered = (values, all) => values.map((value) => [String(value), value === all ? texts.all : String(value)]);
  sampling.temperature.set(numbered(next.temperatures), String(state.temperature));
  sampling.top_k.set(numbered([...new Set([0, 1, 2, 3, 5, 10, 20, 40, 100, 200, state.top_k])].sort((one, other) => one - other), 0), String(state.top_k));
  sampling.top_p.set(numbered(next.topP, 1), String(state.top_p));
  if (stage.seed.getRootNode().activeElement !== stage.seed) stage.seed.value = String(state.seed);
  for (const [name, field] of Object.entries(fields)) field.hidden = hidden.includes(name);
  stage.temperatureHelp.hidden = hidden.includes("temperature");
  const count = writtenCount(stage);
  for (const one of Object.values(buttons)) one.hidden = !writes(stage);
  buttons.one.disabled = buttons.many.disabled = next.ended;
  buttons.one.title = buttons.many.title = next.ended ? texts.ended : texts.writeHelp;
  buttons.back.disabled = buttons.again.disabled = !count;
}

// The beginning, and what was written behind it: a click on a token shows what else could have stood there.
function drawStrip(stage, state) {
  const { header: { next, labels: texts }, strip, store } = stage;
  const place = placeOf(stage, state);
  refill(strip, [next.beginning, next.written.map((token) => next.tokens[token]), next.ended], () => {
    const words = [[element("bdi", { class: "beginning" }, next.beginning)]]; // each of its pieces, which stay in one line
    next.written.forEach((token, number) => {
      const [, , text, joins] = next.tokens[token];
      const piece = button(visible(text), () => store.set({ at: number + 1 }), { class: joins ? "word joins" : "word", "data-at": String(number + 1), title: texts.alternatives });
      if (joins) words.at(-1).push(piece);
      else words.push([piece]);
    });
    const open = button(next.ended ? texts.end : "…", () => store.set({ at: 0 }), { class: "word next", "data-at": "0", "aria-label": texts.next, title: texts.next });
    requestAnimationFrame(() => { strip.scrollTop = strip.scrollHeight; });
    return [...words.flatMap((pieces, number) => [element("span", { class: number ? "whole" : "" }, ...pieces), " "]), open];
  });
  const at = place === next.written.length ? "0" : String(place + 1);
  for (const one of strip.querySelectorAll("button")) one.ariaPressed = String(one.dataset.at === at);
}

// The bars as a figure.
function otherFigure(stage) {
  const { header, store: { get } } = stage;
  const { changes, labels: texts, stem, next } = header;
  const state = get();
  const { words, place } = likely(stage, state);
  const title = say(texts.figureTitle, { model: header.model });
  const isChanged = changes.length > 0;
  const ticks = [0, 0.5, 1].map((at) => ({ at, text: `${100 * at}\u00a0%` }));
  const labels = words.map(({ label }) => label);
  const [before, after] = ["before", "after"].map((name) => words.map((word) => word[name]));
  const chart = { title, labels, ticks, to: 1, ...(isChanged
    ? { kind: "moved", ends: words.map((word) => `${word.saidBefore} → ${word.saidAfter}`), deltas: words.map(({ delta }) => delta), delta: texts.delta, sides: texts.sides, colour: texts.colour, before, after, cut: words.map(() => [false, false]) }
    : { kind: "bars", values: after, shares: after, ends: words.map(({ saidAfter }) => saidAfter), colours: [texts.colour], names: true, from: 0, cut: words.map(() => false) }) };
  const read = [next.beginning, ...next.written.slice(0, place).map((token) => (next.tokens[token][3] ? "" : " ") + next.tokens[token][2])].join("");
  const parts = [`${title}.`, say(TEXTS.caption.text, { sentence: closed(read) }), say(texts.drawn, { temperature: state.temperature, topK: state.top_k || texts.all, topP: state.top_p }),
    ...(isChanged ? [say(TEXTS.caption.changed, { changes: changes.map(({ label }) => label).join("; ") })] : []), stage.rest.textContent];
  return { ...withOrigin(stage, title, parts), label: texts.likely, drawing: () => chartsDrawing({ charts: [chart], across: 1 }), name: `${stem}-next` };
}
