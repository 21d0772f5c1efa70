// The stage of the page Compare: A, B and B − A as states of one map on the axes of both, how much each head differs, and how a word's
// vectors part through the layers. The rest is the stage of attention, where A stands for the run before its changes and B for the one after.

import { digits } from "../canvas/core/bytes.js";
import { button, element, setText, visible } from "../canvas/core/surface.js";
import { TEXTS } from "../canvas/core/texts.js";
import { say } from "../canvas/core/text.js";
import { chartsDrawing } from "../canvas/figure/charts.js";
import { attentionStage } from "./attention.js";
import { makeChooser } from "./attention/toolbar.js";
import { flag } from "./core/address.js";
import { csvText, withOrigin } from "./core/export_menu.js";
import { compute, onTurn } from "./core/page.js";
import { differenceOn, differingShare, hasBoth, onPair, pairViews } from "./core/pair.js";
import { stacksOf } from "./core/run.js";
import { describeDifference, headName } from "./core/sentences.js";
import { mapOf, viewOf, wallOf } from "./core/shown.js";
import { segments, select } from "./core/toolbar.js";
import { drawChart, makeChart } from "./views/chart.js";
import { drawWall } from "./views/wall.js";

const LEAST = 0.005; // of a share: where no head differs more, none is dark
const LISTED = 12; // words without a partner
const BOTH = ["head", "model"]; // what differs where A and B each have a head
const headsWritten = (heads) => `${heads[0][0] + 1}${heads.length > 1 ? "" : `-${heads[0][1] + 1}`}`; // several are the mean of their layer
const FIELDS = {
  heads: ["head", headsWritten], heads_b: ["head_b", headsWritten], words: flag, hide: flag, show: String, lines: String, scale: String,
  focus: (row) => (row === null ? "" : String(row + 1)), word: (places) => (places === null ? "" : places.map((place) => place + 1).join("-")), compared: String,
};
const PARTS = {
  entry: "compare", fields: FIELDS, arrange, makeRow, choosers, possible, settle, take, maps, describe, headsInWords, barTexts, titles, drawHeads, notes, tell,
  draw, end: ({ stopTurning }) => stopTurning?.(), otherFigure, files: { captionOf, csvOf, fileName: ({ header }) => header.stem },
};

export const { mount, offline } = attentionStage(PARTS);
export default mount;

const same = (one, other) => String(one) === String(other);
const runsOf = ({ before, run }) => [before, run];
const stackOf = (header, side) => stacksOf(header, runsOf(header)[side])[0];
const headsOf = ({ vary }, { heads, heads_b: other }) => [heads, BOTH.includes(vary) ? other : heads];

// --- What a run has

function possible(header, view) {
  const [heads, other] = [view.heads, view.heads_b].map((all, side) => nearest(all, stackOf(header, side)));
  const count = header.rows[rowsName(view)].length;
  return { ...view, heads, heads_b: other, stackNumber: 0, stack: stackOf(header, 0).kind, focus: view.focus !== null && view.focus < count ? view.focus : null };
}

const rowsName = ({ words, hide }) => `${Number(words)}${Number(hide)}`;

function nearest(heads, { layers, heads: count }) {
  const [[layer, head]] = heads;
  const inLayer = Math.min(layer, layers - 1);
  return heads.length > 1 ? Array.from({ length: count }, (_, number) => [inLayer, number]) : [[inLayer, Math.min(head, count - 1)]];
}

// What was just chosen to differ does; and another text has other words.
function take(stage, view, before, isNew) {
  const { header } = stage;
  if (isNew || !before?.run) return;
  if (!same(JSON.stringify(before.asked), JSON.stringify(header.asked))) view.word = null;
  if (before.vary === header.vary) return;
  if (header.vary === "model") view.heads_b = view.heads;
  if (header.vary === "head" && same(view.heads, view.heads_b)) view.heads_b = another(view.heads, stackOf(header, 0));
}

// Another head of the same layer; for the mean of a layer, another layer.
function another([[layer, head], ...more], { heads }) {
  return more.length ? Array.from({ length: heads }, (_, number) => [layer ? 0 : 1, number]) : [[layer, head ? 0 : 1]];
}

