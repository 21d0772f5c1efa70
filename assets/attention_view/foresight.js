// The picture that a control of the page leads to, fetched as soon as the control is used and drawn before the page has answered.

import { unpack } from "./bytes.js";

const ANSWER_DUE = 3000; // milliseconds in which the page has surely answered
const CONTROLS = "button, input, textarea, label, canvas, [role=option]";

// draw: called with a picture that has come before the page's. Gives what `foreseen` asks; its `end` ends it.
export function makeForesight(draw) {
  const sight = { draw, known: null, fetched: null, early: null, held: null, turn: 0, unsure: 0, slid: {} };
  const press = (event) => {
    slide(sight, event);
    if (event.button === 0 && event.pointerType !== "touch") fetchNext(sight, choiceBy(sight, event)); // a finger may scroll
  };
  const use = (event) => {
    const change = choiceBy(sight, event);
    if (change) see(sight, change);
    else if (outcomeUnknown(sight, event.composedPath())) lose(sight);
  };
  const move = (event) => slide(sight, event);
  const kinds = { pointerdown: press, click: use, input: use, keydown: move, pointerup: move };
  for (const [kind, act] of Object.entries(kinds)) window.addEventListener(kind, act, true);
  sight.end = () => {
    Object.assign(sight, { known: null, early: null, turn: sight.turn + 1 });
    for (const [kind, act] of Object.entries(kinds)) window.removeEventListener(kind, act, true);
  };
  return sight;
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

// A slider has its new value when everybody has dealt with the event that moves it.
function slide(sight, event) {
  const control = placeOfControl(sight, event.composedPath()[0]);
  const input = control?.place.querySelector("input[type=range]") ?? (event.type === "pointerup" ? sight.slid.input : null);
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
  if (!change?.name || follows(sight, change) || performance.now() < sight.unsure) return null;
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
  sight.early = { is: picture.header.foresight.is, until: performance.now() + ANSWER_DUE };
  sight.draw(picture);
}

// Something was done whose outcome the page alone knows: until it tells, nothing can be foreseen.
function lose(sight) {
  Object.assign(sight, { turn: sight.turn + 1, early: null, fetched: null, unsure: performance.now() + ANSWER_DUE });
}

// Tells whether what the page sends is drawn already, or is older than what is drawn: then it waits for what comes after it.
export function foreseen(sight, sent) {
  const { early } = sight;
  clearTimeout(sight.held);
  Object.assign(sight, { known: sent.header.foresight, fetched: null, turn: sight.turn + 1, unsure: 0 });
  if (early && performance.now() < early.until && sent.header.foresight?.is !== early.is) {
    sight.held = setTimeout(() => sight.early === early && drawHeld(sight, sent), early.until - performance.now());
    return true;
  }
  Object.assign(sight, { early: null, changed: null });
  return early !== null && early.is === sent.header.foresight?.is;
}

function drawHeld(sight, sent) {
  Object.assign(sight, { early: null, changed: null });
  sight.draw(sent);
}
