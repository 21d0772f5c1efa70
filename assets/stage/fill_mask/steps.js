// The blanks of a sentence filled one after another, in the order that the reader chooses: every order of a short sentence was sent, so
// that a step asks nobody. How far it is stands in one look: "surest-2", "left-3", "hand-2-1" (blanks counted from 1).

import { button, element, refill, setText } from "../../canvas/core/surface.js";
import { say } from "../../canvas/core/text.js";
import { segments } from "../core/toolbar.js";

const HAND = "hand";
export function makeSteps({ header: { labels: { steps: texts } }, store }) {
  const steps = { texts };
  const go = (change) => store.set({ fill: written(steps, { ...steps.at, ...change }) });
  const taken = () => steps.at.done;
  steps.order = segments(texts.order, Object.entries(texts.orders), (order) => go({ order, done: order === HAND ? taken() : [] }));
  steps.next = button(texts.next, () => go({ done: [...taken(), following(steps)] }));
  steps.all = button(texts.all, () => go({ done: chosenOrder(steps) }));
  steps.undo = button(texts.undo, () => go({ done: taken().slice(0, -1) }));
  steps.waiting = element("div", { class: "group steps-waiting", role: "group", "aria-label": texts.waiting });
  steps.fill = (number) => go({ order: HAND, done: [...taken(), number] });
  steps.said = element("p", { class: "steps-said", role: "status", "data-testid": "steps-said" });
  steps.note = element("details", { class: "quiet-text" }, element("summary", {}, texts.meaning), element("p", {}, texts.note));
  steps.node = element("section", { class: "fill-steps", "aria-label": texts.title, "data-testid": "fill-steps" },
    element("div", { class: "group" }, element("span", { class: "quiet-text" }, texts.title), steps.order, steps.next, steps.all, steps.undo, steps.waiting), steps.said, steps.note);
  return steps;
}

// The blanks that are filled, by number: word, share and place in the order; none where the sentence has one blank.
export function filledBlanks(steps, told, look) {
  if (!told) return new Map();
  steps.told = told;
  steps.at = readAt(steps, look);
  return new Map(wordsOf(steps, steps.at.done).map(([number, word, , share], place) => [number, { word, share, place: place + 1 }]));
}

// What is filled, as far as this sentence has it.
function readAt({ told }, look) {
  const [order, ...rest] = (look || "surest").split("-");
  const sent = order === HAND ? rest.map(Number) : (told.named[order] ?? told.named.surest).slice(0, Number(rest[0] ?? 0));
  const isKnown = Object.keys(told.orders).some((one) => begins(one, sent));
  return { order: order in told.named || (order === HAND && told.isEvery) ? order : "surest", done: isKnown ? sent : [] };
}

function written({ told }, { order, done }) {
  const follows = order !== HAND && String(told.named[order].slice(0, done.length)) === String(done);
  if (follows) return done.length || order !== "surest" ? `${order}-${done.length}` : "";
  return `${HAND}${done.map((number) => `-${number}`).join("")}`;
}

const begins = (order, done) => `${order}-`.startsWith(done.map((number) => `${number}-`).join(""));
const orderWith = ({ told }, done) => Object.keys(told.orders).find((one) => begins(one, done));
const wordsOf = (steps, done) => (done.length ? steps.told.orders[orderWith(steps, done)].steps.slice(0, done.length) : []);

// The blank that is filled next: by hand the surest one, too, where the reader lets it go on.
function following(steps) {
  const { at: { order, done }, told } = steps;
  if (order !== HAND) return told.named[order][done.length];
  return waitingOf(steps).reduce((best, one) => (one[2] > best[2] ? one : best))[0];
}

function chosenOrder(steps) {
  const { at: { done }, told } = steps;
  const all = [...done];
  while (all.length < told.blanks) all.push(following({ ...steps, at: { ...steps.at, done: all } }));
  return all;
}

// What stands at each empty blank now: its number, word and share.
function waitingOf({ told, at: { done } }) {
  const found = new Map();
  for (const [order, { steps }] of Object.entries(told.orders)) if (begins(order, done) && steps.length > done.length) found.set(steps[done.length][0], steps[done.length]);
  return [...found.values()].sort(([one], [other]) => one - other);
}

export function drawSteps(steps, told, filledNow) {
  steps.node.hidden = !told;
  if (!told) return;
  const { texts, at: { order, done } } = steps;
  const isDone = done.length === told.blanks;
  for (const one of steps.order.querySelectorAll("button")) one.hidden = one.dataset.value === HAND && !told.isEvery;
  steps.order.set(order);
  steps.next.disabled = steps.all.disabled = isDone;
  steps.undo.disabled = !done.length;
  const waiting = isDone ? [] : waitingOf(steps);
  const next = isDone ? null : following(steps);
  refill(steps.waiting, [waiting, next, told.isEvery], () => waiting.map(([number, word, , share]) => button(say(texts.candidate, { number, word, share }), () => steps.fill(number),
      { class: number === next ? "chip next" : "chip", title: texts.fillHelp, ...(told.isEvery ? {} : { disabled: "" }) })));
  setText(steps.said, isDone ? saidAtEnd(steps) : saidSoFar(steps, filledNow));
  steps.note.hidden = !isDone;
}

function saidSoFar({ texts, told, at: { done } }, filledNow) {
  if (!done.length) return texts.help;
  const { word, share } = filledNow.get(done.at(-1));
  return say(texts.step, { place: done.length, of: told.blanks, number: done.at(-1), word, share });
}

// The finished sentence with both likelihoods, beside those of the other named orders, and of the best of all.
function saidAtEnd({ texts, told, at: { done } }) {
  const own = told.orders[done.join("-")];
  const parts = [say(texts.end, { ...own })];
  for (const [name, order] of Object.entries(told.named)) {
    const other = told.orders[order.join("-")];
    if (String(order) !== String(done)) parts.push(say(texts.other, { ...other, order: texts.orders[name] }));
  }
  if (told.isEvery) parts.push(say(texts.best, { ...told.best, count: Object.keys(told.orders).length }));
  return parts.join(" ");
}
