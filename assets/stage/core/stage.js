// The life of a stage, the same for all: it is mounted once, drawn again when its room, its fonts or the screen change, kept in a file, and
// ended. A stage is an object with a `store` of how it is looked at.

import { bytesOf } from "../../canvas/core/bytes.js";
import { button, element, mountOnce, watchScreen } from "../../canvas/core/surface.js";
import { TEXTS } from "../../canvas/core/texts.js";
import { addressOf, makeAddressWriter } from "./address.js";
import { isDark } from "../../canvas/core/theme.js";
import { compute, computed, connect, present, tellLook } from "./page.js";

const views = new Map(); // by page, or step of a room: how it was looked at last, for who comes back to it
let wish = null; // what was asked for last of a stage that was drawn before its page had run, and at which step of a room
let early = null; // the stage that was drawn before Streamlit's scripts were there, until its page has a place for it (assets/shell/early.js)

// make(parent): a stage, by `begin`; receive(stage, bytes): takes in a message; written(stage): the view as links write it; redraw(stage);
// end(stage): what else ends with it. Returns what a bundle exports: `mount` for Streamlit, `offline` for a file without a server, and
// `render` for a notebook, as anywidget calls it; its `model` has the texts, the style sheet and the message.
export function stageOf({ make, receive, written, redraw, end = () => {} }) {
  const makeOrTake = (parent) => takeEarly(parent) ?? make(parent);
  const remove = (stage) => {
    stage.stop();
    end(stage);
    stage.root.remove();
  };
  const alone = (parent, texts, data) => {
    Object.assign(TEXTS, texts);
    const stage = make(parent);
    stage.offline = true;
    connect(stage, null, () => {});
    receive(stage, data);
    return stage;
  };
  return {
    // mounted: what Streamlit gives; of a stage that is drawn before its page has run, `askForRun` stands for both ways to the server, and
    // what ends it is told whether its step was left, so that the page's own stage will not come.
    mount(mounted) {
      const { askForRun, isEarly } = mounted;
      const [stage, over] = mountOnce(mounted.parentElement, makeOrTake, remove);
      if (isEarly) {
        early = stage;
        stage.wishes = [];
        connect(stage, { setTriggerValue: (...asked) => stage.wishes.push(asked), setStateValue() {} }, () => written(stage));
        receive(stage, mounted.data);
        return over;
      }
      const place = () => stage.header.arrival.place;
      const keepWish = (...asked) => {
        wish = { place: place(), asked };
        askForRun();
      };
      connect(stage, askForRun ? { setTriggerValue: keepWish, setStateValue: askForRun } : mounted, () => written(stage));
      receive(stage, mounted.data);
      const own = wish?.place === place() ? wish : null; // that of a step that was left is forgotten
      wish = askForRun ? own : null;
      if (own && !askForRun) mounted.setTriggerValue(...own.asked);
      const next = stage.wishes?.shift(); // what was asked of the early stage goes one by one, in order, each to a run of its own
      if (next) compute(stage, next[0], next[1]);
      return askForRun ? (isLeft) => { if (isLeft) wish = null; over(); } : over;
    },
    offline(parent, texts, data) {
      const stage = alone(parent, texts, bytesOf(data));
      matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => redraw(stage));
    },
    render({ model, el }) {
      let stage = null;
      const { buffer, byteOffset, byteLength } = model.get("message");
      const [parent, leave] = placeInNotebook(el, model.get("style"), model.get("paper"), () => stage && redraw(stage));
      stage = alone(parent, model.get("texts"), new Uint8Array(buffer, byteOffset, byteLength));
      return () => {
        leave();
        remove(stage);
      };
    },
  };
}

// Moves the early stage to its place in the page, as it is; null where there is none.
function takeEarly(parent) {
  const stage = early;
  early = null;
  if (!stage?.root.isConnected) return null;
  const box = placeOf(parent);
  if (box.moveBefore) box.moveBefore(stage.root, null); // keeps what is open, and the focus
  else box.append(stage.root);
  return stage;
}

const placeOf = (parent) => parent.querySelector?.(".stage-box") ?? parent;

