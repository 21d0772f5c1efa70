// The mask of one head, painted or chosen, beside the scores and weights that follow from it: the rest of a computation in steps
// (steps.js) whose scores alone were sent. data.masking: `labels`, `penalised`, `real` tokens, whether it is `paintable`, `padding` by mask.

import { button, element, setText } from "../../canvas/core/surface.js";
import { number, smallNumber } from "../../canvas/core/numbers.js";
import { say as said } from "../../canvas/core/text.js";
import { emptyRows, leaks, maskedScores, maskOf, writeMask } from "../core/masking.js";
import { drawMask, makeMask } from "./mask.js";

export const BELOW = 56; // pixels kept for what is said below the sum

const grouped = (penalty) => number(Number(penalty)).replace(/\B(?=(\d{3})+$)/g, ",");

// steps: as views/steps.js makes them; set, hover: of its gestures.
export function makeMasking(steps, { labels }, { set, hover }) {
  const made = {};
  const cellAt = ([row, column]) => ({ matrix: "mask", row, column });
  const paint = (mask, hovered) => set({ kind: "painted", mask: writeMask(mask) }, hovered);
  made.brush = makeMask({
    paint(places, allowed) {
      const mask = made.mask.slice();
      for (const [row, column] of places) mask[row * made.tokens + column] = Number(allowed);
      paint(mask, places.length === 1 ? cellAt(places[0]) : null);
    },
    look: (place) => hover(place && cellAt(place)),
  }, labels);
  made.block = button(labels.block, () => {
    const first = Math.floor(made.tokens / 2) * made.tokens;
    paint(made.mask.map((bit, at) => (at >= first && at < first + made.tokens ? 0 : bit)));
  }, { title: labels.blockHelp });
  made.noted = element("p", { class: "quiet-text mask-notes", role: "status", "data-testid": "mask-notes" });
  steps.row.prepend(made.block);
  steps.sum.node.after(made.noted);
  return made;
}

// Fills in every matrix but the scores, which were sent.
export function deriveMasked(made, { model, masking }, { kind, width, mask: painted, penalty }) {
  const written = `${kind} ${width} ${painted} ${penalty}`;
  if (made.model === model && made.written === written) return;
  Object.assign(made, { model, written });
  const { byName } = model;
  made.tokens = byName.scores.rows;
  made.mask = maskOf(kind, made.tokens, { real: masking.real, width: Number(width), painted });
  made.found = maskedScores(byName.scores.values, made.tokens, made.mask, Number(penalty));
  for (const [name, cells] of Object.entries(made.found)) byName[name].values = cells;
  const { labels } = masking;
  model.hiddenNote = kind === "causal" ? labels.later : labels.hidden;
  byName.lowered.penalty = Number(penalty);
  const counted = { allowed: made.mask.reduce((sum, bit) => sum + bit, 0), pairs: made.mask.length, most: labels.most };
  byName.mask.formula = said(masking.paintable ? labels.allowed : labels.tooLong, counted);
  byName.leaky.title = grouped(penalty);
}

// Lays the brush over the mask, and says what leaks or attends to nothing.
export function drawMasked(made, view, { model, masking: { labels, paintable, penalised } }, { penalty }) {
  const { brush, found, tokens, mask } = made;
  const panel = view.panels.get("mask");
  if (paintable && panel?.node.isConnected) {
    if (brush.node.parentElement !== panel.box) panel.box.append(brush.node);
    panel.box.removeAttribute("tabindex");
    brush.node.style.setProperty("--names", `${view.labelWidth}px`);
    drawMask(brush, model.byName.mask, mask, panel.place);
  } else brush.node.remove();
  const empty = emptyRows(mask, tokens);
  made.block.disabled = empty.length > 0;
  const parts = penalised ? leaksSaid(labels, leaks(found, tokens, mask), grouped(penalty)) : [];
  if (empty.length) {
    const names = empty.map((row) => said(labels.emptyRow, { token: model.byName.mask.rowTexts[row], row: row + 1 }));
    parts.push(said(labels.empty, { tokens: names.join(", ") }));
  }
  setText(made.noted, parts.join(" "));
}

function leaksSaid(labels, { leak, unmasked, apart, apartEmpty }, penalty) {
  const parts = leak === null ? [] : [said(labels.leaks, { penalty, leak: smallNumber(leak), unmasked: smallNumber(unmasked), apart: smallNumber(apart) })];
  return apartEmpty === null ? parts : [...parts, said(labels.leaksEmpty, { apart: smallNumber(apartEmpty) })];
}
