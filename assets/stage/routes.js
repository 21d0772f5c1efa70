// The stage of routes: a sentence below, its prediction above, the model's guess after each layer between them, and arcs from word to
// word, as wide as what the prediction loses without them. The picture is in routes/picture.js, which other stages show too.

import { button, element, refill, setText, visible } from "../canvas/core/surface.js";
import { TEXTS } from "../canvas/core/texts.js";
import { applyTheme } from "../canvas/core/theme.js";
import { writtenView } from "./core/address.js";
import { compute, tellLook } from "./core/page.js";
import { placeStage } from "./core/place.js";
import { unpackStage } from "./core/run.js";
import { arrive, begin, noteLooks, setQuietly, stageOf } from "./core/stage.js";
import { makeStore } from "./core/store.js";
import { afterWords } from "./routes/end.js";
import { makeRoutePicture } from "./routes/picture.js";
import { makeControls } from "./routes/toolbar.js";

const WRITE = { least: String, by: String };
const [LEAST_HEIGHT, DOORS] = [400, 104]; // pixels; below the picture the ways on are to be in sight

export const { mount, offline } = stageOf({ make: makeStage, receive, written: ({ store }) => writtenView(store.get(), WRITE), redraw: draw, end: ({ picture }) => picture?.end() });
export default mount;

function makeStage(parent) {
  const store = makeStore({ least: "", by: "effect" });
  const stage = begin({ store }, parent, "routes", draw);
  stage.change = (change) => compute(stage, "interventions", change);
  store.onChange((state, before) => changed(stage, state, before));
  return stage;
}

function build(stage) {
  stage.words = element("div", { class: "route-words", role: "group", "aria-label": TEXTS.routes.words });
  stage.picture = makeRoutePicture({ change: stage.offline ? null : stage.change, onChange: () => touched(stage) });
  stage.controls = makeControls(stage);
  stage.title = element("p", { class: "stage-title" });
  stage.waiting = element("p", { class: "waiting", role: "status" });
  stage.picture.said.after(stage.waiting);
  stage.root.append(stage.title, stage.words, stage.controls.node, stage.picture.node);
}

const leastOf = ({ store, header }) => store.get().least || header.usualLeast;

function receive(stage, data) {
  const { header } = unpackStage(data);
  const { isNew } = arrive(stage, header, build);
  stage.quiet = true;
  if (header.run) stage.picture.take(header);
  setQuietly(stage, isNew ? { ...header.view, least: header.view.least || header.usualLeast } : {});
}

function changed(stage, state, before) {
  if (!stage.header) return;
  draw(stage);
  noteLooks(stage, state, before, WRITE);
}

// A step of a lesson that waits for a first change is told of it; and the toolbar of what plays.
function touched(stage) {
  stage.controls.sync(stage.store.get());
  if (!stage.quiet && !stage.offline) tellLook(stage);
}

function draw(stage) {
  const { header, store: { get }, root, picture } = stage;
  const state = get();
  const theme = applyTheme(root);
  drawWords(stage);
  root.classList.toggle("no-run", !header.run);
  stage.controls.sync(state);
  if (!header.run) return;
  setText(stage.title, [header.model, `“${header.text}”`].map(visible).join(" · "));
  const height = placeStage(root);
  picture.set({ least: Number(leastOf(stage)), by: state.by });
  const taken = [stage.title, stage.words, stage.controls.node].reduce((sum, { offsetHeight }) => sum + offsetHeight + 8, 0);
  picture.draw({ theme, height: Math.max(LEAST_HEIGHT, height - taken - (root.matches(".presented") ? 0 : DOORS)) });
}

function drawWords({ header, words: node, change }) {
  node.hidden = Boolean(header.next) || !header.words.length; // what comes next has no blank to be moved
  const followed = header.words.findIndex(([, isBlank]) => isBlank);
  refill(node, [header.words, header.typed, header.isChosen, header.end], () => [...header.words.map(([word, isBlank], number) => button(visible(isBlank ? header.tokens?.[header.place] ?? "___" : word),
    () => number !== followed && change({ word: { number, text: header.typed } }),
    { class: isBlank && number !== followed ? "word other-blank" : "word", "aria-pressed": String(number === followed), ...(isBlank && number !== followed ? { title: TEXTS.routes.otherBlank } : {}) })), ...afterWords({ ...header, isChosen: true }, change)]);
}
