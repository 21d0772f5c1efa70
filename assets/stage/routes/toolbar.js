// The toolbar of a picture of routes: play, step, how weak an arc may be; and what of it goes into files.

import { TEXTS } from "../../canvas/core/texts.js";
import { button, element, isStill, visible } from "../../canvas/core/surface.js";
import { say } from "../../canvas/core/text.js";
import { closed, csvText, makeExport, withOrigin } from "../core/export_menu.js";
import { packStage } from "../core/run.js";
import { fileHeader, makePresentButton } from "../core/stage.js";
import { iconButton, makeToolbar, segments, select } from "../core/toolbar.js";

const PAPER_ROW = 46; // pixels between two layers

// Controls of how a picture of routes is looked at: `picture` of routes/picture.js; set({ least } or { by }) takes a choice in.
export function makeRouteControls(picture, set) {
  const texts = TEXTS.routes;
  const play = button(texts.play, () => picture().play(), { class: "play" });
  const steps = element("div", { class: "group" }, iconButton("▼", texts.stepDown, () => picture().step(-1)), iconButton("▲", texts.stepUp, () => picture().step(1)));
  const least = select(texts.least, (value) => set({ least: value }));
  const weakest = element("label", { class: "group", title: texts.leastHelp }, element("span", { class: "quiet-text" }, texts.least), least);
  const by = segments(texts.by, Object.entries(texts.byOptions), (value) => set({ by: value }));
  by.title = texts.byHelp;
  const items = [play, steps, weakest, by];
  const sync = (header, look, isShown) => {
    for (const item of items) item.hidden = !isShown;
    if (!isShown) return;
    play.hidden = isStill(); // by the arrows it goes layer by layer all the same
    play.textContent = picture().playing ? texts.pause : texts.play;
    least.set(header.leastEffects.map((value) => [value, value]), look.least || header.usualLeast);
    by.set(look.by);
    weakest.hidden = header.level === "basic" && (look.least || header.usualLeast) === header.usualLeast;
    by.hidden = !header.mixes || (header.level === "basic" && look.by === "effect");
  };
  return { items, sync };
}

export function makeControls(stage) {
  const { store } = stage;
  const looks = makeRouteControls(() => stage.picture, (change) => store.set(change));
  const files = makeExport({
    stage, csvLabel: TEXTS.routes.csv, script: "routes.js", ...routeFiles(stage, () => stage.picture), message: () => wholeMessage(stage), name: () => nameOf(stage.header),
  });
  const present = makePresentButton(stage);
  const node = makeToolbar(...looks.items, files, present.node);
  const sync = (state) => {
    const { header } = stage;
    node.hidden = !header.run;
    if (!header.run) return;
    looks.sync(header, state, true);
    files.hidden = header.hidden.includes("export");
    present.sync();
  };
  return { node, sync };
}

const nameOf = ({ text }) => `prediction-${text.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, "-").replace(/^-|-$/g, "").slice(0, 40)}`;

// The picture as a figure with its caption, and its arcs as a table. stage: its header has model, text and origin.
export function routeFiles(stage, picture) {
  const captionOf = () => {
    const { header } = stage;
    const title = say(TEXTS.routes.title, { model: header.model });
    return withOrigin(stage, title, [`${title}.`, say(TEXTS.caption.text, { sentence: closed(header.text) }), ...picture().caption()]);
  };
  return { captionOf, drawing: () => picture().paper(PAPER_ROW), film: () => picture().film(PAPER_ROW), csv: () => csvOf(stage, picture(), captionOf()) };
}

function csvOf({ header }, picture, { caption }) {
  const label = (place) => `${place + 1} ${visible(picture.tokens()[place])}`;
  const rows = picture.rows().map(({ layer, query, key, effect, after, first }) => [String(layer + 1), label(query), label(key), effect.toFixed(4), after.toFixed(5), first]);
  return csvText(caption, [TEXTS.routes.csvHead, ...rows]);
}

// The message of the stage with all that was measured since, for a file that asks nobody.
function wholeMessage({ header, picture, store }) {
  return packStage(fileHeader(header, { ...picture.whole(), view: store.get(), path: "", words: [], hidden: ["changes"] }));
}