// A row keeps its word where words are merged or special tokens are hidden; a focused word is also followed through the layers.
function settle(stage, state, before) {
  const isOther = rowsName(state) !== rowsName(before);
  const change = isOther ? { focus: moved(stage, state, before), word: shifted(stage, state, before) } : {};
  if (!isOther && state.focus !== before.focus && state.focus !== null) change.word = wordInRow(stage, state) ?? state.word;
  return Object.keys(change).some((name) => !same(change[name], state[name])) ? change : null;
}

function moved(stage, state, before) {
  if (before.focus === null) return null;
  const [was, is] = [pairOf(stage, before), pairOf(stage, state)];
  const side = was.rows[before.focus][0] === null ? 1 : 0;
  const [token] = was.views[side].queries.places[was.rows[before.focus][side]];
  const row = is.rows.findIndex(({ [side]: place }) => place !== null && is.views[side].queries.places[place].includes(token));
  return row < 0 ? null : row;
}

// The word of the marked row, if both sides have it: its places, as a link writes them.
function wordInRow(stage, state) {
  const pair = pairOf(stage, state);
  const row = pair.rows[state.focus];
  if (!hasBoth(row)) return null;
  const places = row.map((place, side) => {
    const [token] = pair.views[side].queries.places[place];
    return stackOf(stage.header, side).queries.groups.findIndex((group) => group.includes(token));
  });
  return stage.header.followed.some((one) => same(one.places, places)) ? linked(stage, state, places) : null;
}

// A link counts the words that are shown.
const linked = (stage, state, places) => placesShown(stage, state).map((shown, side) => shown.indexOf(places[side]));
function shifted(stage, { word, hide: hides }, { hide }) {
  if (word === null || hide === hides) return word;
  const [from, to] = [hide, !hide].map((on) => placesShown(stage, { hide: on }));
  const found = word.map((place, side) => to[side].indexOf(from[side][place]));
  return found.includes(-1) ? null : found;
}

// Of A and of B, the places of those of all whole words that are shown.
function placesShown({ header }, { hide }) {
  return [0, 1].map((side) => {
    const { queries } = stackOf(header, side);
    const special = queries.groups.map(([first]) => queries.special[first]);
    return special.flatMap((one, place) => (one && hide && !special.every(Boolean) ? [] : [place]));
  });
}

// --- The maps

function pairOf(stage, { words, hide }) {
  const { header, views } = stage;
  const name = `pair ${rowsName({ words, hide })}`;
  if (!views.has(name)) {
    const both = [0, 1].map((side) => viewOf(stackOf(header, side), { words, hide }, header.padding[side]));
    views.set(name, pairViews(header.rows[rowsName({ words, hide })], both, (word, side) => say(header.labels.wordOf[side], { word })));
  }
  return views.get(name);
}

function maps(stage, state) {
  const { header } = stage;
  const pair = pairOf(stage, state);
  const heads = headsOf(header, state);
  const [before, after] = [0, 1].map((side) => sideMap(stage, pair, side, heads[side]));
  const wanted = runsOf(header).map((run, side) => [run, heads[side].map(([layer]) => layer)]);
  return { view: pair, before, after, difference: before && after && differenceOn(before, after), wanted };
}

function sideMap({ header, runs }, pair, side, heads) {
  const run = runsOf(header)[side];
  const map = mapOf(runs, run, stacksOf(header, run), { stack: 0, heads }, pair.views[side]);
  return map && onPair(pair, side, map);
}

const isSame = ({ before, run, ...header }, state) => before.id === run.id && same(...headsOf(header, state));

function describe({ header, store }, { view, row, before, after, difference }) {
  if (isSame(header, store.get())) return header.same;
  return describeDifference(view, before.weights, after.weights, difference.hatched, row);
}

function nameOf({ labels }, heads) {
  return heads.length > 1 ? say(labels.layerMean, { layer: heads[0][0] + 1 }) : headName(heads);
}

const lower = (text) => text[0].toLowerCase() + text.slice(1);

function headsInWords({ header }, state) {
  const names = headsOf(header, state).map((heads) => nameOf(header, heads));
  return BOTH.includes(header.vary) ? names.map((name, side) => `${"AB"[side]}: ${lower(name)}`).join("; ") : names[0];
}

