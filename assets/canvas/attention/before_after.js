// Before, after and the difference: three heatmaps of one size, with one pointer and one focused token for all.

import { changeOf, digits, span, strongest } from "../core/bytes.js";
import { cellAt, heatmapShape, modelOf, paintHeatmap } from "./heatmap.js";
import { later, layPane, makeLinked, makePane, mountLinked, paneContext, pointAt, pointIn, rowByKey, scrollOf, watchView } from "./pane.js";
import { bold, fillLegend, makeLegend, makeTooltip } from "./readout.js";
import { DIFFERENCE_TICKS, differenceGradient, differenceTable } from "../core/palette.js";
import { element } from "../core/surface.js";
import { filled } from "../core/text.js";
import { applyTheme } from "../core/theme.js";

const MAPS = ["before", "after", "difference"];
const ABREAST = [[860, 3], [420, 2]]; // pixels from which so many maps stand side by side
const BETWEEN = 24;
const MAX_MOVED = 8;

export default function mountBeforeAfter(component) {
  return mountLinked(component, makeView, receive);
}

function makeView(parent, texts) {
  const view = makeLinked({ texts, legends: [] });
  view.panes = MAPS.map((_, map) => makePart(view, map));
  view.tooltip = makeTooltip();
  view.list = element("ol", { class: "moved", "data-testid": "moved-links" });
  view.title = element("p", { class: "readout-title", "aria-live": "polite" });
  const readout = element("section", { class: "readout", "aria-label": texts.changedLinks }, view.title, view.list);
  view.maps = element("div", { class: "maps" }, ...view.panes.map((pane) => pane.node), readout);
  view.root = element("div", { class: "map", "data-testid": "before-after" }, view.maps, view.tooltip);
  watchView(view, parent, paint);
  return view;
}

function makePart(view, map) {
  const { texts } = view;
  const pane = makePane(texts.keys[map], `attention-${MAPS[map]}`);
  const legend = makeLegend(texts, map === 2 ? DIFFERENCE_TICKS : undefined);
  view.legends.push(legend);
  pane.node.prepend(element("p", { class: "pane-title" }, texts.titles[map]));
  pane.node.append(legend.node);
  const { scroller } = pane;
  const at = (event) => view.shape && cellAt(view.shape, view.models[0], ...pointIn(pane, event), scrollOf(pane));
  scroller.onpointermove = (event) => event.pointerType !== "touch" && hoverOn(view, at(event), event);
  scroller.onpointerleave = () => hoverOn(view, null);
  scroller.onclick = (event) => {
    const found = at(event);
    hoverOn(view, found, event);
    if (found && found.query !== null) focusOn(view, found.query === view.focus && found.key === null ? null : found.query);
  };
  scroller.onkeydown = (event) => {
    const token = rowByKey(event, view.focus, view.models[0].queries - 1);
    if (token === undefined) return;
    event.preventDefault();
    hoverOn(view, null);
    focusOn(view, token);
  };
  return pane;
}

function receive(view, { header, cells }) {
  view.theme = applyTheme(view.root);
  const size = header.queries.length * header.keys.length;
  view.models = MAPS.map((_, part) => modelOf({ header, cells: cells.subarray(part * size, (part + 1) * size) }, view.theme.dark));
  Object.assign(view.models[2], { signed: true, table: differenceTable(view.theme.dark) });
  for (const [part, pane] of view.panes.entries()) {
    pane.canvas.setAttribute("aria-label", filled(view.texts.alts[part], header).join(""));
    if (part < 2) fillLegend(view.legends[part], header.scale, view.theme.dark);
    else view.legends[part].ramp.style.background = differenceGradient(view.theme.dark);
  }
  if (view.echo.accepts(header.focus)) view.focus = header.focus;
  if (view.focus >= header.queries.length) view.focus = null;
  if (view.hover?.query >= header.queries.length || view.hover?.key >= header.keys.length) hoverOn(view, null);
  list(view);
  paint(view);
  view.root.dataset.paints = String((view.paints += 1));
}

// The links that changed most: of the focused token, or of all.
function list(view) {
  const [before, after, difference] = view.models;
  const { keys, queryTexts, keyTexts } = difference;
  const positions = view.focus === null ? span(0, difference.cells.length) : span(view.focus * keys, keys);
  const strength = Uint16Array.from(difference.cells, (code) => Math.min(65535, 2 * Math.abs(code - 32768)));
  const found = strongest(strength, positions, MAX_MOVED).filter((position) => Math.abs(changeOf(difference.cells[position])) >= 0.0005);
  const sentence = !found.length ? view.texts.nothingChanged : view.focus === null ? view.texts.largestChanges : view.texts.changesOf;
  view.title.replaceChildren(...filled(sentence, { token: bold(queryTexts[view.focus] ?? "") }));
  view.list.replaceChildren(...found.map((position) => {
    const link = element("span", { class: "moved-link" }, bold(queryTexts[Math.floor(position / keys)]), " → ", bold(keyTexts[position % keys]));
    const numbers = `${digits(before.cells[position])} → ${digits(after.cells[position])}`;
    const change = element("span", { class: "moved-change" }, signed(difference.cells[position]));
    return element("li", {}, link, element("span", { class: "bar-value" }, numbers), change);
  }));
}

function signed(code) {
  const change = changeOf(code);
  return `${change < 0 ? "−" : "+"}${Math.abs(change).toFixed(3)}`;
}

function focusOn(view, focus) {
  if (focus === view.focus) return;
  view.focus = focus;
  view.echo.expect(focus);
  view.notify(focus);
  list(view);
  later(view);
}

function hoverOn(view, hover, event) {
  pointAt(view, hover, event, (at) => tell(view, at));
}

function tell(view, { query, key }) {
  const [before, after, difference] = view.models;
  const parts = [];
  if (query !== null) parts.push(bold(before.queryTexts[query]));
  if (query !== null && key !== null) parts.push(" → ");
  if (key !== null) parts.push(bold(before.keyTexts[key]));
  if (query !== null && key !== null) {
    const place = query * before.keys + key;
    const numbers = `${digits(before.cells[place])} → ${digits(after.cells[place])} (${signed(difference.cells[place])})`;
    parts.push(element("span", { class: "value" }, numbers));
  }
  view.tooltip.replaceChildren(...parts);
}

function paint(view) {
  const width = view.root.clientWidth;
  if (!width) return;
  const [, abreast] = ABREAST.find(([least]) => width >= least) ?? [0, 1];
  view.maps.dataset.abreast = String(abreast);
  const space = Math.floor((width - (abreast - 1) * BETWEEN) / abreast);
  const shape = heatmapShape(view.panes[0].canvas.getContext("2d"), view.models[0], view.theme, space, 1);
  view.shape = shape;
  for (const [part, pane] of view.panes.entries()) {
    layPane(pane, { width: space, height: shape.top + shape.viewHeight + 8 }, { width: 0, height: 0 });
    paintHeatmap(paneContext(pane), shape, view.models[part], view, view.theme, scrollOf(pane));
    view.legends[part].node.style.paddingLeft = `${Math.min(shape.left, space - 170)}px`;
    pane.canvas.dataset.shape = JSON.stringify({ left: shape.left, top: shape.top, cell: shape.cell });
  }
  view.root.dataset.focus = view.focus === null ? "" : String(view.focus);
}
