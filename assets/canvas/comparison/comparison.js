// A, B and B − A: three heatmaps, each with its own words, that share one pointer and one focused word.

import { changeOf, digits, strongest } from "../core/bytes.js";
import { cellAt, heatmapShape, paintHeatmap } from "../attention/heatmap.js";
import { later, layPane, makeLinked, makePane, mountLinked, paneContext, pointAt, pointIn, reveal, rowByKey, scrollOf, stepped, watchView } from "../attention/pane.js";
import { bold, fillLegend, makeLegend, makeReadout, makeTooltip } from "../attention/readout.js";
import { DIFFERENCE_TICKS, differenceGradient } from "../core/palette.js";
import { element, visible } from "../core/surface.js";
import { filled } from "../core/text.js";
import { applyTheme } from "../core/theme.js";
import { comparable, comparedModels, hasBoth, paintHatch, partnersOf, placeIn, rowOf } from "./maps.js";

const MAPS = ["a", "b", "difference"];
const BESIDE = 620; // pixels from which two maps stand side by side
const BETWEEN = 28;
const MAX_LISTED = 8;

export default function mountComparison(component) {
  return mountLinked(component, makeView, receive);
}

function makeView(parent, texts) {
  const view = makeLinked({ texts, models: [] });
  view.parts = MAPS.map((_, map) => makePart(view, map));
  view.readout = makeReadout((step) => focusOn(view, step === null ? null : stepped(view.focus, step, view.labels.length - 1)), texts);
  view.readout.list.className = "moved";
  view.readout.node.setAttribute("aria-label", texts.largestDifferences);
  view.tooltip = makeTooltip();
  const [one, other, difference] = view.parts.map((part) => part.pane.node);
  const maps = element("div", { class: "panes" }, one, other);
  const below = element("div", { class: "panes below" }, difference, view.readout.node);
  view.root = element("div", { class: "map comparison", "data-testid": "comparison" }, maps, below, view.tooltip);
  watchView(view, parent, paint);
  return view;
}

function makePart(view, map) {
  const pane = makePane(view.texts.panes[map], `comparison-${MAPS[map]}`);
  const legend = makeLegend(view.texts, map === 2 ? DIFFERENCE_TICKS : undefined);
  const title = element("p", { class: "pane-title" });
  const note = element("p", { class: "hatched" }, element("span", { class: "swatch", "aria-hidden": "true" }), view.texts.noPartner);
  pane.node.prepend(title);
  pane.node.append(legend.node, ...(map === 2 ? [note] : []));
  listen(view, pane, map);
  return { pane, legend, title, note, shape: null };
}

function listen(view, pane, map) {
  const { scroller } = pane;
  const at = (event) => {
    const { shape } = view.parts[map];
    const found = shape && cellAt(shape, view.models[map], ...pointIn(pane, event), scrollOf(pane));
    return found ? { query: rowOf(view.partners, map, found.query), key: rowOf(view.partners, map, found.key) } : null;
  };
  scroller.onpointermove = (event) => event.pointerType !== "touch" && hoverOn(view, at(event), event);
  scroller.onpointerleave = () => hoverOn(view, null);
  scroller.onscroll = () => later(view);
  scroller.onclick = (event) => {
    const found = at(event);
    hoverOn(view, found, event);
    const row = found?.query ?? found?.key ?? null;
    if (row !== null) focusOn(view, row === view.focus && found.key === null ? null : row);
  };
  scroller.onkeydown = (event) => {
    const row = rowByKey(event, view.focus, view.labels.length - 1);
    if (row === undefined) return;
    event.preventDefault();
    hoverOn(view, null);
    focusOn(view, row);
  };
}

function receive(view, { header, cells }) {
  view.theme = applyTheme(view.root);
  view.partners = partnersOf(header.rows);
  view.labels = header.labels.map(visible);
  view.models = comparedModels({ header, cells }, view.theme.dark);
  for (const [map, { pane, legend, title, note }] of view.parts.entries()) {
    title.textContent = header.titles[map];
    pane.canvas.setAttribute("aria-label", `${header.titles[map]}. ${header.alt}`);
    if (map < 2) fillLegend(legend, header.scale, view.theme.dark);
    else legend.ramp.style.background = differenceGradient(view.theme.dark);
    note.hidden = view.partners.rows.every((places) => !places.includes(null));
  }
  if (view.echo.accepts(header.focus)) view.focus = header.focus;
  if (view.focus >= view.labels.length) view.focus = null;
  if (view.hover?.query >= view.labels.length || view.hover?.key >= view.labels.length) hoverOn(view, null);
  fillDifferences(view.readout, view);
  paint(view);
  view.root.dataset.paints = String((view.paints += 1));
}