function titles({ header }, state) {
  const heads = headsOf(header, state).map((one) => (BOTH.includes(header.vary) ? lower(nameOf(header, one)) : ""));
  return [...header.titles.map((title, side) => say(header.labels.titles[side], { side: [title, heads[side]].filter(Boolean).join(", ") })), header.labels.titles[2]];
}

// Of a word that only one side has nothing can be listed.
function barTexts({ header: { labels } }, { rows }, row) {
  const alone = row !== null && !hasBoth(rows[row]);
  return { ...labels.largestOf, ...(alone ? { nothing: labels.alone[rows[row][0] === null ? 1 : 0] } : {}) };
}

// The weights of a link that only one side has.
function tell({ header: { labels }, shown: { view, before, after, difference } }, query, key) {
  const at = query * view.keyRows.length + key;
  if (!difference.hatched[at]) return null;
  const side = before.hatched[at] ? after.hatched[at] ? null : 1 : 0;
  return side === null ? "" : say(labels.weightIn[side], { weight: digits([before, after][side].codes[at]) });
}

// --- The row below the toolbar, and the toolbar's choice of heads

function makeRow(stage) {
  const { store, header: { labels } } = stage;
  const which = segments(labels.which, Object.entries(labels.states), (compared) => store.set({ compared }));
  const names = element("span", { class: "side-names quiet-text" });
  const swap = button(labels.swap, () => exchange(stage, "swap"), { class: "chip" });
  const pin = button(labels.pin, () => exchange(stage, "pin"), { class: "chip", title: labels.pinHelp });
  const node = element("div", { class: "changes sides", role: "group", "aria-label": labels.row }, which, element("div", { class: "chips" }, swap, pin), names);
  const sync = (state) => {
    which.set(state.compared);
    setText(names, titles(stage, state).slice(0, 2).map(visible).join("  ·  "));
    swap.hidden = pin.hidden = stage.header.hidden.includes("sides") || (stage.offline && stage.header.vary !== "head");
  };
  return { node, sync };
}

// Heads are exchanged here; what is computed with, by the page.
function exchange(stage, wish) {
  const { store, header } = stage;
  const { heads, heads_b: other } = store.get();
  if (BOTH.includes(header.vary)) store.set({ heads: other, heads_b: wish === "swap" ? heads : other, focus: null, word: null });
  if (header.vary !== "head") compute(stage, "settings", { sides: wish });
}

function choosers(stage) {
  const { labels } = stage.header;
  const isTwo = () => BOTH.includes(stage.header.vary);
  const isOffered = (name) => !stage.header.hidden.includes(name);
  const chooser = (side, field, shown) => makeChooser(stage, {
    name: side === null ? "" : "AB"[side], field, mean: labels.mean, stackOf: () => stackOf(stage.header, side ?? 0), isOffered: () => isOffered(field) && shown(),
  });
  return [chooser(null, "heads", () => !isTwo()), chooser(0, "heads", isTwo), chooser(1, "heads_b", isTwo)];
}

// --- All heads: how much each differs, or the maps of one side

function arrange(stage) {
  const { labels } = stage.header;
  stage.root.classList.add("comparison");
  stage.wall.choose = (heads) => chooseHead(stage, heads);
  stage.wall.toggle.hidden = true;
  stage.wall.grid.ariaMultiSelectable = "false";
  stage.wallLegend = element("p", { class: "quiet-text" }, labels.wallLegend);
  stage.wall.node.append(stage.wallLegend);
  stage.hatched = element("p", { class: "quiet-text hatched" }, element("span", { class: "hatch", "aria-hidden": "true" }), labels.hatched);
  stage.legend.node.parentElement.append(stage.hatched);
  stage.about.firstChild.textContent = labels.about;
  stage.words = makeWords(stage, (number) => stage.store.set({ word: linked(stage, stage.store.get(), stage.header.followed[number].places) }));
  stage.about.before(stage.words.node);
  stage.stopTurning = onTurn(stage, (by) => turn(stage, by));
}

// To a room the map fills the screen, and the word through the layers is its next picture. Returns whether there was another one.
function turn({ root, redraw }, by) {
  if (root.classList.contains("turned") === by > 0) return false;
  root.classList.toggle("turned", by > 0);
  redraw();
  return true;
}

// Which side's heads the wall shows: A's where A is shown, else B's.
const wallSide = ({ compared }) => (compared === "before" ? 0 : 1);