// Puts a stage into the page. kind: its class beside "stage"; redraw(stage): called whenever it is to be drawn anew.
export function begin(stage, parent, kind, redraw) {
  Object.assign(stage, { header: null, arrival: null, offline: false, address: makeAddressWriter() });
  stage.addToLesson = () => stage.report("added");
  stage.root = element("div", { class: kind ? `stage ${kind}` : "stage", "data-testid": "stage" });
  placeOf(parent).append(stage.root);
  const again = () => stage.header && redraw(stage);
  const observer = new ResizeObserver(again);
  observer.observe(stage.root);
  const stopWatching = watchScreen(again);
  addEventListener("resize", again);
  stage.stop = () => {
    stage.address.end();
    observer.disconnect();
    stopWatching();
    removeEventListener("resize", again);
    clearTimeout(stage.computing);
    clearTimeout(stage.following);
  };
  return stage;
}

// Takes in the header of a message; build(stage) makes the parts of the stage, once the texts are here. Returns whether another view is
// asked for, and that of whoever comes back.
export function arrive(stage, header, build) {
  const isFirst = !stage.header;
  Object.assign(stage, { header, home: new URL(header.home, document.baseURI) });
  if (isFirst) build(stage);
  computed(stage);
  const isNew = stage.arrival !== header.arrival.number;
  stage.arrival = header.arrival.number;
  return { isNew, known: header.arrival.restored && views.get(header.arrival.place) };
}

// A change of which nobody is told: it came from the page.
export function setQuietly(stage, change) {
  stage.quiet = true;
  stage.store.set(change);
  stage.quiet = false;
}

// After a change of the state: how the stage is looked at is kept, written into the address, and told where somebody waits for it.
export function noteLooks(stage, state, before, fields) {
  const { header, offline, quiet } = stage;
  if (offline || !header.address) return;
  const looks = Object.keys(header.address.defaults);
  views.set(header.arrival.place, Object.fromEntries(looks.map((name) => [name, state[name]])));
  if (!quiet && looks.every((name) => state[name] === before[name])) return;
  stage.address.write(addressOf(state, header.address, location.search, fields));
  if (quiet) return stage.address.now();
  tellLook(stage);
}

// The button that shows a stage to a room; sync(isShown).
export function makePresentButton(stage) {
  const node = button(TEXTS.controls.present, present, { title: TEXTS.controls.presentHelp });
  const sync = (isShown = true) => { node.hidden = !isShown || stage.header.alone || stage.offline; };
  return { node, sync };
}

// The header of a message for a file, where nobody computes, nothing waits and nothing follows.
export const fileHeader = (header, more) => ({
  ...header, ...more, hidden: [...header.hidden, ...(more.hidden ?? []), "share", "forms"], arrival: { number: 0, restored: false }, awaited: false, follows: false,
});

// --- In a notebook, drawn by anywidget: it has a whole run, and asks nobody. Its colours are those of the paper that suits what is behind it.

// Makes the place of a stage in a cell, apart from the notebook's own styles and keys; changed(): the theme has changed. Returns the
// place, and what ends watching it.
function placeInNotebook(cell, style, paper, changed) {
  cell.dataset.lmSuppressShortcuts = "true"; // of JupyterLab: arrow keys and letters are the stage's
  const box = element("div", { class: "stage-box in-notebook" });
  const root = cell.attachShadow({ mode: "open" });
  root.append(element("style"), box);
  root.firstChild.textContent = style;
  let wasDark = null;
  const dress = () => {
    const dark = isDark(cell);
    if (dark === wasDark) return;
    wasDark = dark;
    const colours = paper[dark ? "dark" : "light"];
    for (const [name, value] of Object.entries({ "--st-font": "system-ui, sans-serif", ...colours })) box.style.setProperty(name, value);
    changed();
  };
  const watcher = new MutationObserver(dress);
  for (const node of [document.documentElement, document.body]) watcher.observe(node, { attributes: true, attributeFilter: ["class", "data-theme", "data-jp-theme-name"] });
  const attached = new ResizeObserver(dress); // a cell gets a background when it is shown
  attached.observe(cell);
  dress();
  return [root, () => { watcher.disconnect(); attached.disconnect(); }];
}