function focusOn(view, focus) {
  if (focus === view.focus) return;
  view.focus = focus;
  view.echo.expect(focus);
  view.notify(focus);
  fillDifferences(view.readout, view);
  for (const [map, { pane, shape }] of view.parts.entries()) {
    const place = placeIn(view.partners, map, focus);
    if (place !== null && shape) reveal(pane, place * shape.cell, (place + 1) * shape.cell, shape.top + 12);
  }
  later(view);
}

function hoverOn(view, hover, event) {
  pointAt(view, hover, event, (at) => tellCell(view.tooltip, view, at));
}

function paint(view) {
  const width = view.root.clientWidth;
  if (!width || !view.models.length) return;
  const beside = width >= BESIDE;
  view.root.classList.toggle("beside", beside);
  const half = beside ? Math.floor((width - BETWEEN) / 2) : width;
  const wide = beside ? Math.floor((width - BETWEEN) * 0.6) : width; // B − A holds the words of both
  for (const [map, part] of view.parts.entries()) paintPart(view, map, part, map === 2 ? wide : half);
  view.root.dataset.focus = view.focus === null ? "" : String(view.focus);
  view.root.dataset.hover = view.hover === null ? "" : `${view.hover.query ?? ""}-${view.hover.key ?? ""}`;
}

function paintPart(view, map, part, space) {
  const { pane } = part;
  const model = view.models[map];
  const shape = heatmapShape(pane.canvas.getContext("2d"), model, view.theme, space, 1);
  part.shape = shape;
  const place = (row) => placeIn(view.partners, map, row);
  const hover = view.hover && { query: place(view.hover.query), key: place(view.hover.key) };
  const focus = place(view.focus);
  layPane(pane, { width: space, height: shape.top + shape.viewHeight + 8 }, { width: 0, height: 0 });
  const context = paneContext(pane);
  paintHeatmap(context, shape, model, { focus, hover }, view.theme, scrollOf(pane));
  if (map === 2) paintHatch(context, shape, view.partners, view.theme, scrollOf(pane));
  part.legend.node.style.paddingLeft = part.note.style.paddingLeft = `${Math.min(shape.left, Math.max(0, space - 200))}px`;
  const { left, top, cell } = shape;
  pane.canvas.dataset.shape = JSON.stringify({ left, top, cell, words: model.queries });
  pane.canvas.dataset.marks = JSON.stringify({ focus, query: hover?.query ?? null, key: hover?.key ?? null });
}

// The largest differences: of the focused word, or of all.
function fillDifferences(readout, view) {
  const { texts, focus, partners, models } = view;
  readout.clear.hidden = focus === null;
  const lonely = focus !== null && !hasBoth(partners, focus);
  const found = lonely ? [] : strongest(strengths(models[2].cells), comparable(partners, focus), MAX_LISTED);
  const sentence = lonely ? texts.noDifference[sideOf(partners, focus)]
    : !found.length ? texts.nothingDiffers
      : focus === null ? texts.chooseWord : texts.differencesOf;
  readout.title.replaceChildren(...filled(sentence, { word: bold(view.labels[focus] ?? "") }));
  readout.list.replaceChildren(...found.map((position) => item(view, position)));
}

function item(view, position) {
  const [query, key] = [Math.floor(position / view.labels.length), position % view.labels.length];
  const link = element("span", { class: "moved-link" }, bold(view.labels[query]), " → ", bold(view.labels[key]));
  const { one, other, change } = numbersAt(view, query, key);
  return element("li", {}, link, element("span", { class: "bar-value" }, `${one} → ${other}`), element("span", { class: "moved-change" }, change));
}

function tellCell(node, view, { query, key }) {
  const { texts, partners } = view;
  const parts = [];
  for (const [place, row] of [query, key].entries()) {
    if (row === null) continue;
    if (parts.length) parts.push(" → ");
    parts.push(bold(view.labels[row]));
    const alone = query === null || key === null ? [texts.asQuery, texts.asKey][place] : null;
    const note = hasBoth(partners, row) ? alone : texts.onlyIn[sideOf(partners, row)];
    if (note) parts.push(element("span", { class: "side" }, note));
  }
  if (query !== null && key !== null) {
    const { one, other, change } = numbersAt(view, query, key);
    const weights = [one, other].map((weight, side) => weight && filled(texts.weightIn[side], { weight }).join(""));
    const numbers = [...weights, change].filter(Boolean).join(" · ");
    if (numbers) parts.push(element("span", { class: "value" }, numbers));
  }
  node.replaceChildren(...parts);
}

// Which side a word without a partner stands in: 0 is A, 1 is B.
function sideOf({ rows }, row) {
  return rows[row][0] === null ? 1 : 0;
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