function chooseHead({ store, header }, heads) {
  const state = store.get();
  const chosen = headsOf(header, state)[wallSide(state)];
  const without = (all, others) => all.filter((head) => !others.some((other) => same(head, other)));
  const [head] = heads.length === 1 ? heads : [...without(heads, chosen), ...without(chosen, heads), heads.at(-1)];
  store.set({ [wallSide(state) && BOTH.includes(header.vary) ? "heads_b" : "heads"]: [head] });
}

function drawHeads(stage, state, isHere) {
  const { header, theme } = stage;
  const side = wallSide(state);
  const stack = stackOf(header, side);
  stage.wall.node.hidden = header.hidden.includes(side && BOTH.includes(header.vary) ? "heads_b" : "heads");
  stage.wallLegend.hidden = state.compared !== "difference";
  const shares = sharesOf(stage, state, isHere);
  const found = state.compared === "difference" ? wallOfShares(shares) : thumbnailsOf(stage, state, side, isHere);
  const note = (head) => say(header.labels.headDiffers, { share: shares[head[0]][head[1]].toFixed(2) });
  const of = shares && (side || !BOTH.includes(header.vary)); // of A's own heads nothing is known where B's are compared with one of them
  drawWall(stage.wall, {
    layers: stack.layers, heads: stack.heads, thumbnails: found ?? blank(stack), chosen: headsOf(header, state)[side], scale: state.scale, guesses: [],
    moved: [], notes: of ? shares.flatMap((row, layer) => row.map((_, head) => [[layer, head], note([layer, head])])) : [],
  }, theme, stage.side.clientWidth);
}

const blank = ({ layers, heads }) => ({ rows: 1, columns: 1, cells: new Uint8Array(layers * heads) });

// One cell for each head, the darkest for the one that differs most.
function wallOfShares(shares) {
  if (!shares) return null;
  const most = Math.max(LEAST, ...shares.flat());
  return (shares.wall ??= { rows: 1, columns: 1, cells: Uint8Array.from(shares.flat(), (share) => Math.round((255 * share) / most)) });
}

function thumbnailsOf(stage, { words, hide }, side, isHere) {
  const { header, runs, views } = stage;
  const run = runsOf(header)[side];
  const name = `wall ${run.id} ${rowsName({ words, hide })}`;
  if (!views.has(name) && isHere) views.set(name, wallOf(runs, run, stacksOf(header, run), 0, pairOf(stage, { words, hide }).views[side]));
  return views.get(name) ?? null;
}

// By layer and head of B: how much it differs from the same head of A, or from A's chosen one where heads differ. Null while not all is here.
function sharesOf(stage, state, isHere) {
  const { header, views } = stage;
  const ofOne = BOTH.includes(header.vary);
  const name = `shares ${rowsName(state)} ${ofOne ? state.heads : ""}`;
  if (views.get(name) || !isHere) return views.get(name) ?? null;
  const pair = pairOf(stage, state);
  const { layers, heads } = stackOf(header, 1);
  const chosen = ofOne ? sideMap(stage, pair, 0, state.heads) : null;
  const shares = [];
  for (let layer = 0; layer < layers; layer += 1) {
    shares.push([]);
    for (let head = 0; head < heads; head += 1) {
      const [one, other] = [chosen ?? sideMap(stage, pair, 0, [[layer, head]]), sideMap(stage, pair, 1, [[layer, head]])];
      if (!one || !other) return null;
      shares[layer].push(other.weights.some(Boolean) ? differingShare(pair, one, other) : 0); // of one that is off there is nothing to see
    }
  }
  views.set(name, shares);
  return shares;
}

// --- Beside and after the picture: how similar a word's vectors are in A and in B, layer by layer, of the row that was marked last, or of a
// word that is chosen

const [WIDE, TALL, BELOW] = [900, 340, 16]; // pixels, the sentence included; below the picture that a room sees

function makeWords({ header: { labels } }, choose) {
  const words = { labels };
  words.choose = select(labels.word, (number) => choose(Number(number)));
  words.nothing = element("p", { class: "quiet-text" });
  words.chart = makeChart({ choose: () => {} });
  words.node = element("section", { class: "word-lines", "aria-label": labels.similarity },
    element("div", { class: "group" }, element("h3", {}, labels.similarity), words.choose), words.nothing, words.chart.node);
  return words;
}

