// What happens in a room of a class, as it happens: how many have answered, then what they answered beside the model's answer.
// The server sends events. Where they are blocked, the state is asked for every few seconds. The page's script is asked to
// run again only where it would draw something else.

import { button, element, keep, mountOnce, readKept, setText, visible } from "../core/surface.js";
import { colourTable, css, inkOn } from "../core/palette.js";
import { applyTheme } from "../core/theme.js";

const POLL = 5000; // milliseconds
const PATIENCE = 8000; // for the first event, before the state is asked for
const SPREAD = 700; // over which the pages of a class run again after a change
const [HOLD, LATER] = [600, 10000]; // after a reveal, before phones that were told of no stage run; over which those run that show it already
const BRING_BACK = 20; // looks for the boxes of what was typed before
const TEXT = "textarea, input:not([type]), input[type=text], input[type=number]";

export default function mountLive({ data: given, parentElement, setStateValue, setTriggerValue }) {
  const data = { ...given, ...drawnWith(given.message) };
  const [live, end] = mountOnce(parentElement, makeLive, removeLive);
  live.rerun = (sign) => setTriggerValue("changed", sign);
  live.recalled = (token) => setStateValue("recalled", token);
  live.tellRooms = (rooms) => setStateValue("rooms", rooms);
  const theme = applyTheme(live.root);
  if (theme.dark !== live.theme?.dark) live.results = null; // drawn anew, in other colours
  live.theme = theme;
  keepToken(live, data);
  const isOther = data.step !== live.data?.step;
  if (isOther || data.sent !== live.data?.sent) live.typed = false;
  if (live.data && !isOther && data.sent !== live.data.sent && draftName(data)) keep(draftName(data), {});
  if (data.now !== live.data?.now) live.ahead = Date.now() / 1000 - data.now; // of the server's clock
  turnProjector(data.pictured);
  live.data = data;
  if (isOther || data.revealed) removeStage(live, isOther);
  if (isOther) bringBack(live, BRING_BACK);
  live.asked = null;
  live.go.hidden = true;
  if (data.message) receive(live, data.message, true);
  if (data.events && live.address !== data.events) listen(live);
  return end;
}

// What the page has drawn, by the message that came with it.
function drawnWith(message) {
  if (!message) return {};
  const { step, together, first, revealed, discussed } = message;
  return { step, together, first, revealed: revealed.includes(step), discussed: discussed.includes(step) };
}

function makeLive(parent) {
  const root = parent.querySelector(".live");
  const live = { root, message: null, here: null, data: null, typed: false, source: null, timer: 0, address: "" };
  live.note = element("p", { class: "note", role: "status", "aria-live": "polite" });
  live.clock = element("p", { class: "clock", role: "timer" });
  live.meter = element("div", { class: "meter", "aria-hidden": "true" }, element("div"));
  live.sentence = element("p", { class: "sentence" });
  live.views = element("div", { class: "views", role: "group" });
  live.legend = element("div", { class: "legend", "aria-hidden": "true" });
  live.rows = element("ul", { class: "rows" });
  live.shown = element("p", { class: "shown" });
  live.stage = element("div", {});
  live.go = button("", () => { live.typed = false; askForRun(live, "", 0, 0); }, { class: "go" });
  live.slow = element("p", { class: "slow" });
  live.picture = element("div", { class: "picture" });
  root.append(live.picture, live.note, live.clock, live.meter, live.go, live.shown, live.sentence, live.views, live.legend, live.rows, live.stage, live.slow);
  live.ticking = setInterval(() => drawClock(live), 500);
  for (const part of [live.clock, live.meter, live.sentence, live.views, live.legend, live.shown, live.go, live.slow]) part.hidden = true;
  // An unsent text would be lost with its box, so the page goes on only when the reader says so.
  live.onInput = ({ target }) => {
    if (!target.matches?.(TEXT)) return;
    live.typed = target.value !== "";
    keepTyped(live, target);
  };
  document.addEventListener("input", live.onInput, true);
  return live;
}

function removeLive(live) {
  document.removeEventListener("input", live.onInput, true);
  live.source?.close();
  clearTimeout(live.timer);
  clearTimeout(live.wait);
  clearInterval(live.ticking);
  removeStage(live);
  turnProjector();
}

// A projector turns to the picture of a step at its reveal (assets/shell/present.js), and to the words of the next one. Below the
// picture stands a strip with what was guessed and how to come in.
function turnProjector({ step = "", below = [] } = {}) {
  const root = document.documentElement;
  document.querySelector(".below-picture")?.remove();
  if (step) document.body.append(element("div", { class: "below-picture" }, ...below.map((text) => element("span", {}, text))));
  if ((root.dataset.revealed ?? "") === String(step)) return;
  if (step) root.dataset.revealed = step;
  else delete root.dataset.revealed;
  root.attentionPresenter?.beginStep();
}

