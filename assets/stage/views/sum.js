// The sum behind a cell, to be read as one: "dimension 3: 2.14 × 2.03 + …", the largest products first.

import { arithmetic } from "../matrices/sum.js";
import { valueAt } from "../matrices/matrix.js";
import { inSum, number } from "../../canvas/core/numbers.js";
import { button, element, setText, visible } from "../../canvas/core/surface.js";
import { filled, say } from "../../canvas/core/text.js";
import { TEXTS } from "../../canvas/core/texts.js";
import { iconButton } from "../core/toolbar.js";

const FEW_TERMS = 6; // of a long sum: the largest ones
const LONG = FEW_TERMS + 2;

export function makeSum(clear) {
  const texts = TEXTS.matrices;
  const title = element("p", { class: "sum-title" });
  const close = iconButton("×", texts.clear, clear);
  const line = element("p", { class: "sum-line", "data-testid": "stage-sum" });
  const left = element("div", { class: "group sum-left", role: "group", "aria-label": TEXTS.matrices.add });
  const entry = makeEntry();
  const more = button("", () => { made.every = !made.every; made.again(); }, { class: "more" });
  const said = element("p", { class: "said", "data-testid": "stage-said" });
  const node = element("section", { class: "sum", "aria-label": texts.sum, "aria-live": "polite" }, element("div", { class: "sum-head" }, title, more, close), line, left, entry.node, said);
  const made = { node, title, close, line, left, entry, more, said, every: false, again: () => {}, added: new Map() };
  return made;
}

// grows: whether the reader adds the products of a sum one by one.
export function drawSum(made, model, cell, grows = false) {
  const { texts } = model;
  made.again = () => drawSum(made, model, cell, grows);
  made.left.hidden = made.entry.node.hidden = true;
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
  setText(made.said, found.note ?? "");
  if (grows && terms.length > 1) return drawGrowing(made, model, cell, found, terms);
  const isLong = terms.length > LONG;
  made.line.replaceChildren(...written(texts, nameOf(found), terms, made.every || !isLong ? Infinity : FEW_TERMS, found.bias), ...found.pieces.map(piece), ...onward(model, cell));
  made.more.hidden = !isLong;
  setText(made.more, say(made.every ? texts.fewTerms : texts.allTerms, { count: made.every ? FEW_TERMS : terms.length }));
}

// The products that were added, what they come to so far, and the largest of those that are left, each a button that adds it; the
// largest can also be computed by the reader, who is told whether it is right.
function drawGrowing(made, model, cell, found, terms) {
  const { texts } = model;
  const key = `${model.matrices.length} ${cell.matrix} ${cell.row} ${cell.column} ${terms[0].left}`;
  if (made.entry.key !== key) setText(made.entry.told, "");
  made.entry.key = key;
  const added = made.added.get(key) ?? [];
  const add = (more, told = "") => {
    made.added.set(key, [...added, ...more]);
    setText(made.entry.told, told);
    made.again();
    if (!told) (made.left.querySelector("button") ?? made.close).focus();
  };
  const all = [...terms, ...(typeof found.bias === "number" ? [{ name: texts.bias, left: found.bias, right: 1 }] : [])];
  const taken = added.map((at) => all[at]);
  const rest = all.map((one, at) => at).filter((at) => !added.includes(at));
  const label = nameOf(found);
  made.more.hidden = true;
  const soFar = rest.length ? [" = ", number(total(taken)), ` ${TEXTS.matrices.soFar}`] : [...found.pieces.map(piece), ...onward(model, cell)];
  made.line.replaceChildren(...(taken.length ? [...written(texts, label, taken, FEW_TERMS), ...soFar] : [TEXTS.matrices.addFirst]));
  made.left.hidden = !rest.length;
  const few = rest.slice(0, FEW_TERMS).map((at) => button(`${label(all[at].name)}: ${inSum(all[at].left)} × ${inSum(all[at].right)}`, () => add([at]), { class: "chip" }));
  const every = say(TEXTS.matrices.addAll, { count: rest.length });
  made.left.replaceChildren(...few, ...(rest.length > 1 ? [button(every, () => add(rest), { class: "chip" })] : []));
  const { entry } = made;
  entry.node.hidden = false;
  entry.form.hidden = !rest.length;
  if (!rest.length) return;
  const largest = all[rest[0]];
  const product = `${inSum(largest.left)} × ${inSum(largest.right)} =`;
  entry.ask(`${label(largest.name)}: ${product}`, (typed) => {
    const isRight = isProduct(typed, largest);
    if (isRight) add([rest[0]], say(TEXTS.matrices.right, { product: `${product} ${number(largest.left * largest.right)}` }));
    else setText(entry.told, say(TEXTS.matrices.wrong, { typed: visible(typed) }));
  });
}

// The box for the largest product that is left: what is typed stays in it as long as this is asked for.
function makeEntry() {
  const asked = element("span", {});
  const box = element("input", { class: "numbers", type: "text", inputmode: "decimal", autocomplete: "off", maxlength: "12" });
  const form = element("form", { class: "group" }, asked, box, button(TEXTS.matrices.check, () => {}, { type: "submit" }));
  const told = element("p", { class: "said", role: "status" });
  const entry = { node: element("div", { class: "sum-entry" }, form, told), form, told, check: () => {} };
  entry.ask = (product, check) => {
    entry.check = check;
    if (asked.textContent === product) return;
    setText(asked, product);
    box.setAttribute("aria-label", say(TEXTS.matrices.enter, { product }));
    box.value = "";
  };
  form.onsubmit = (event) => {
    event.preventDefault();
    if (box.value.trim()) entry.check(box.value.trim());
  };
  return entry;
}

// The factors are shown with two decimals, and somebody computes them in the head: within 5 %, or within what rounding leaves open.
function isProduct(text, { left, right }) {
  const typed = Number(text.replace(",", ".").replace("−", "-"));
  return Math.abs(typed - left * right) <= Math.max(0.05 * Math.abs(left * right), 0.005 * (Math.abs(left) + Math.abs(right)) + 0.006);
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

const nameOf = ({ by }) => (one) => (by === "dimension" && /^\d+$/.test(one) ? say(TEXTS.matrices.dimension, { name: one }) : one);

const total = (terms) => terms.reduce((sum, { left, right }) => sum + left * right, 0);

// Products one by one, the others as what they come to, and a bias.
function written(texts, label, terms, shown, bias = null) {
  const factor = (value, part) => piece({ text: inSum(value), part });
  const parts = terms.slice(0, shown).map(({ name, left, right }) => term(label(name), factor(left, "left"), " × ", factor(right, "right")));
  const rest = terms.slice(shown);
  if (rest.length) parts.push(term(say(texts.moreTerms, { count: rest.length }), inSum(total(rest))));
  if (bias !== null) parts.push(term(texts.bias, inSum(bias)));
  return parts.flatMap((part, index) => (index ? [" + ", part] : [part]));
}

function piece(part) {
  if (typeof part === "string") return part;
  return element(part.raised ? "sup" : "span", { class: part.part ?? "plain" }, part.text);
}

// A dot product becomes a score by one more division, which stands right behind it.
function onward(model, { matrix, row, column }) {
  const next = Object.values(model.byName).find(({ origin }) => origin?.kind === "divided" && origin.of[0] === matrix && origin.divisor !== 1);
  if (!next) return [];
  return [element("span", { class: "onward" }, ` ÷ ${next.origin.written} = `, element("span", { class: "score" }, number(valueAt(next, row, column))))];
}
