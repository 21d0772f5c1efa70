// Which heads does the prediction depend on? A button above the wall asks for a scan; its result colours the wall. Progress of a long
// one is asked for by a route, and the page for the result once it has ended.

import { button, element, setText } from "../../canvas/core/surface.js";
import { say } from "../../canvas/core/text.js";
import { cellsOf, effectOf, limitOf, noteOf } from "../core/effects.js";
import { select, toggle } from "../core/toolbar.js";
import { rampBetween } from "../views/legend.js";

const [POLL, LATER] = [500, 3000]; // milliseconds between two questions; after one that was not answered

export function makeScan(stage) {
  const texts = stage.header.labels.scan;
  const scan = { texts, on: false, isWaiting: false, word: null, minus: null, reported: "", polled: null };
  const ask = (wanted) => stage.act.change({ scan: wanted });
  const follow = (change) => {
    Object.assign(scan, change);
    stage.redraw();
  };
  scan.opener = toggle(texts.heads, (on) => {
    scan.on = on;
    scan.isNew = on;
    scan.isWaiting = on && !stage.header.scan.result;
    if (scan.isWaiting) ask("start");
    stage.store.set({ wallOpen: on || stage.store.get().wallOpen });
  });
  scan.again = button(texts.again, () => ask("start"));
  scan.stop = button(texts.stop, () => ask("stop"));
  scan.bar = element("progress", { max: "1", "aria-label": texts.heads });
  scan.progress = element("div", { class: "group" }, scan.bar, scan.stop);
  scan.status = element("p", { class: "quiet-text", role: "status" });
  scan.words = [select(texts.word, (word) => follow({ word })), select(texts.minus, (word) => follow({ minus: word || null }))];
  scan.chooser = element("div", { class: "group scan-words" }, scan.words[0], element("span", { class: "quiet-text" }, texts.minus), scan.words[1]);
  scan.legend = element("p", { class: "legend matrix-legend" });
  scan.said = element("p", {});
  scan.notes = element("div", { class: "quiet-text notes" });
  scan.found = element("div", { class: "scan-found" }, scan.legend, scan.chooser, scan.said, scan.notes, scan.again);
  scan.above = element("div", { class: "scan" }, scan.opener, scan.progress, scan.status);
  return scan;
}

// The effect of each head on the words that are followed; null while small maps are looked at.
function effectShown(scan, told) {
  if (!scan.on || !told?.result) return null;
  const { words } = told.result;
  const one = words.find(({ word }) => word === scan.word) ?? words[0];
  const other = words.find(({ word }) => word === scan.minus && word !== one.word) ?? null;
  if (scan.result === told.result && scan.one === one && scan.other === other) return scan.effect;
  const effect = effectOf(one, other, scan.texts);
  const limit = limitOf(effect);
  Object.assign(scan, { result: told.result, one, other, effect, limit, thumbnails: { rows: 1, columns: 1, cells: cellsOf(effect, limit) } });
  return effect;
}

// What the wall is drawn of: the effects, while they are looked at, in place of small maps.
export function scannedWall(stage, scan, shown) {
  const told = stage.header.scan;
  const effect = effectShown(scan, told);
  if (!effect) return shown;
  const notes = effect.change.map((_, at) => [[Math.floor(at / shown.heads), at % shown.heads], noteOf(effect, at, told.result.first[at], scan.texts)]);
  return { ...shown, thumbnails: scan.thumbnails, scale: "difference", alt: scan.texts.wall, notes };
}

export function drawScan(stage, scan) {
  const told = stage.header.scan;
  scan.above.hidden = !told || !stage.header.run || (stage.offline && !told.result);
  if (told && !told.result && !told.path && !scan.isWaiting) scan.on = false;
  const effect = effectShown(scan, told);
  scan.found.hidden = scan.above.hidden || !effect;
  if (scan.above.hidden) return;
  scan.opener.set(scan.on);
  scan.progress.hidden = !told.path || stage.offline;
  if (!told.path || told.said) setText(scan.status, told.said);
  scan.status.hidden = !scan.status.textContent;
  if (told.path && !stage.offline && scan.polled !== told) poll(stage, scan, told);
  if (effect) drawFound(stage, scan, told);
}

function drawFound(stage, scan, { result, again }) {
  const names = result.words.map(({ word }) => [word, word]);
  scan.chooser.hidden = names.length < 2;
  scan.words[0].set(names, scan.one.word);
  scan.words[1].set([["", scan.texts.nothing], ...names.filter(([word]) => word !== scan.one.word)], scan.other?.word ?? "");
  const end = `${Math.round(100 * scan.limit)}\u00a0%`;
  scan.legend.replaceChildren(element("span", {}, ...rampBetween([`−${end}`, `+${end}`], true, stage.theme.dark)));
  setText(scan.said, result.said);
  const caption = say(scan.texts.caption, { followed: scan.effect.name });
  scan.notes.replaceChildren(...[caption, ...result.notes].map((note) => element("p", {}, note)));
  scan.again.hidden = !again || stage.offline;
  if (scan.isNew) stage.side.scrollTop += scan.above.getBoundingClientRect().top - stage.side.getBoundingClientRect().top; // the wall into sight
  scan.isNew = false;
  tellOfWords(stage, scan);
}

// The ranking below follows the words that are chosen, while it is open.
function tellOfWords(stage, scan) {
  const written = JSON.stringify([scan.word, scan.minus]);
  if (!stage.header.follows || written === scan.reported || (!scan.reported && written === "[null,null]")) return;
  scan.reported = written;
  stage.report("interventions", { followed: [scan.word ?? "", scan.minus ?? ""] });
}

function poll(stage, scan, told) {
  scan.polled = told;
  const again = (milliseconds) => setTimeout(() => poll(stage, scan, told), milliseconds);
  if (stage.header.scan !== told || !stage.root.isConnected) return;
  fetch(new URL(told.path, document.baseURI)).then(async (answer) => {
    const { running, share, said } = await answer.json();
    if (stage.header.scan !== told) return;
    if (!running) return stage.report("interventions", { scan: "ended" });
    scan.bar.value = share;
    setText(scan.status, told.said || said);
    scan.status.hidden = false;
    again(POLL);
  }).catch(() => again(LATER));
}