// --- The stage of a step that was just revealed, which phones draw before their pages run again, all from the same data.

async function showStage(live, { drawing, home, entry, data, then, recap }) {
  const drawn = (live.drawn = { data, shown: { over: false, end: null } });
  const [{ fetchDrawing }, answer] = await Promise.all([import(addressOf(drawing)), fetch(addressOf(data))]);
  if (!answer.ok) throw new Error(data);
  const bytes = new Uint8Array(await answer.arrayBuffer());
  if (live.drawn !== drawn) return;
  const box = element("div", { class: "stage-box" });
  const host = element("div", {});
  host.attachShadow({ mode: "open" }).append(box);
  live.stage.replaceChildren(element("p", {}, then), host, ...(recap ? [element("p", {}, recap)] : []));
  const isDrawn = await fetchDrawing(addressOf(home), [`${entry}.js`, `start-${entry}.js`], ["stage.css"], "")(
    { data: bytes, parentElement: box, askForRun: () => askForRun(live, "touched", 0, 0) }, drawn.shown);
  if (live.drawn !== drawn) return;
  if (!isDrawn) throw new Error(entry);
  setAsking(false);
}

function removeStage(live, isLeft) {
  if (!live.drawn) return;
  live.drawn.shown.over = true;
  live.stage.replaceChildren();
  live.drawn.shown.end?.(isLeft);
  live.drawn = null;
  setAsking(true);
}

function setAsking(asks) {
  const asked = document.querySelector(".st-key-classroom_asked");
  if (asked) Object.assign(asked, { inert: !asks }).style.opacity = asks ? "" : "0.6";
}

// Stores the member's token in the browser, so that a reload or the link opened again leads back to the room.
function keepToken(live, data) {
  try {
    if (data.remember) localStorage.setItem(data.remember[0], data.remember[1]);
    for (const name of data.forget ?? []) localStorage.removeItem(name);
    if (data.find) tellRooms(live, data.find);
    if (data.recall) answer(live, localStorage.getItem(data.recall) || data.otherwise);
  } catch {
    if (data.recall) answer(live, data.otherwise); // storage is switched off
  }
}

// The rooms whose tokens this browser keeps, as [name in the storage, token], for whoever comes to the entrance.
function tellRooms(live, beginnings) {
  if (live.hasToldRooms) return;
  live.hasToldRooms = true;
  const names = Object.keys(localStorage).filter((name) => beginnings.some((one) => name.startsWith(one) && !name.slice(one.length).includes("-")));
  if (names.length) live.tellRooms(names.map((name) => [name, localStorage.getItem(name)]));
}

function answer(live, token) {
  if (!token || live.wasRecalled) return;
  live.wasRecalled = true;
  live.recalled(token);
}

// --- What a student has half typed: kept in this tab until it is sent, also where the page is loaded again or its server died.

const draftName = ({ remember, step }) => remember && `${remember[0]}-typed-${step}`;
const typedBefore = (data) => (draftName(data) && readKept(draftName(data))) || {};
const labelOf = (box) => box.getAttribute("aria-label");

function keepTyped({ data }, box) {
  if (data && draftName(data)) keep(draftName(data), { ...typedBefore(data), [labelOf(box)]: box.value });
}

// The boxes may be drawn after this: it looks for them a few times.
function bringBack(live, times) {
  const kept = Object.entries(typedBefore(live.data)).filter(([, text]) => text);
  const boxes = [...document.querySelectorAll(TEXT)];
  const missing = kept.filter(([label, text]) => {
    const box = boxes.find((one) => labelOf(one) === label);
    if (box && box.value === "") {
      Object.getOwnPropertyDescriptor(Object.getPrototypeOf(box), "value").set.call(box, text);
      box.dispatchEvent(new Event("input", { bubbles: true }));
    }
    return !box;
  });
  if (missing.length && times) setTimeout(() => live.root.isConnected && bringBack(live, times - 1), 250);
}

const addressOf = (path) => new URL(path, document.baseURI).href; // every page lies right below the start, and so does this

function listen(live) {
  live.source?.close();
  live.address = live.data.events;
  const source = (live.source = new EventSource(addressOf(live.data.events)));
  askLater(live, PATIENCE);
  source.onmessage = ({ data }) => {
    stopAsking(live);
    receive(live, JSON.parse(data), false);
    if (live.message.closed) source.close();
  };
  // EventSource reconnects after a broken stream, but not after a refused or blocked one.
  source.onerror = () => askLater(live, source.readyState === EventSource.CLOSED ? 0 : POLL);
}

