// What the model puts into a blank, as bars: the most likely words, and those that the reader follows. A bar stays while its word
// does, and moves to its new length.

import { stopAt, walkByKey } from "../../canvas/core/keys.js";
import { element, isStill, setNodes, setText } from "../../canvas/core/surface.js";
import { say } from "../../canvas/core/text.js";
import { TEXTS } from "../../canvas/core/texts.js";
import { makeBarRow } from "./bars.js";

const MOVE = 200; // milliseconds

// texts: of pages/fill_mask/stage.py; follow: called with the words to follow, as the reader wrote them.
export function makePredictions(texts, follow) {
  const title = element("p", { class: "bars-title" });
  const made = { texts, title, likely: makeList(texts.likely, title), followed: makeList(texts.followed) };
  made.rest = element("p", { class: "quiet-text" });
  made.contrasts = element("div", { class: "quiet-text notes" });
  made.notes = element("div", { class: "quiet-text notes aside" });
  made.guessed = element("p", { class: "quiet-text" });
  made.ask = element("input", { type: "text", class: "follow", autocomplete: "off", placeholder: texts.follow, "aria-label": texts.followLabel, title: texts.followHelp });
  made.ask.onchange = () => made.ask.value !== made.named && follow(made.ask.value);
  made.legend = element("p", { class: "class-legend" }, element("i"), TEXTS.classLegend);
  made.node = element("section", { class: "predictions", "aria-label": texts.prediction, "data-testid": "predictions" }, made.likely.node, made.legend, made.rest, made.guessed,
    made.ask, made.followed.node, made.contrasts);
  return made;
}

function makeList(label, ...title) {
  const node = element("ol", { class: "bars words-list", "aria-label": label });
  const list = { rows: new Map(), node: element("div", {}, ...title, node), bars: node };
  node.onkeydown = (event) => { walkByKey(event, [...node.children]); }; // each tells its note
  return list;
}

// A list of words of which one is chosen by a click, Enter or the space bar.
export function makeWords(label, choose) {
  const made = makeList(label);
  const act = ({ target }) => {
    const row = target.closest("li");
    if (row) choose(made.words[Number(row.dataset.place)]);
  };
  made.bars.setAttribute("role", "listbox");
  made.bars.onclick = act;
  made.node.onkeydown = (event) => {
    if (event.key !== "Enter" && event.key !== " ") return;
    event.preventDefault();
    act(event);
  };
  return made;
}

// words: as those of a prediction, with `id`, and `chosen` for the one that stands there.
export function drawWords(made, words, limit, compared) {
  made.words = words;
  drawList(made, words, limit, compared);
  words.forEach(({ chosen }, place) => {
    const row = made.bars.children[place];
    row.setAttribute("role", "option");
    row.ariaSelected = String(chosen);
  });
}

// prediction: of pages/fill_mask/stage.py; compared: "before", "after" or "difference"; asks: whether words to follow are asked for.
export function drawPredictions(made, prediction, compared, { asks }) {
  const { texts } = made;
  made.title.hidden = prediction.limit >= 1; // the sentence above says what the bars are
  if (!made.title.hidden) setText(made.title, say(texts.scale, { percent: Math.round(100 * prediction.limit) }));
  drawList(made.likely, prediction.likely, prediction.limit, compared);
  made.followed.node.hidden = !prediction.followed.length;
  drawList(made.followed, prediction.followed, prediction.limit, compared);
  made.legend.hidden = !prediction.likely.some(({ guess }) => guess);
  setText(made.rest, prediction.rest);
  setText(made.guessed, prediction.guessed);
  made.guessed.hidden = !prediction.guessed;
  for (const [name, said] of [["contrasts", prediction.contrasts], ["notes", prediction.notes]]) {
    made[name].replaceChildren(...said.map((note) => element("p", {}, note)));
    made[name].hidden = !said.length;
  }
  made.ask.hidden = !asks;
  const about = JSON.stringify([prediction.blank[0], prediction.named]);
  if (made.about !== about) made.ask.value = prediction.named; // else what is being typed stays
  Object.assign(made, { about, named: prediction.named });
}

function drawList(list, words, limit, compared) {
  const nameOf = ({ id, label }) => id ?? label; // two tokens may read alike
  const kept = new Map(words.map((word) => [nameOf(word), list.rows.get(nameOf(word)) ?? makeBarRow(element("span", { class: "bar-was" }), element("i", { class: "bar-class" }))]));
  const rows = words.map((word, place) => fill(kept.get(nameOf(word)), word, limit, compared, place));
  setNodes(list.bars, rows);
  stopAt(rows.find((row) => row.tabIndex === 0) ?? rows[0], rows);
  list.rows = kept;
}

function fill(row, word, limit, compared, place) {
  const [token, track, value, said] = row.children;
  const [bar, was, ofClass] = track.children;
  const share = compared === "before" ? word.before : word.after;
  const long = (one) => `${(100 * Math.min(1, one / limit)).toFixed(2)}%`;
  token.textContent = word.label;
  token.title = word.label;
  move(bar, long(share));
  bar.classList.toggle("cut", share > limit);
  was.hidden = !word.moved || compared === "before";
  was.style.left = long(word.before);
  const values = { before: word.saidBefore, after: word.saidAfter, difference: word.delta };
  value.textContent = values[compared];
  row.title = word.note;
  row.setAttribute("aria-description", word.note);
  ofClass.hidden = !word.guess;
  said.hidden = !word.guess;
  if (word.guess) ofClass.style.width = long(word.guess[0]);
  said.textContent = word.guess ? word.guess[1] : "";
  row.dataset.place = String(place);
  return row;
}

// A row that is put elsewhere would begin its transition anew, without one: the bar is moved by hand.
function move(bar, width) {
  const before = bar.style.width;
  bar.style.width = width;
  if (!before || before === width || isStill()) return;
  requestAnimationFrame(() => bar.animate([{ width: before }, { width }], { duration: MOVE, easing: "ease-out" }));
}
