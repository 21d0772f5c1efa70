// The picture that a control of the page leads to, fetched as soon as the control is used and drawn before the page has answered.

import { unpack } from "./bytes.js";

const ANSWER_DUE = 3000; // milliseconds in which the page usually has answered
const REMEMBERED = 8; // pictures that the page may still send although a later one is drawn
const CONTROLS = "button, input, textarea, label, canvas, [role=option], [role=slider], [role=combobox]";
const KEYS_OF_CONTROLS = [" ", "Enter", "ArrowUp", "ArrowDown", "ArrowLeft", "ArrowRight", "Home", "End", "PageUp", "PageDown"];

// draw: called with a picture that has come before the page's. Gives what `foreseen` asks; its `end` ends it.
export function makeForesight(draw) {
  const sight = { draw, known: null, fetched: null, early: null, waiting: null, past: [], turn: 0, unsure: 0, slid: {} };
  const listeners = {
    pointerdown: foreseePress, pointerup: foreseeRelease, click: foreseeUse, input: foreseeUse, keydown: foreseeKey, popstate: lose,
  };
  for (const [kind, act] of Object.entries(listeners)) {
    listeners[kind] = (event) => act(sight, event);
    window.addEventListener(kind, listeners[kind], true);
  }
  sight.end = () => {
    clearTimeout(sight.waiting?.timer);
    Object.assign(sight, { known: null, early: null, waiting: null, turn: sight.turn + 1 });
    for (const [kind, act] of Object.entries(listeners)) window.removeEventListener(kind, act, true);
  };
  return sight;
}

function foreseePress(sight, event) {
  slide(sight, event);
  sight.pressed = outcomeUnknown(sight, event.composedPath());
  if (event.button === 0 && event.pointerType !== "touch") fetchNext(sight, choiceBy(sight, event)); // a finger may scroll
}

// What was pressed may have been dragged elsewhere meanwhile.
function foreseeRelease(sight, event) {
  slide(sight, event);
  if (sight.pressed) lose(sight);
}

function foreseeUse(sight, event) {
  const change = choiceBy(sight, event);
  if (change) see(sight, change);
  else if (outcomeUnknown(sight, event.composedPath())) lose(sight);
}

// Of what keys can do, only the steps of a slider are foreseen.
function foreseeKey(sight, event) {
  slide(sight, event);
  if (!KEYS_OF_CONTROLS.includes(event.key) || sliderOf(sight, event)) return;
  if (event.composedPath().some((node) => node.matches?.(CONTROLS))) lose(sight);
}

// What is painted is told by whoever paints, and a slider when it has moved.
function outcomeUnknown(sight, path) {
  if (path.some((node) => node.matches?.("[data-testid=mask-brush]")) || placeOfControl(sight, path[0])) return false;
  return path.some((node) => node.matches?.(CONTROLS));
}

// Streamlit gives the place of each control the name of its key.
function placeOfControl(sight, node) {
  const place = node?.closest?.("[class*=st-key-]");
  const name = place?.className.match(/st-key-(\S+)/)[1];
  return sight.known?.controls.includes(name) ? { place, name } : null;
}

function sliderOf(sight, event) {
  return placeOfControl(sight, event.composedPath()[0])?.place.querySelector("input[type=range]");
}

// A slider has its new value when everybody has dealt with the event that moves it.
function slide(sight, event) {
  const control = placeOfControl(sight, event.composedPath()[0]);
  const input = sliderOf(sight, event) ?? (event.type === "pointerup" ? sight.slid.input : null);
  if (!input) return;
  if (event.type !== "pointerup") sight.slid = { input, name: control.name, told: input.value };
  setTimeout(() => {
    const { name, told } = sight.slid;
    if (sight.slid.input !== input || input.value === told) return;
    sight.slid.told = input.value;
    see(sight, { name, told: input.value });
  });
}

// The option that an event is about to choose, where that is foreseen.
function choiceBy(sight, event) {
  const option = event.composedPath().find((node) => node.matches?.("[role=radio]"));
  const control = placeOfControl(sight, option);
  if (!control || event.type === "input" || option.ariaChecked === "true") return null;
  const place = [...control.place.querySelectorAll("[role=radio]")].indexOf(option);
  return { name: control.name, told: String(place), alone: true };
}

// What is used while the page has yet to answer may follow from that answer: an option chosen may set another control.
function follows(sight, { name, alone }) {
  return sight.changed && (alone || sight.changed !== name);
}

function fetchNext(sight, change) {
  if (!change?.name || !sight.known || follows(sight, change) || performance.now() < sight.unsure) return null;
  const asked = new URLSearchParams({ control: change.name, told: change.told });
  const address = `${sight.known.path}?${asked}`;
  if (sight.fetched?.address !== address) sight.fetched = { address, picture: pictureAt(address) };
  return sight.fetched.picture;
}

async function pictureAt(address) {
  try {
    const answer = await fetch(new URL(address, document.baseURI), { cache: "no-store", priority: "high" });
    return answer.status === 200 ? unpack(new Uint8Array(await answer.arrayBuffer())) : null;
  } catch {
    return null;
  }
}

// Draws what a change leads to, unless the page answers before, or the reader does something else.
export async function see(sight, change) {
  if (follows(sight, change)) lose(sight);
  const fetched = fetchNext(sight, change);
  sight.fetched = null;
  const turn = (sight.turn += 1);
  if (!fetched) return;
  sight.changed = change.name;
  const picture = await fetched;
  if (!picture || turn !== sight.turn) return;
  if (sight.early) rememberPicture(sight, sight.early.is);
  sight.early = { is: picture.header.foresight.is, until: performance.now() + ANSWER_DUE };
  sight.draw(picture);
}

// Something was done whose outcome the page alone knows: what it sent last is drawn, and for a while nothing is foreseen.
function lose(sight) {
  Object.assign(sight, { turn: sight.turn + 1, fetched: null, unsure: performance.now() + ANSWER_DUE });
  if (sight.waiting) drawWaiting(sight);
  else sight.early = null;
}

// Tells whether what the page sends is drawn already, or is known to be older than what is drawn: that waits for what follows.
export function foreseen(sight, sent) {
  const early = sight.early && performance.now() < sight.early.until ? sight.early : null;
  const { is } = sent.header.foresight ?? {};
  clearTimeout(sight.waiting?.timer);
  Object.assign(sight, { known: sent.header.foresight, fetched: null, waiting: null, turn: sight.turn + 1 });
  if (early && is !== early.is && sight.past.includes(is)) {
    sight.waiting = { sent, timer: setTimeout(() => drawWaiting(sight), early.until - performance.now()) };
    return true;
  }
  Object.assign(sight, { early: null, changed: null });
  rememberPicture(sight, is);
  return early !== null && early.is === is;
}

function rememberPicture(sight, is) {
  sight.past = [...sight.past, is].slice(-REMEMBERED);
}

function drawWaiting(sight) {
  const { sent, timer } = sight.waiting;
  clearTimeout(timer);
  Object.assign(sight, { early: null, changed: null, waiting: null });
  sight.draw(sent);
}