function askLater(live, wait) {
  live.timer ||= setTimeout(() => poll(live), wait);
}

function stopAsking(live) {
  clearTimeout(live.timer);
  live.timer = 0;
  live.slow.hidden = true;
}

async function poll(live) {
  if (!live.root.isConnected) return;
  let text = live.data.texts.slow;
  try {
    const answer = await fetch(addressOf(live.data.state), { cache: "no-store" });
    if (answer.ok) receive(live, await answer.json(), false);
  } catch {
    text = live.data.texts.offline;
  }
  if (!live.timer) return; // an event came meanwhile
  live.timer = 0;
  setText(live.slow, text);
  live.slow.hidden = Boolean(live.message?.closed);
  if (live.message?.closed) return;
  askLater(live, POLL + Math.random() * 1000);
}

// drawn: it came with the page, which may be drawn again long after it ran.
function receive(live, message, drawn) {
  if (!live.message || !isOlder(message, live.message, drawn)) live.message = message;
  else if (!drawn) return;
  const newest = live.message;
  // A message about another step than the page's waits until the page has reached that step.
  if (newest.closed || newest.step === live.data.step) live.here = newest;
  draw(live, live.here ?? newest);
  if (!drawn && drawsOther(live.data, newest)) wantRun(live, newest);
}

// The number of answers only grows, without a new version of the room; that of students falls where one has left, which the page may not know.
function isOlder(message, known, drawn) {
  if (message.version !== known.version || message.step !== known.step) return message.version < known.version;
  return (drawn && message.students < known.students) || message.answered < known.answered;
}

const target = (data, message) => (data.own && !message.together ? data.step : message.step);

function drawsOther(data, message) {
  if (message.closed) return true;
  const step = target(data, message);
  const isOther = (steps, drawn) => steps.includes(step) !== drawn;
  if (message.first !== data.first) return true; // only a teacher's page has the switch
  return step !== data.step || message.together !== data.together || isOther(message.revealed, data.revealed) || isOther(message.discussed, data.discussed) || hidesOther(data, message);
}

// After the reveal, the class's answers stand in the picture of the step, too: a word that the teacher hides leaves it.
function hidesOther({ step, revealed, message: drawn }, message) {
  return revealed && message.step === step && JSON.stringify(message.results) !== JSON.stringify(drawn.results);
}

function wantRun(live, message) {
  const moves = !message.closed && target(live.data, message) !== live.data.step;
  live.go.hidden = !(live.typed && moves);
  setText(live.go, live.data.texts.go.replace("{step}", message.step));
  if (!live.go.hidden) return;
  const { data } = live;
  const isReveal = !message.closed && !moves && message.revealed.includes(data.step) && !data.revealed;
  const stage = isReveal && data.shares && message.stage;
  if (stage && live.drawn?.data !== stage.data) showStage(live, stage).catch(() => askForRun(live, "failed", 0, SPREAD));
  askForRun(live, stage ? stage.data : "", isReveal && data.shares && !stage ? HOLD : 0, stage ? LATER : data.own ? SPREAD : 0);
}

function askForRun(live, why, hold, spread) {
  live.go.hidden = true;
  const news = live.message.closed ? "closed" : `${live.message.version} ${why}`;
  if (live.asked === news) return;
  live.asked = news;
  clearTimeout(live.wait);
  live.wait = setTimeout(() => live.rerun(news), hold + Math.random() * spread);
}

function draw(live, message) {
  setText(live.note, message.note ?? "");
  live.ends = message.timer;
  drawClock(live);
  drawPicture(live, live.data.picture);
  live.meter.hidden = typeof message.answered !== "number";
  live.meter.firstChild.style.width = `${(100 * (message.answered ?? 0)) / Math.max(1, message.students ?? 1)}%`;
  live.shown.hidden = !message.sentence;
  setText(live.shown, message.sentence ? live.data.texts.shown.replace("{sentence}", () => visible(message.sentence)) : "");
  if (!message.revealed?.includes(live.data.step)) removeStage(live, true); // the teacher hides the answers again
  const results = message.closed ? null : message.results;
  live.root.classList.toggle("revealed", Boolean(message.revealed?.includes(message.step))); // a first vote leaves the count in sight
  live.sentence.hidden = !results;
  setText(live.sentence, results?.sentence ?? "");
  const text = JSON.stringify(results);
  if (text !== live.results) drawRows(live, results);
  live.results = text;
}

