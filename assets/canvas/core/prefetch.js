// Pictures that a browser fetches as soon as a control or a head is pressed, and draws before the page has answered. Where
// one cannot be had, the page's own answer is waited for.

import { unpack } from "./bytes.js";
import { ANSWER_MS, HEAD_MAP } from "./head_maps.js";

const MAX_PAST = 8; // pictures that the page may still send although a later one is drawn
const CONTROLS = "button, input, textarea, label, canvas, [role=option], [role=slider], [role=combobox]";
const CONTROL_KEYS = [" ", "Enter", "ArrowUp", "ArrowDown", "ArrowLeft", "ArrowRight", "Home", "End", "PageUp", "PageDown"];

// Fetches a packed message; null where there is none.
async function fetchMessage(address, options) {
  try {
    const answer = await fetch(new URL(address, document.baseURI), options);
    return answer.status === 200 ? unpack(new Uint8Array(await answer.arrayBuffer())) : null;
  } catch {
    return null;
  }
}

// --- The map of a head, sent from the wall where it is pressed to the map beside it.

// Begins to fetch the map of a head, or goes on; null where the wall has no path to its maps.
export function fetchHeadMap(wall, [layer, head]) {
  if (!wall.mapsPath) return null;
  const address = `${wall.mapsPath}?head=${layer}-${head}`;
  if (wall.request?.address !== address) wall.request = { address, message: fetchMessage(address) };
  return wall.request.message;
}

// Passes on the map of a chosen head, unless another head was chosen meanwhile. at: the timestamp of the choice.
export async function sendHeadMap(wall, place, at) {
  const { mapsPath } = wall;
  const message = await fetchHeadMap(wall, place);
  if (!message) wall.request = null; // requested again when it is pressed again
  else if (wall.mapsPath === mapsPath && wall.sentAt === at) {
    window.dispatchEvent(new CustomEvent(HEAD_MAP, { detail: { mapsPath, place, at, cells: message.cells } }));
  }
}

// --- The picture that a control of the page leads to.

// draw: called with a picture that comes before the page's. Returns what `isDrawn` needs; its `end` ends it.
export function makePrefetch(draw) {
  const prefetch = { draw, known: null, request: null, early: null, waiting: null, past: [], turn: 0, pausedUntil: 0, slider: {} };
  const listeners = {
    pointerdown: onPress, pointerup: onRelease, click: onUse, input: onUse, keydown: onKey, popstate: discard,
  };
  for (const [kind, act] of Object.entries(listeners)) {
    listeners[kind] = (event) => act(prefetch, event);
    window.addEventListener(kind, listeners[kind], true);
  }
  prefetch.end = () => {
    clearTimeout(prefetch.waiting?.timer);
    Object.assign(prefetch, { known: null, early: null, waiting: null, turn: prefetch.turn + 1 });
    for (const [kind, act] of Object.entries(listeners)) window.removeEventListener(kind, act, true);
  };
  return prefetch;
}

function onPress(prefetch, event) {
  followSlider(prefetch, event);
  prefetch.pressedUnknown = isUnknownControl(prefetch, event.composedPath());
  if (event.button === 0 && event.pointerType !== "touch") fetchNext(prefetch, changeBy(prefetch, event)); // a finger may scroll
}

// The pointer may have been dragged off the pressed control meanwhile.
function onRelease(prefetch, event) {
  followSlider(prefetch, event);
  if (prefetch.pressedUnknown) discard(prefetch);
}

function onUse(prefetch, event) {
  const change = changeBy(prefetch, event);
  if (change) drawNext(prefetch, change);
  else if (isUnknownControl(prefetch, event.composedPath())) discard(prefetch);
}

// Of key presses, only a slider's steps are prefetched.
function onKey(prefetch, event) {
  followSlider(prefetch, event);
  if (!CONTROL_KEYS.includes(event.key) || sliderOf(prefetch, event)) return;
  if (event.composedPath().some((node) => node.matches?.(CONTROLS))) discard(prefetch);
}

// Whether only the page knows what a control leads to. Strokes on a mask and slider moves are reported separately.
function isUnknownControl(prefetch, path) {
  if (path.some((node) => node.matches?.("[data-testid=mask-brush]")) || controlAt(prefetch, path[0])) return false;
  return path.some((node) => node.matches?.(CONTROLS));
}

