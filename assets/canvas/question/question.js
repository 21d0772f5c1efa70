// A question that is answered by a click: tokens, the cells of a map or the heads of a model as a grid of buttons, without a
// number in it until it is answered; then the numbers, with the guess and the model's answer marked, and the verdict read aloud.

import { unpack } from "../core/bytes.js";
import { activate, fillButtonGrid, makeButtonGrid, placeOf } from "../core/keys.js";
import { twoDigits } from "../core/numbers.js";
import { colourTable, css, inkOn } from "../core/palette.js";
import { element, mountOnce, setText, visible } from "../core/surface.js";
import { say } from "../core/text.js";
import { applyTheme } from "../core/theme.js";

const SMALLEST = 24; // pixels of a cell
const GAP = 3;
// How cells are laid out. names: they stand in the cells, not beside them. largest: pixels of a cell, label: of the names of rows.
const LAYOUTS = {
  row: { names: true },
  map: { largest: 32, label: (rows) => Math.min(92, 12 + 7 * Math.max(...rows.map((row) => visible(row).length))) },
  wall: { largest: 44, label: () => 28 },
};

export default function mountQuestion({ data, parentElement, setStateValue }) {
  const sent = unpack(data);
  const [view, end] = mountOnce(parentElement, makeQuestion, ({ observer, root }) => {
    observer.disconnect();
    root.remove();
  });
  view.choose = (place) => setStateValue("chosen", { value: place, at: Date.now() }); // the same choice made again, after the page made another, is told too
  receive(view, sent);
  return end;
}

function makeQuestion(parent) {
  const view = { buttons: makeButtonGrid({ class: "cells", "data-testid": "question-grid" }), answered: null, shape: "" };
  view.grid = view.buttons.node;
  view.scroller = element("div", { class: "scroller" }, view.grid);
  view.axis = element("p", { class: "axis" });
  view.name = element("p", { class: "name", "aria-hidden": "true" });
  view.legend = element("p", { class: "legend" });
  view.verdict = element("p", { class: "verdict", role: "status", tabindex: "-1", "data-testid": "verdict" });
  view.root = element("div", { class: "question" }, view.verdict, view.axis, view.scroller, view.name, view.legend);
  (parent.querySelector(".lesson-question") ?? parent).append(view.root);
  const numberOf = ({ target }) => {
    const place = placeOf(target);
    return place && place[0] * view.header.columns.length + place[1];
  };
  view.grid.onclick = (event) => choose(view, numberOf(event));
  view.grid.onpointerover = (event) => nameCell(view, numberOf(event));
  view.grid.onpointerleave = () => nameCell(view, null);
  view.grid.addEventListener("focusin", (event) => nameCell(view, numberOf(event)));
  view.observer = new ResizeObserver(() => fitCells(view));
  view.observer.observe(view.root);
  return view;
}

// Cells as large as there is space for, never smaller than a finger needs.
function fitCells(view) {
  const { header, root } = view;
  const layout = LAYOUTS[header?.layout];
  if (!header?.names.length || layout.names) return;
  const label = layout.label(header.rows);
  const space = Math.floor((root.clientWidth - label - 2) / header.columns.length) - GAP;
  root.style.setProperty("--label", `${label}px`);
  root.style.setProperty("--cell", `${Math.max(SMALLEST, Math.min(layout.largest, space))}px`);
}

function receive(view, { header, body: cells }) {
  view.theme = applyTheme(view.root);
  const shape = JSON.stringify([header.layout, header.rows, header.columns]);
  const same = view.shape === shape;
  Object.assign(view, { header, shape, table: colourTable("blues", view.theme.dark) });
  if (!same) makeCells(view);
  fitCells(view);
  view.root.dataset.layout = header.layout;
  view.scroller.hidden = view.name.hidden = !header.names.length;
  view.grid.setAttribute("aria-label", header.alt);
  view.grid.setAttribute("aria-readonly", String(Boolean(header.answer)));
  setText(view.axis, header.axes);
  view.chosen = header.chosen;
  mark(view, cells);
  fillLegend(view);
  nameCell(view, null);
  tell(view, header.verdict);
}

// Moves the focus to the verdict where the button that was pressed is gone.
function tell(view, verdict) {
  const fresh = verdict && view.answered === "";
  view.answered = verdict;
  setText(view.verdict, verdict);
  if (!fresh) return;
  setTimeout(() => {
    if (document.activeElement === document.body) view.verdict.focus({ preventScroll: true });
  }, 150);
}

function makeCells(view) {
  const { rows, columns, layout, names, axes } = view.header;
  const heading = (role) => (text) => element("span", { role, class: role, title: visible(text) }, element("span", {}, visible(text)));
  const corner = element("span", { role: "columnheader", class: "corner", "aria-label": axes });
  const around = LAYOUTS[layout]?.names ? {} : { heads: [corner, ...columns.map(heading("columnheader"))], sides: rows.map(heading("rowheader")) };
  view.buttons.active = [0, 0];
  view.grid.style.setProperty("--columns", String(columns.length));
  fillButtonGrid(view.buttons, { ...around, size: [rows.length, columns.length], name: (row, column) => visible(names[row * columns.length + column]) });
}

function mark(view, cells) {
  const { header, buttons: { buttons }, table, chosen } = view;
  const { layout, columns, names, values, guess, answer, texts } = header;
  const named = LAYOUTS[layout]?.names;
  for (const [place, button] of buttons.flat().entries()) {
    const name = visible(names[place]);
    button.setAttribute("aria-selected", String(place === (answer === null ? chosen : guess)));
    button.classList.toggle("guess", place === guess);
    button.classList.toggle("answer", place === answer);
    const colour = answer === null ? null : table[cells[place]];
    button.style.background = colour ? css(colour) : "";
    button.style.color = colour ? inkOn(colour) : "";
    const word = named ? [element("span", { class: "word" }, visible(columns[place]))] : [];
    const number = answer === null ? [] : [element("span", { class: "number" }, named ? values[place] : short(values[place]))];
    button.replaceChildren(...word, ...number);
    const notes = [answer === null ? "" : values[place], place === guess ? texts.guess : "", place === answer ? texts.answer : ""];
    button.setAttribute("aria-label", [name, ...notes].filter(Boolean).join(", "));
  }
}

// In a small cell there is space for a whole number of percent, or for two decimals of a weight, as in the cells of a map.
function short(value) {
  const number = parseFloat(value);
  if (value.endsWith("%")) return number >= 0.5 ? String(Math.round(number)) : "";
  return number >= 0.005 && number <= 1 ? twoDigits(number) : "";
}

function fillLegend(view) {
  const { header } = view;
  view.legend.hidden = header.answer === null;
  const sign = (kind, text) => element("span", { class: "entry" }, element("span", { class: `sign ${kind}` }), text);
  view.legend.replaceChildren(sign("answer", header.texts.answer), sign("guess", header.texts.guess));
}

function nameCell(view, place) {
  const { header } = view;
  if (!header?.names.length) return;
  const shown = place ?? (header.answer === null ? view.chosen : null);
  if (shown === null || shown === undefined) setText(view.name, header.answer === null ? header.hint : header.scale);
  else if (header.answer === null) setText(view.name, visible(header.names[shown]));
  else setText(view.name, say(header.texts.value, { name: visible(header.names[shown]), value: header.values[shown] }));
}

function choose(view, place) {
  if (place === null) return;
  const across = view.header.columns.length;
  activate(view.buttons, [Math.floor(place / across), place % across]);
  if (view.header.answer !== null) return;
  view.chosen = place;
  mark(view, []);
  view.choose(place);
}