const wordOf = (followed, places) => followed.find((one) => same(one.places, places)) ?? followed.find(({ isFirst }) => isFirst);

// places: of the chosen word among all whole words, in A and in B; null for the first one.
function drawWords({ header: { followed, nothing }, theme, root }, words, places) {
  if (!words.node.clientWidth) return; // to a room, while the map is shown
  const found = wordOf(followed, places);
  words.choose.hidden = words.chart.node.hidden = !found;
  words.nothing.hidden = Boolean(found);
  setText(words.nothing, nothing);
  if (!found) return;
  words.choose.set(followed.map(({ name }, number) => [String(number), visible(name)]), String(followed.indexOf(found)));
  const width = Math.min(WIDE, words.node.clientWidth);
  const height = root.classList.contains("presented") ? root.clientHeight - words.chart.node.offsetTop - BELOW : TALL;
  drawChart(words.chart, found.chart, { theme, width, height, sentence: found.said, cell: words.labels.step, details: [], canChoose: false });
  root.dataset.word = found.name;
}

function draw(stage) {
  const { header } = stage;
  stage.words.node.hidden = !header.run;
  if (!header.run) return;
  stage.hatched.hidden = !stage.shown.map.hatched.some(Boolean);
  const state = stage.store.get();
  drawWords(stage, stage.words, placesOf(stage, state));
}

const placesOf = (stage, state) => state.word && placesShown(stage, state).map((shown, side) => shown[state.word[side]]);

// The word's lines as a figure.
function otherFigure(stage) {
  const { header, store } = stage;
  const found = wordOf(header.followed, placesOf(stage, store.get()));
  if (!found) return null;
  return { ...withOrigin(stage, found.title, [`${found.title}.`, ...header.notes, found.said]), label: header.labels.similarity,
    drawing: () => chartsDrawing({ charts: [found.chart], across: 1 }), name: `${header.stem}-word` };
}

// The words that only one side has.
function alone({ header: { labels }, shown: { view } }) {
  const said = [0, 1].flatMap((side) => {
    const words = view.words.filter((_, row) => view.keyRows[row][1 - side] === null);
    const listed = words.slice(0, LISTED).join(", ");
    const all = words.length > LISTED ? say(labels.more, { words: listed, count: words.length - LISTED }) : listed;
    return words.length ? [say(labels.wordsOnlyIn[side], { words: all })] : [];
  });
  return said.length ? said : [labels.allPaired];
}

function notes(stage, state) {
  const hidden = stage.shown.view.hides ? [TEXTS.caption.specialHidden] : [];
  return [...alone(stage), stage.header.labels.howPaired, ...(state.words ? [TEXTS.notes.howMerged] : []), ...hidden];
}

// --- Files

function captionOf(stage) {
  const { header, store, shown } = stage;
  const state = store.get();
  const { labels: { captions } } = header;
  const sides = headsOf(header, state).map((heads, side) => say(captions.heads, { head: lower(nameOf(header, heads)), model: header.models[side] }));
  const title = say(captions.title, { sides: same(...sides) ? sides[0] : say(captions.and, { one: sides[0], other: sides[1] }) });
  const parts = [`${title}.`, ...header.notes, ...(state.words ? [TEXTS.caption.merged] : []), ...(shown.view.hides ? [TEXTS.caption.specialHidden] : []),
    ...alone(stage), shown.said, TEXTS.caption.axes];
  return withOrigin(stage, title, parts);
}

// A row for each link of A or B.
function csvOf(stage) {
  const { header, shown: { view, before, after } } = stage;
  const label = (place) => `${place + 1} ${view.words[place]}`;
  const size = view.keyRows.length;
  const rows = view.rows.flatMap((_, query) => view.keyRows.map((__, key) => {
    const at = query * size + key;
    const [one, other] = [before, after].map((map) => (map.hatched[at] ? null : map.weights[at]));
    if (one === null && other === null) return null;
    const numbers = [one, other, one === null || other === null ? null : other - one].map((number) => (number === null ? "" : number.toFixed(6)));
    return [label(query), label(key), ...numbers];
  }).filter(Boolean));
  return csvText(`${captionOf(stage).caption}\n${TEXTS.csvRounded}`, [header.labels.csvHead, ...rows]);
}
