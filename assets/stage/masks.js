// The stage of the page Masks: the mask of one head, painted or chosen, beside the scores and weights that follow from it. Python sends the
// scores; masks and weights are made here. The rest is the stage of matrices.

import { element, setText } from "../canvas/core/surface.js";
import { number, smallNumber } from "../canvas/core/numbers.js";
import { filled } from "../canvas/core/text.js";
import { TEXTS } from "../canvas/core/texts.js";
import { emptyRows, leaks, maskedScores, maskOf, writeMask } from "./core/masking.js";
import { button } from "./core/toolbar.js";
import { mountWith, offline as matricesOffline } from "./matrices.js";
import { drawMask, makeMask } from "./views/mask.js";
import { same } from "./views/matrices.js";

const BELOW = 56; // pixels kept for what is said below the sum
const PARTS = { entry: "masks", below: BELOW, arrange, derive, draw, beginsAtFirst: true, step: (header) => (partOf(header) === "penalty" ? "penalty" : null) };

export default mountWith(PARTS);

export const offline = (parent, texts, written) => matricesOffline(parent, texts, written, PARTS);

const partOf = ({ masking: { part } }) => part;
const said = (text, values) => filled(text, values).join("");

function arrange(stage) {
  const { store, header: { labels } } = stage;
  const paint = (mask, hover = null) => store.set({ kind: "painted", mask: writeMask(mask), hover });
  stage.brush = makeMask({
    paint(places, allowed) {
      const mask = stage.mask.slice();
      for (const [row, column] of places) mask[row * stage.tokens + column] = Number(allowed);
      paint(mask, places.length === 1 ? cellAt(places[0]) : null);
    },
    look(place) {
      const hover = place && cellAt(place);
      if (!same(hover, store.get().hover) && (hover || store.get().hover)) store.set({ hover });
    },
  }, labels);
  stage.block = button(labels.block, () => {
    const first = Math.floor(stage.tokens / 2) * stage.tokens;
    paint(stage.mask.map((bit, at) => (at >= first && at < first + stage.tokens ? 0 : bit)));
  }, { title: labels.blockHelp });
  stage.tools = [stage.block];
  stage.noted = element("p", { class: "quiet-text mask-notes", role: "status", "data-testid": "mask-notes" });
  store.onChange((state, before) => state.kind !== before.kind && !stage.quiet && addPadding(stage, state.kind));
}

const cellAt = ([row, column]) => ({ matrix: "mask", row, column });

// A mask of padding would hide nothing where there is none.
function addPadding({ header, act }, kind) {
  const padding = header.controls.find(({ name }) => name === "padding");
  if (header.masking.padding[kind] && padding?.value === "0") act.compute({ padding: header.masking.padding[kind] });
}

// Fills in every matrix but the scores, which were sent.
function derive(stage, { kind, width, mask: painted, penalty }) {
  const { header: { masking, labels }, model } = stage;
  const written = `${kind} ${width} ${painted} ${penalty}`;
  if (stage.derived?.model === model && stage.derived.written === written) return;
  stage.derived = { model, written };
  const { byName } = model;
  stage.tokens = byName.scores.rows;
  stage.mask = maskOf(kind, stage.tokens, { real: masking.real, width: Number(width), painted });
  stage.found = maskedScores(byName.scores.values, stage.tokens, stage.mask, Number(penalty));
  for (const [name, values] of Object.entries(stage.found)) byName[name].values.set(values);
  model.hiddenNote = kind === "causal" ? labels.later : labels.hidden;
  byName.lowered.penalty = Number(penalty);
  const counted = { allowed: stage.mask.reduce((sum, bit) => sum + bit, 0), pairs: stage.mask.length, most: labels.most };
  byName.mask.formula = said(masking.paintable ? labels.allowed : labels.tooLong, counted);
  byName.leaky.title = grouped(penalty);
}

const grouped = (penalty) => number(Number(penalty)).replace(/\B(?=(\d{3})+$)/g, ",");

function draw(stage, state) {
  const { view, brush, header, model, sum, noted, found, tokens, mask } = stage;
  const panel = view.panels.get("mask");
  const isPainted = header.masking.paintable && panel?.node.isConnected;
  if (isPainted) {
    if (brush.node.parentElement !== panel.box) panel.box.append(brush.node);
    panel.box.removeAttribute("tabindex");
    brush.node.style.setProperty("--names", `${view.labelWidth}px`);
    drawMask(brush, model.byName.mask, mask, panel.canvas);
  } else brush.node.remove();
  if (!noted.isConnected) sum.node.after(noted);
  const empty = emptyRows(mask, tokens);
  stage.block.disabled = empty.length > 0;
  const parts = [];
  if (partOf(header) === "penalty") parts.push(...leaksSaid(header.labels, leaks(found, tokens, mask), grouped(state.penalty)));
  if (empty.length) {
    const names = empty.map((row) => said(header.labels.emptyRow, { token: model.byName.mask.rowTexts[row], row: row + 1 }));
    parts.push(said(header.labels.empty, { tokens: names.join(", ") }));
  }
  setText(noted, parts.join(" "));
  stage.root.dataset.mask = state.kind;
}

function leaksSaid(labels, { leak, unmasked, apart, apartEmpty }, penalty) {
  const parts = leak === null ? [] : [said(labels.leaks, { penalty, leak: smallNumber(leak), unmasked: smallNumber(unmasked), apart: smallNumber(apart) })];
  return apartEmpty === null ? parts : [...parts, said(labels.leaksEmpty, { apart: smallNumber(apartEmpty) })];
}