// Streamlit gives the element around each control a class with its key.
function controlAt(prefetch, node) {
  const place = node?.closest?.("[class*=st-key-]");
  const name = place?.className.match(/st-key-(\S+)/)[1];
  return prefetch.known?.controls.includes(name) ? { place, name } : null;
}

function sliderOf(prefetch, event) {
  return controlAt(prefetch, event.composedPath()[0])?.place.querySelector("input[type=range]");
}

// A slider has its new value only after all handlers of the event have run.
function followSlider(prefetch, event) {
  const control = controlAt(prefetch, event.composedPath()[0]);
  const input = sliderOf(prefetch, event) ?? (event.type === "pointerup" ? prefetch.slider.input : null);
  if (!input) return;
  if (event.type !== "pointerup") prefetch.slider = { input, name: control.name, value: input.value };
  setTimeout(() => {
    const { name, value } = prefetch.slider;
    if (prefetch.slider.input !== input || input.value === value) return;
    prefetch.slider.value = input.value;
    drawNext(prefetch, { name, value: input.value });
  });
}

// The option that an event is about to choose, if the control is known.
function changeBy(prefetch, event) {
  const option = event.composedPath().find((node) => node.matches?.("[role=radio]"));
  const control = controlAt(prefetch, option);
  if (!control || event.type === "input" || option.ariaChecked === "true") return null;
  const place = [...control.place.querySelectorAll("[role=radio]")].indexOf(option);
  return { name: control.name, value: String(place), alone: true };
}

// A change made while the page has yet to answer may depend on that answer: an option may set another control.
function dependsOnAnswer(prefetch, { name, alone }) {
  return prefetch.changed && (alone || prefetch.changed !== name);
}

function fetchNext(prefetch, change) {
  if (!change?.name || !prefetch.known || dependsOnAnswer(prefetch, change) || performance.now() < prefetch.pausedUntil) return null;
  const address = `${prefetch.known.path}?${new URLSearchParams({ control: change.name, value: change.value })}`;
  if (prefetch.request?.address !== address) {
    prefetch.request = { address, message: fetchMessage(address, { cache: "no-store", priority: "high" }) };
  }
  return prefetch.request.message;
}

// Draws what a change leads to, unless the page answers before, or the reader does something else.
export async function drawNext(prefetch, change) {
  if (dependsOnAnswer(prefetch, change)) discard(prefetch);
  const request = fetchNext(prefetch, change);
  prefetch.request = null;
  const turn = (prefetch.turn += 1);
  if (!request) return;
  prefetch.changed = change.name;
  const message = await request;
  if (!message || turn !== prefetch.turn) return;
  if (prefetch.early) addToPast(prefetch, prefetch.early.id);
  prefetch.early = { id: message.header.prefetch.id, until: performance.now() + ANSWER_MS };
  prefetch.draw(message);
}

// After an action whose outcome only the page knows: draw its last message, and prefetch nothing for a while.
function discard(prefetch) {
  Object.assign(prefetch, { turn: prefetch.turn + 1, request: null, pausedUntil: performance.now() + ANSWER_MS });
  if (prefetch.waiting) drawWaiting(prefetch);
  else prefetch.early = null;
}

// Whether a message of the page is drawn already or older than what is drawn; an older one is held back for a while.
export function isDrawn(prefetch, message) {
  const early = prefetch.early && performance.now() < prefetch.early.until ? prefetch.early : null;
  const { id } = message.header.prefetch ?? {};
  clearTimeout(prefetch.waiting?.timer);
  Object.assign(prefetch, { known: message.header.prefetch, request: null, waiting: null, turn: prefetch.turn + 1 });
  if (early && id !== early.id && prefetch.past.includes(id)) {
    prefetch.waiting = { message, timer: setTimeout(() => drawWaiting(prefetch), early.until - performance.now()) };
    return true;
  }
  Object.assign(prefetch, { early: null, changed: null });
  addToPast(prefetch, id);
  return early !== null && early.id === id;
}

function addToPast(prefetch, id) {
  prefetch.past = [...prefetch.past, id].slice(-MAX_PAST);
}

function drawWaiting(prefetch) {
  const { message, timer } = prefetch.waiting;
  clearTimeout(timer);
  Object.assign(prefetch, { early: null, changed: null, waiting: null });
  prefetch.draw(message);
}
