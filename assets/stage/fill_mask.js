// The stage of the page Fill the blank: what the model puts into a blank as bars, where the blank looks as one large row and as the
// map of the head, and the sentence on what a change does. The rest is the stage of attention.

import { button, element, refill, setText, visible } from "../canvas/core/surface.js";
import { TEXTS } from "../canvas/core/texts.js";
import { filled, say } from "../canvas/core/text.js";
import { applyTheme } from "../canvas/core/theme.js";
import { chartsDrawing } from "../canvas/figure/charts.js";
import { attentionStage } from "./attention.js";
import { WRITE } from "./core/address.js";
import { closed, withOrigin } from "./core/export_menu.js";
import { segments } from "./core/toolbar.js";
import { drawScan, makeScan, scannedWall } from "./fill_mask/scan.js";
import { drawSteps, filledBlanks, makeSteps } from "./fill_mask/steps.js";
import { afterWords } from "./routes/end.js";
import { arrangeRoutes, drawRoutes, ROUTE_FIELDS, ROUTE_PARTS } from "./routes/beside.js";
import { drawPredictions, makePredictions } from "./views/predictions.js";

const PARTS = { entry: "fill_mask", fields: { ...WRITE, ...ROUTE_FIELDS, fill: (look) => look ?? "" }, ...ROUTE_PARTS, arrange, take, wall: (stage, shown) => scannedWall(stage, stage.scan, shown), draw, otherFigure };

export const { mount, offline } = attentionStage(PARTS);
export default mount;

// The words stand before the wall; the row of the blank, large, above the map.
function arrange(stage) {
  const texts = stage.header.labels;
  const ask = (wanted) => stage.act.change(wanted);
  stage.predictions = makePredictions(texts, (named) => ask({ named }));
  stage.sentences = element("div", { class: "sentences" });
  stage.which = element("div", { class: "which" });
  stage.headline = element("p", { class: "said headline", role: "status", "data-testid": "stage-headline" });
  stage.undo = button(texts.undo, () => ask({ drop: [stage.header.changes.at(-1).link] }), { class: "chip" });
  stage.look = button(texts.where, () => ask({ only_list: false }));
  stage.invitation = element("p", { class: "quiet-text invitation" });
  const right = element("div", { class: "looks" }, stage.bars.node, stage.picture);
  stage.root.classList.add("blanks");
  stage.steps = makeSteps(stage);
  stage.title.after(stage.sentences, stage.steps.node);
  stage.side.prepend(stage.which, stage.predictions.node, stage.look, stage.invitation);
  stage.side.append(stage.predictions.notes);
  stage.scan = makeScan(stage);
  stage.wall.node.before(stage.scan.above);
  stage.wall.node.after(stage.scan.found);
  stage.body.append(right);
  arrangeRoutes(stage);
  stage.changes.node.after(element("div", { class: "headline-row" }, stage.headline, stage.undo));
}

// Another blank is looked from at once; a head that the page chose by itself gives way to the one it chose for the new blank.
function take(stage, view, before, isNew) {
  const { prediction, automatic } = stage.header;
  stage.scan.isWaiting = false;
  stage.root.classList.remove("list-alone"); // the map needs its room when it is drawn
  if (!prediction || isNew) return;
  if (!before?.run) Object.assign(view, stage.header.view);
  if (before?.prediction?.blank[0] !== prediction.blank[0]) view.fill = "";
  if (String(before?.prediction?.blank) !== String(prediction.blank)) view.focus = prediction.blank[1];
  if (before?.automatic && automatic && String(view.heads) === String(before.automatic)) view.heads = automatic;
}

function draw(stage) {
  const { header } = stage;
  const { prediction, run } = header;
  stage.root.classList.toggle("list-alone", Boolean(prediction) && !run);
  const told = prediction?.steps;
  const inPlace = filledBlanks(stage.steps, told, stage.store.get().fill);
  drawSteps(stage.steps, told, inPlace);
  drawSentences(stage, inPlace);
  if (!prediction) return;
  if (!run) applyTheme(stage.root);
  const compared = header.changes.length ? stage.store.get().compared : "after";
  if (run) drawRoutes(stage);
  drawBlanks(stage, prediction);
  drawScan(stage, stage.scan);
  drawPredictions(stage.predictions, prediction, compared, { asks: !stage.offline && !header.hidden.includes("named") });
  setText(stage.headline, prediction.headline);
  stage.undo.hidden = !header.changes.length || stage.offline || header.hidden.includes("changes");
  stage.look.hidden = Boolean(run) || header.hidden.includes("only_list");
  const { invited } = prediction;
  const isInvited = run && invited && !header.changes.length && !header.hidden.includes("changes") && String(stage.store.get().heads) === String(invited.head);
  setText(stage.invitation, isInvited ? invited.said : "");
  stage.invitation.hidden = !isInvited;
}

function drawBlanks(stage, { blanks, number }) {
  stage.which.hidden = blanks.length < 2 || stage.offline;
  if (stage.which.hidden) return;
  refill(stage.which, blanks, () => [(stage.chooser = segments(stage.header.labels.choose, blanks.map((name, place) => [String(place + 1), name]), (value) => stage.act.change({ blank: Number(value) })))]);
  stage.chooser.set(String(number));
}

// The words of a sentence: a click makes one the blank, and a blank a word again.
function drawSentences(stage, inPlace) {
  const { sentences, labels, prediction } = stage.header;
  const blankOf = (words, number) => words.slice(0, number + 1).filter(([, isBlank]) => isBlank).length;
  const contents = (text, words, [word, isBlank], number) => {
    if (!isBlank) return visible(word);
    const filler = text === prediction?.blank[0] ? inPlace.get(blankOf(words, number)) : null;
    if (filler) return element("span", { class: "filled" }, visible(filler.word), " ", element("small", {}, say(labels.steps.inPlace, filler)));
    return word ? element("s", {}, word) : "[MASK]";
  };
  refill(stage.sentences, [sentences, prediction?.blank[0], [...inPlace]], () => sentences.filter(({ words }) => words.length).map(({ name, text, typed, words, ...read }) => element("div", {
    class: "sentence", role: "group", "aria-label": labels.words, title: labels.words }, ...words.map((word, number) => button(
    contents(text, words, word, number), () => stage.act.change({ word: { name, number, text: typed } }),
    { class: "word", "aria-pressed": String(word[1]) })), ...afterWords({ ...read, words }, stage.act.change))));
}

// The bars as a figure, before and after the changes of the run.
function otherFigure(stage) {
  const { prediction, text, changes, labels, stem } = stage.header;
  if (!prediction) return null;
  const { figure, headline } = prediction;
  const changed = changes.length ? [say(TEXTS.caption.changed, { changes: changes.map(({ label }) => label).join("; ") }), headline] : [];
  const parts = [`${figure.title}.`, say(TEXTS.caption.text, { sentence: closed(text) }), ...changed, ...figure.notes];
  return { ...withOrigin(stage, figure.title, parts), label: labels.prediction, drawing: () => chartsDrawing({ charts: figure.charts, across: 1 }), name: `${stem}-prediction` };
}
