// What differs, in words and numbers: the list below the maps and the tooltip at the pointer.

import { changeOf, digits, strongest } from "../core/bytes.js";
import { comparable, hasBoth } from "./partners.js";
import { bold } from "../attention/readout.js";
import { element } from "../core/surface.js";

const MOST_LISTED = 8;
const ONLY = ["stands in A only", "stands in B only"];

// The largest differences: of the focused word, or of all.
export function fillDifferences(readout, view) {
  const { focus, partners, models } = view;
  readout.clear.hidden = focus === null;
  const lonely = focus !== null && !hasBoth(partners, focus);
  const found = lonely ? [] : strongest(strengths(models[2].cells), comparable(partners, focus), MOST_LISTED);
  if (lonely) readout.title.replaceChildren(bold(view.labels[focus]), ` ${missing(partners, focus)}: there is nothing to take from each other.`);
  else if (!found.length) readout.title.replaceChildren("Nothing differs here.");
  else if (focus === null) readout.title.replaceChildren("The largest differences. Choose a word to list its own.");
  else readout.title.replaceChildren(bold(view.labels[focus]), " looks differently at");
  readout.list.replaceChildren(...found.map((position) => item(view, position)));
}

function item(view, position) {
  const [query, key] = [Math.floor(position / view.labels.length), position % view.labels.length];
  const link = element("span", { class: "moved-link" }, bold(view.labels[query]), " → ", bold(view.labels[key]));
  const { one, other, change } = numbersAt(view, query, key);
  return element("li", {}, link, element("span", { class: "bar-value" }, `${one} → ${other}`), element("span", { class: "moved-change" }, change));
}

export function tellCell(node, view, { query, key }) {
  const parts = [];
  for (const [place, row] of [query, key].entries()) {
    if (row === null) continue;
    if (parts.length) parts.push(" → ");
    parts.push(bold(view.labels[row]));
    if (!hasBoth(view.partners, row)) parts.push(element("span", { class: "side" }, missing(view.partners, row)));
    else if (query === null || key === null) parts.push(element("span", { class: "side" }, place === 0 ? "looks" : "is looked at"));
  }
  if (query !== null && key !== null) {
    const { one, other, change } = numbersAt(view, query, key);
    const numbers = [one && `A ${one}`, other && `B ${other}`, change].filter(Boolean).join(" · ");
    if (numbers) parts.push(element("span", { class: "value" }, numbers));
  }
  node.replaceChildren(...parts);
}

function missing({ rows }, row) {
  return ONLY[rows[row][0] === null ? 1 : 0];
}

// The weights of a link in A and in B, and their difference; empty where one side lacks a word.
function numbersAt({ partners: { rows }, models }, query, key) {
  const weight = (side) => {
    const [from, to] = [rows[query][side], rows[key][side]];
    return from === null || to === null ? "" : digits(models[side].cells[from * models[side].keys + to]);
  };
  const [one, other] = [weight(0), weight(1)];
  return { one, other, change: one && other ? signed(models[2].cells[query * rows.length + key]) : "" };
}

function strengths(codes) {
  return Uint16Array.from(codes, (code) => Math.min(65535, 2 * Math.abs(code - 32768)));
}

function signed(code) {
  const change = changeOf(code);
  return `${change < 0 ? "−" : "+"}${Math.abs(change).toFixed(3)}`;
}
