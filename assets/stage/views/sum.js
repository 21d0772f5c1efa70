// The sum behind a cell, to be read as one: "dimension 3: 2.14 × 2.03 + …", the largest products first.

import { arithmetic } from "../matrices/sum.js";
import { valueAt } from "../matrices/matrix.js";
import { inSum, number } from "../../canvas/core/numbers.js";
import { element, setText } from "../../canvas/core/surface.js";
import { filled } from "../../canvas/core/text.js";
import { TEXTS } from "../../canvas/core/texts.js";
import { button, iconButton } from "../core/toolbar.js";

const FEW_TERMS = 6; // of a long sum: the largest ones
const LONG = FEW_TERMS + 2;

export function makeSum(clear) {
  const texts = TEXTS.matrixRow;
  const title = element("p", { class: "sum-title" });
  const close = iconButton("×", texts.clear, clear);
  const line = element("p", { class: "sum-line", "data-testid": "stage-sum" });
  const more = button("", () => { made.every = !made.every; made.again(); }, { class: "more" });
  const said = element("p", { class: "said", "data-testid": "stage-said" });
  const node = element("section", { class: "sum", "aria-label": texts.sum, "aria-live": "polite" }, element("div", { class: "sum-head" }, title, more, close), line, said);
  const made = { node, title, close, line, more, said, every: false, again: () => {} };
  return made;
}

export function drawSum(made, model, cell) {
  const { texts } = model;
  made.again = () => drawSum(made, model, cell);
  made.close.hidden = cell === null;
  if (cell === null) {
    made.title.replaceChildren(texts.none);
    made.line.replaceChildren();
    made.more.hidden = true;
    setText(made.said, TEXTS.matrices.chooseCell);
    return;
  }
  const matrix = model.byName[cell.matrix];
  const found = arithmetic(model, cell);
  const terms = sorted(found.terms);
  made.title.replaceChildren(...filled(texts.cell, {
    matrix: element("strong", {}, matrix.title), row: named(texts, matrix.rowKind, matrix.rowTexts[cell.row]),
    column: named(texts, matrix.columnKind, matrix.columnTexts[cell.column]),
  }));
  const isLong = terms.length > LONG;
  made.line.replaceChildren(...written(texts, found, terms, made.every || !isLong ? Infinity : FEW_TERMS), ...found.pieces.map(piece), ...onward(model, cell));
  made.more.hidden = !isLong;
  setText(made.more, filled(made.every ? texts.fewTerms : texts.allTerms, { count: made.every ? FEW_TERMS : terms.length }).join(""));
  setText(made.said, found.note ?? "");
}

const size = ({ left, right }) => Math.abs(left * right);
const sorted = (terms) => (terms ? [...terms].sort((one, other) => size(other) - size(one)) : []);

function named(texts, kind, name) {
  const token = element("bdi", { class: "token" }, name);
  return kind ? element("span", {}, ...filled(texts.place, { kind, name: token })) : token;
}

// What a term is of stands above it, small.
function term(name, ...parts) {
  const label = element("span", { class: "term-name" }, element("bdi", {}, name), name ? element("span", { class: "colon" }, ": ") : "");
  return element("span", { class: "term" }, label, element("span", { class: "term-product" }, ...parts));
}

function written(texts, { by, bias }, terms, shown) {
  const name = (one) => (by === "dimension" ? filled(TEXTS.matrices.dimension, { name: one }).join("") : one);
  const parts = terms.slice(0, shown).map((one) => term(name(one.name), piece({ text: inSum(one.left), part: "left" }), " × ", piece({ text: inSum(one.right), part: "right" })));
  const rest = terms.slice(shown);
  if (rest.length) {
    const left = rest.reduce((sum, one) => sum + one.left * one.right, 0);
    parts.push(term(filled(texts.moreTerms, { count: rest.length }).join(""), inSum(left)));
  }
  if (bias !== null && bias !== undefined) parts.push(term(texts.bias, inSum(bias)));
  return parts.flatMap((part, index) => (index ? [" + ", part] : [part]));
}

function piece(part) {
  if (typeof part === "string") return part;
  return element(part.raised ? "sup" : "span", { class: part.part ?? "plain" }, part.text);
}

// A dot product becomes a score by one more division, which stands right behind it.
function onward(model, { matrix, row, column }) {
  const next = Object.values(model.byName).find(({ origin }) => origin?.kind === "divided" && origin.of === matrix && origin.divisor !== 1);
  if (!next) return [];
  return [element("span", { class: "onward" }, ` ÷ ${next.origin.written} = `, element("span", { class: "score" }, number(valueAt(next, row, column))))];
}
