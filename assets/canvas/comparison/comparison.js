// A, B and B − A: three heatmaps with words of their own, one pointer and one focused word for all that have it.

import { mountOnce } from "../core/mount.js";
import { unpack } from "../core/bytes.js";
import { comparedModels } from "./compared.js";
import { fillDifferences, tellCell } from "./differences.js";
import { paintHatch } from "./hatch.js";
import { cellAt, heatmapShape, paintHeatmap } from "../attention/heatmap.js";
import { removeView, later, pointAt, rowByKey, stepped, watchView } from "../attention/linked.js";
import { layPane, makePane, paneContext, pointIn, reveal, scrollOf } from "../attention/pane.js";
import { partnersOf, placeIn, rowOf } from "./partners.js";
import { fillLegend, makeLegend, makeReadout, makeTooltip } from "../attention/readout.js";
import { DIFFERENCE_TICKS, differenceGradient } from "../core/palette.js";
import { throttle, element, timestamped, pendingChoice, visible } from "../core/surface.js";
import { applyTheme } from "../core/theme.js";

const NAMES = ["A", "B", "B − A"];
const BESIDE = 620; // pixels from which two maps stand side by side
const BETWEEN = 28;

export default function mountComparison({ data, parentElement, setStateValue }) {
  const [view, end] = mountOnce(parentElement, makeView, removeView);
  view.send = (focus) => setStateValue("focus", timestamped(focus));
  receive(view, unpack(data));
  return end;
}

function makeView(parent) {
  const view = { focus: null, hover: null, echo: pendingChoice(), paints: 0, frame: null, models: [] };
  view.notify = throttle((focus) => view.send(focus), 60);
  view.parts = NAMES.map((_, map) => makePart(view, map));
  view.readout = makeReadout((step) => focusOn(view, step === null ? null : stepped(view.focus, step, view.labels.length - 1)));
  view.readout.list.className = "moved";
  view.readout.node.setAttribute("aria-label", "Largest differences");
  view.tooltip = makeTooltip();
  const [one, other, difference] = view.parts.map((part) => part.pane.node);
  const maps = element("div", { class: "panes" }, one, other);
  const below = element("div", { class: "panes below" }, difference, view.readout.node);
  view.root = element("div", { class: "map comparison", "data-testid": "comparison" }, maps, below, view.tooltip);
  watchView(view, parent, paint);
  return view;
}

function makePart(view, map) {
  const name = NAMES[map];
  const pane = makePane(`${name}. Up and down arrows choose the word that looks, Escape clears.`, `comparison-${["a", "b", "difference"][map]}`);
  const legend = makeLegend(map === 2 ? DIFFERENCE_TICKS : undefined);
  const title = element("p", { class: "pane-title" });
  const note = element("p", { class: "hatched" }, element("span", { class: "swatch", "aria-hidden": "true" }), "no partner");
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

function paintPart(view, map, part, room) {
  const { pane } = part;
  const model = view.models[map];
  const shape = heatmapShape(pane.canvas.getContext("2d"), model, view.theme, room, 1);
  part.shape = shape;
  const place = (row) => placeIn(view.partners, map, row);
  const hover = view.hover && { query: place(view.hover.query), key: place(view.hover.key) };
  const focus = place(view.focus);
  layPane(pane, { width: room, height: shape.top + shape.viewHeight + 8 }, { width: 0, height: 0 });
  const context = paneContext(pane);
  paintHeatmap(context, shape, model, { focus, hover }, view.theme, scrollOf(pane));
  if (map === 2) paintHatch(context, shape, view.partners, view.theme, scrollOf(pane));
  part.legend.node.style.paddingLeft = part.note.style.paddingLeft = `${Math.min(shape.left, Math.max(0, room - 200))}px`;
  const { left, top, cell } = shape;
  pane.canvas.dataset.shape = JSON.stringify({ left, top, cell, words: model.queries });
  pane.canvas.dataset.marks = JSON.stringify({ focus, query: hover?.query ?? null, key: hover?.key ?? null });
}
