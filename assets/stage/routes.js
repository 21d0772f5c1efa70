// The stage of routes: a sentence below, its prediction above, the model's guess after each layer between them, and arcs from word to
// word, as wide as what the prediction loses without them. The picture is in routes/picture.js, which other stages show too.

import { element, mountOnce, setText, visible, watchScreen } from "../canvas/core/surface.js";
import { TEXTS } from "../canvas/core/texts.js";
import { applyTheme } from "../canvas/core/theme.js";
import { addressOf, makeAddressWriter, writtenView } from "./core/address.js";
import { compute, computed, connect, full, present, tellLook } from "./core/page.js";
import { placeStage } from "./core/place.js";
import { unpackStage } from "./core/run.js";
import { makeStore } from "./core/store.js";
import { button } from "./core/toolbar.js";
import { makeRoutePicture } from "./routes/picture.js";
import { makeControls } from "./routes/toolbar.js";

const WRITE = { least: String, by: String };
const [LEAST_HEIGHT, DOORS] = [400, 104]; // pixels; below the picture the ways on are to be in sight

export default function mountStage(mounted) {
  const [stage, end] = mountOnce(mounted.parentElement, makeStage, removeStage);
  connect(stage, mounted, () => writtenView(stage.store.get(), WRITE));
  receive(stage, unpackStage(mounted.data).header);
  return end;
}

// Shows a run from a file, without a server.
export function offline(parent, texts, written) {
  Object.assign(TEXTS, texts);
  const stage = makeStage(parent);
  stage.offline = true;
  connect(stage, null, () => {});
  receive(stage, unpackStage(Uint8Array.from(atob(written), (sign) => sign.charCodeAt(0))).header);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => draw(stage));
}

function makeStage(parent) {
  const store = makeStore({ least: "", by: "effect" });
  const stage = { store, header: null, arrival: null, address: makeAddressWriter() };
  stage.act = makeActions(stage);
  stage.addToLesson = () => stage.report("added");
  stage.root = element("div", { class: "stage routes", "data-testid": "stage" });
  (parent.querySelector?.(".stage-box") ?? parent).append(stage.root);
  const redraw = () => stage.header && draw(stage);
  stage.observer = new ResizeObserver(redraw);
  stage.stopWatching = watchScreen(redraw);
  addEventListener("resize", redraw);
  stage.stopResizing = () => removeEventListener("resize", redraw);
  store.onChange((state) => changed(stage, state));
  return stage;
}

function build(stage) {
  stage.words = element("div", { class: "route-words", role: "group", "aria-label": TEXTS.routes.words });
  stage.picture = makeRoutePicture({ change: stage.act.change, onChange: () => touched(stage) });
  stage.controls = makeControls(stage);
  stage.title = element("p", { class: "stage-title" });
  stage.waiting = element("p", { class: "waiting", role: "status" });
  stage.picture.said.after(stage.waiting);
  stage.root.append(stage.title, stage.words, stage.controls.node, stage.picture.node);
  stage.observer.observe(stage.root);
}

function makeActions(stage) {
  const { store } = stage;
  return {
    least: (value) => store.set({ least: value }),
    by: (value) => store.set({ by: value }),
    change(change) {
      if (!stage.offline) compute(stage, "interventions", change);
    },
    present,
    full: () => full(stage),
  };
}

const leastOf = ({ store, header }) => store.get().least || header.usualLeast;

function receive(stage, header) {
  const first = !stage.header;
  Object.assign(stage, { header, home: new URL(header.home, document.baseURI) });
  if (first) build(stage);
  computed(stage);
  const isNew = stage.arrival !== header.arrival.number;
  stage.arrival = header.arrival.number;
  stage.quiet = true; // of this change nobody is told: it came from the page
  if (header.run) stage.picture.take(header);
  stage.store.set(isNew ? { ...header.view, least: header.view.least || header.usualLeast } : {});
  stage.quiet = false;
}

function changed(stage, state) {
  if (!stage.header) return;
  draw(stage);
  if (!stage.offline) stage.address.write(addressOf(state, stage.header.address, location.search, WRITE));
  touched(stage);
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
  picture.draw({ theme, height: Math.max(LEAST_HEIGHT, height - taken - (root.matches(".presented,:fullscreen") ? 0 : DOORS)) });
}

function drawWords({ header, words: node, act }) {
  const written = JSON.stringify([header.words, header.text, header.next]);
  if (node.dataset.written === written) return;
  node.dataset.written = written;
  node.hidden = Boolean(header.next); // what comes next has no blank to be moved
  const had = node.getRootNode().activeElement?.dataset?.place;
  node.replaceChildren(...header.words.map(([word, isBlank], number) => button(isBlank ? "[ ? ]" : visible(word),
    () => !isBlank && act.change({ word: { number, text: header.text } }), { class: "word", "aria-pressed": String(isBlank), "data-place": String(number) })));
  if (had) node.querySelector(`[data-place="${had}"]`)?.focus();
}

function removeStage(stage) {
  stage.address.end();
  stage.observer.disconnect();
  stage.stopWatching();
  stage.stopResizing();
  clearTimeout(stage.computing);
  stage.picture?.end();
  stage.root.remove();
}
