// The sum behind the chosen cell, written out with the numbers themselves.

import { element } from "../core/surface.js";
import { inSum } from "../core/numbers.js";
import { arithmetic } from "./origin.js";

const FEW_TERMS = 6;

export function makeSum(clear) {
  const title = element("p", { class: "sum-title" });
  const close = element("button", { type: "button", class: "step", "aria-label": "Clear the chosen cell" }, "×");
  const line = element("p", { class: "sum-line", "data-testid": "matrix-sum" });
  const more = element("button", { type: "button", class: "step more" });
  const note = element("p", { class: "sum-note" });
  const node = element("section", { class: "sum", "aria-label": "How the chosen cell came about", "aria-live": "polite", "data-testid": "matrix-readout" },
    element("div", { class: "sum-head" }, title, close), line, more, note);
  const sum = { node, title, line, more, note, close, every: false };
  close.onclick = clear;
  more.onclick = () => {
    sum.every = !sum.every;
    sum.again();
  };
  return sum;
}

export function fillSum(sum, model, cell) {
  sum.again = () => fillSum(sum, model, cell);
  sum.close.hidden = cell === null;
  if (cell === null) {
    sum.title.replaceChildren("Choose a cell, with a click or with Tab and the arrow keys, to see the sum behind it.");
    sum.line.replaceChildren();
    sum.note.replaceChildren();
    sum.more.hidden = true;
    return;
  }
  const matrix = model.byName[cell.matrix];
  const found = arithmetic(model, cell);
  const name = (kind, text) => [kind ? ` · ${kind} ` : " · ", element("bdi", { class: "token" }, text)];
  sum.title.replaceChildren(element("strong", {}, matrix.title), ...name(matrix.rowKind, matrix.rowTexts[cell.row]),
    ...name(matrix.columnKind, matrix.columnTexts[cell.column]));
  const shown = !found.terms || sum.every || found.terms.length <= FEW_TERMS + 2 ? Infinity : FEW_TERMS;
  sum.line.replaceChildren(...written(found.terms ?? [], found.bias, shown), ...found.pieces.map(piece));
  sum.more.hidden = !found.terms || found.terms.length <= FEW_TERMS + 2;
  sum.more.textContent = sum.every ? `First ${FEW_TERMS} terms only` : `All ${found.terms?.length} terms`;
  sum.note.replaceChildren(found.note ?? "");
}

function written(terms, bias, shown) {
  const nodes = [];
  for (const [index, [left, right]] of terms.entries()) {
    if (index >= shown) break;
    const term = element("span", { class: "term" }, piece({ text: inSum(left), part: "left" }), " × ", piece({ text: inSum(right), part: "right" }));
    nodes.push(...(index ? [" + "] : []), term);
  }
  if (terms.length > shown) {
    const rest = terms.slice(shown).reduce((sum, [left, right]) => sum + left * right, 0);
    nodes.push(" + ", element("span", { class: "term" }, inSum(rest), element("span", { class: "side" }, ` from ${terms.length - shown} more`)));
  }
  if (bias !== null && bias !== undefined) {
    nodes.push(" + ", element("span", { class: "term" }, inSum(bias), element("span", { class: "side" }, " bias")));
  }
  return nodes;
}

function piece(part) {
  if (typeof part === "string") return part;
  return element(part.raised ? "sup" : "span", { class: part.part ?? "plain" }, part.text);
}