// The timer of a step: at its end nothing happens but that it is said.
function drawClock({ clock, ends, ahead, data }) {
  clock.hidden = typeof ends !== "number";
  if (clock.hidden) return;
  const left = Math.max(0, Math.ceil(ends + ahead - Date.now() / 1000));
  const time = `${Math.floor(left / 60)}:${String(left % 60).padStart(2, "0")}`;
  setText(clock, left ? data.texts.time.replace("{time}", time) : data.texts.timeIsUp);
}

// What a projector shows until the answers are revealed: what is asked, about which sentence, what can be chosen.
function drawPicture(live, picture) {
  live.root.classList.toggle("asking", Boolean(picture));
  const parts = (picture?.said ?? []).map(([role, text]) => element("p", { class: role }, visible(text)));
  const options = (picture?.options ?? []).map((option) => element("li", {}, visible(option)));
  live.picture.replaceChildren(...parts, ...(options.length ? [element("ul", {}, ...options)] : []));
}

// Words that were typed are drawn as bars or, where the reader of this page likes, as a cloud of the same words.
function drawRows(live, results) {
  live.views.hidden = !results?.typed || !results.rows.some(({ count }) => count);
  const isCloud = Boolean(live.isCloud) && !live.views.hidden;
  const choose = (label, cloud) => button(label, () => {
    live.isCloud = cloud;
    drawRows(live, results);
    live.views.querySelector("[aria-pressed=true]").focus();
  }, { "aria-pressed": String(cloud === isCloud) });
  live.views.replaceChildren(choose(live.data.texts.bars, false), choose(live.data.texts.cloud, true));
  live.legend.hidden = !results?.rows.length || isCloud;
  live.legend.replaceChildren();
  if (results?.rows.length) {
    if (results.first) live.legend.append(key("first", results.first));
    live.legend.append(key("class", results.class));
    if (results.model) live.legend.append(key("model", results.model));
  }
  const { theme, data } = live;
  live.rows.classList.toggle("columns", Boolean(results?.columns));
  live.rows.classList.toggle("cloud", isCloud);
  live.rows.style.setProperty("--bars", String(1 + Boolean(results?.first) + Boolean(results?.model)));
  live.rows.setAttribute("aria-label", results?.title ?? "");
  if (isCloud) return void live.rows.replaceChildren(...drawCloud(results.rows.filter(({ count }) => count)));
  // A phone has no space for every token of a sentence: what nobody chose is in the stage below.
  const isShown = (row) => !(data.own && results.columns) || row.right || row.count || row.first;
  live.rows.replaceChildren(...(results?.rows ?? []).filter(isShown).map((row) => drawRow(row, results, theme)));
}

// Each word as large as it is frequent: its area follows its count.
function drawCloud(rows) {
  const most = Math.max(...rows.map(({ count }) => count));
  return rows.map((row) => {
    const word = element("span", { class: "label" }, `${row.right ? "✓ " : ""}${visible(row.label)}`);
    word.style.fontSize = `${(1 + 2 * Math.sqrt(row.count / most)).toFixed(2)}em`;
    return element("li", { class: row.right ? "right" : "" }, word, " ", element("span", { class: "number" }, String(row.count)));
  });
}

const key = (kind, text) => element("span", {}, element("i", { class: `bar ${kind}` }), text);

function drawRow(row, results, theme) {
  const item = element("li", { class: row.right ? "right" : "" });
  const label = element("span", { class: "label" }, `${row.right ? "✓ " : ""}${visible(row.label)}`);
  if (results.columns && row.model !== null) shade(label, row.model, theme);
  item.append(label);
  if (results.first) item.append(bar("first", row.first, row.firstText, results.first));
  item.append(bar("class", row.share, row.text, results.class));
  if (results.model) item.append(bar("model", row.model ?? 0, row.modelText, results.model));
  else if (row.modelText) item.append(element("span", { class: "aside" }, row.modelText));
  return item;
}

// The tokens of a sentence are coloured as in the model's map.
function shade(label, share, { dark }) {
  const colour = colourTable("blues", dark)[Math.round(Math.sqrt(Math.min(1, share)) * 255)];
  label.classList.add("shaded");
  label.style.background = css(colour);
  label.style.color = inkOn(colour);
}

function bar(kind, share, text, whose) {
  const filled = element("i", { class: `bar ${kind}`, "aria-hidden": "true" });
  filled.style.setProperty("--share", Math.min(1, Math.max(0, share)));
  const said = element("span", { class: "number" }, element("span", { class: "unseen" }, `${whose}: `));
  said.append(...(text.match(/\S+\s%|\S+/g) ?? []).flatMap((part) => [element("span", { class: "part" }, part), " "]));
  return element("span", { class: "plot" }, filled, said);
}
