// The attention map: heatmap and lines of one weights matrix, one focused token, one pointer.

import { isOutdated, receiveHeadMaps } from "../core/head_maps.js";
import { unpack } from "../core/bytes.js";
import { cellAt, modelOf, paintHeatmap } from "./heatmap.js";
import { layMap, paintLines, tokenAt } from "./lines.js";
import { layPane, makePane, paneContext, pointIn, reveal, scrollOf } from "./pane.js";
import { fillLegend, fillReadout, fillTooltip, makeLegend, makeReadout, makeTooltip, placeTooltip } from "./readout.js";
import { mountOnce, throttle, element, localPoint, timestamped, pendingChoice, watchScreen } from "../core/surface.js";
import { filled } from "../core/text.js";
import { applyTheme } from "../core/theme.js";

const TALLEST_LINES = 640;

export default function mountMap({ data, parentElement, setStateValue }) {
  const sent = unpack(data);
  const [map, end] = mountOnce(parentElement, makeMap, removeMap, sent.header.texts);
  map.send = (focus) => setStateValue("focus", timestamped(focus));
  if (!isOutdated(map, sent.header)) receive(map, sent);
  return end;
}

function makeMap(parent, texts) {
  const map = { texts, focus: null, hover: null, zoom: 1, echo: pendingChoice(), paints: 0, frame: null, prefetched: null, header: {} };
  map.notify = throttle((focus) => map.send(focus), 60);
  map.heat = makePane(texts.heatmapKeys, "attention-heatmap");
  map.lines = makePane(texts.linesKeys, "attention-lines");
  map.readout = makeReadout((step) => focusOn(map, step === null ? null : stepped(map, step)), texts);
  map.legend = makeLegend(texts);
  map.tooltip = makeTooltip();
  map.classLegend = element("p", { class: "class-legend" }, element("i"), texts.classLegend);
  map.heat.node.append(map.legend.node);
  map.tools = element("div", { class: "tools", role: "group", "aria-label": texts.zoom });
  makeZoom(map);
  const panes = element("div", { class: "panes" }, map.heat.node, map.lines.node);
  map.root = element("div", { class: "map", "data-testid": "attention-map" }, map.tools, panes, map.classLegend, map.readout.node, map.tooltip);
  (parent.querySelector(".attention-view") ?? parent).append(map.root);
  listen(map);
  return map;
}

function makeZoom(map) {
  const button = (label, sign, zoom) => {
    const made = element("button", { type: "button", "aria-label": label, class: "step" }, sign);
    made.onclick = () => zoomTo(map, zoom());
    map.tools.append(made);
  };
  button(map.texts.zoomOut, "−", () => map.zoom / 1.6);
  button(map.texts.zoomIn, "+", () => map.zoom * 1.6);
  button(map.texts.showAll, map.texts.fit, () => 1);
}

function listen(map) {
  watchPane(map, map.heat, (x, y, scroll) => cellAt(map.heatShape, map.model, x, y, scroll));
  watchPane(map, map.lines, (x, y, scroll) => tokenAt(map.linesShape, map.model, x, y, scroll.y));
  map.heat.scroller.addEventListener("wheel", (event) => {
    if (!event.ctrlKey || map.tools.hidden) return;
    event.preventDefault();
    zoomTo(map, map.zoom * (event.deltaY < 0 ? 1.25 : 0.8), pointIn(map.heat, event));
  }, { passive: false });
  map.observer = new ResizeObserver(() => later(map));
  map.observer.observe(map.root);
  map.stopWatching = watchScreen(() => later(map));
  map.stopReceiving = receiveHeadMaps(map, (shown) => draw(map, shown));
}

function watchPane(map, pane, find) {
  const { scroller } = pane;
  const at = (event) => find(...pointIn(pane, event), scrollOf(pane));
  scroller.onpointermove = (event) => event.pointerType !== "touch" && hoverOn(map, at(event), event);
  scroller.onpointerleave = () => hoverOn(map, null);
  scroller.onscroll = () => {
    const other = pane === map.heat ? map.lines : map.heat;
    if (map.root.classList.contains("beside")) other.scroller.scrollTop = scroller.scrollTop;
    later(map);
  };
  scroller.onclick = (event) => {
    const found = at(event);
    hoverOn(map, found, event);
    const token = found?.query ?? (map.model.same ? found?.key : null) ?? null;
    if (token !== null) focusOn(map, token === map.focus && found.key === null ? null : token);
  };
  scroller.onkeydown = (event) => {
    const token = { ArrowUp: () => stepped(map, -1), ArrowDown: () => stepped(map, 1), Home: () => 0, End: () => map.model.queries - 1, Escape: () => null }[event.key];
    if (!token || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    hoverOn(map, null);
    focusOn(map, token());
  };
}

function stepped(map, step) {
  if (map.focus === null) return step > 0 ? 0 : map.model.queries - 1;
  return Math.min(map.model.queries - 1, Math.max(0, map.focus + step));
}

function receive(map, sent) {
  map.prefetched = null;
  if (map.echo.accepts(sent.header.focus)) map.focus = sent.header.focus;
  draw(map, sent);
}

function draw(map, { header, cells }) {
  map.header = header;
  map.theme = applyTheme(map.root);
  map.model = modelOf({ header, cells }, map.theme.dark);
  map.heat.canvas.setAttribute("aria-label", filled(map.texts.heatmap, header).join(""));
  map.lines.canvas.setAttribute("aria-label", filled(map.texts.lines, header).join(""));
  map.heat.node.hidden = header.show === "lines";
  map.lines.node.hidden = header.show === "heatmap";
  if (map.focus >= map.model.queries) map.focus = null;
  if (map.hover?.query >= map.model.queries || map.hover?.key >= map.model.keys) hoverOn(map, null);
  fillLegend(map.legend, header.scale, map.theme.dark);
  fillReadout(map.readout, map.model, map.focus);
  paint(map);
  map.classLegend.hidden = !map.model.guesses.length;
  map.root.dataset.guesses = String(map.model.guesses.length);
  map.root.dataset.paints = String((map.paints += 1));
}

function focusOn(map, focus) {
  if (focus === map.focus) return;
  map.focus = focus;
  map.echo.expect(focus);
  map.notify(focus);
  fillReadout(map.readout, map.model, focus);
  if (focus !== null) {
    const { cell, top } = map.heatShape;
    reveal(map.heat, focus * cell, (focus + 1) * cell, top + 12);
    reveal(map.lines, focus * map.linesShape.row, (focus + 1) * map.linesShape.row, map.linesShape.top);
  }
  later(map);
}

function hoverOn(map, hover, event) {
  map.tooltip.hidden = hover === null;
  if (hover !== null && event) {
    fillTooltip(map.tooltip, map.model, hover, map.texts);
    const [width, height] = [map.root.offsetWidth, map.root.offsetHeight];
    placeTooltip(map.tooltip, { width, height }, ...localPoint(map.root, event));
  }
  if (hover?.query === map.hover?.query && hover?.key === map.hover?.key) return;
  map.hover = hover;
  later(map);
}

function zoomTo(map, zoom, [x, y] = middleOf(map)) {
  const { left, top, cell, fitting } = map.heatShape;
  const { scroller } = map.heat;
  const [column, row] = [(x - left + scroller.scrollLeft) / cell, (y - top + scroller.scrollTop) / cell];
  map.zoom = Math.max(1, Math.min(zoom, 28 / fitting));
  paint(map);
  scroller.scrollLeft = column * map.heatShape.cell - (x - left);
  scroller.scrollTop = row * map.heatShape.cell - (y - top);
  paint(map);
}

// Where to zoom without a pointer: at the focused token, else at the middle.
function middleOf({ focus, heat: { scroller }, heatShape: { top, cell } }) {
  const y = focus === null ? scroller.clientHeight / 2 : top + (focus + 0.5) * cell - scroller.scrollTop;
  return [scroller.clientWidth / 2, y];
}

function later(map) {
  map.frame ??= requestAnimationFrame(() => {
    map.frame = null;
    paint(map);
  });
}

function paint(map) {
  const width = map.root.clientWidth;
  if (!width) return;
  const [showHeat, showLines] = [!map.heat.node.hidden, !map.lines.node.hidden];
  const context = map.heat.canvas.getContext("2d");
  const layout = layMap(context, map.model, map.theme, width, { showHeat, showLines, zoom: map.zoom });
  map.root.classList.toggle("beside", layout.beside);
  map.heatShape = layout.heat;
  map.linesShape = layout.lines;
  if (showHeat) paintHeatPane(map, layout.heatWidth);
  if (showLines) paintLinesPane(map, layout.linesWidth, layout.beside);
  map.tools.hidden = showHeat ? map.heatShape.fitting >= 16 : map.linesShape.fitting >= 16;
  map.root.dataset.focus = map.focus === null ? "" : String(map.focus);
}

function paintHeatPane(map, width) {
  const { heat, heatShape: shape } = map;
  heat.box = { width, height: shape.top + shape.viewHeight + marginBelow(map) };
  layPane(heat, heat.box, { width: shape.plotWidth - shape.viewWidth, height: shape.plotHeight - shape.viewHeight });
  paintHeatmap(paneContext(heat), shape, map.model, map, map.theme, scrollOf(heat));
  map.legend.node.style.paddingLeft = `${shape.left}px`;
  const { left, top, cell } = shape;
  heat.canvas.dataset.shape = JSON.stringify({ left, top, cell, queries: map.model.queries, keys: map.model.keys });
}

// Space for a scroll bar under a picture that is larger than its box.
function marginBelow(map) {
  return map.zoom > 1 ? 14 : 8;
}

function paintLinesPane(map, width, beside) {
  const { lines, linesShape: shape } = map;
  const least = beside ? map.heat.box.height : 0;
  const tallest = beside && map.zoom > 1 ? least : Math.max(least, TALLEST_LINES);
  const around = shape.top + marginBelow(map);
  const height = Math.min(around + shape.rowsHeight, tallest);
  const seen = height - around;
  layPane(lines, { width, height }, { width: 0, height: shape.rowsHeight - seen });
  paintLines(paneContext(lines), shape, map.model, map, map.theme, scrollOf(lines).y, shape.top + seen + 8);
  lines.canvas.dataset.shape = JSON.stringify({ from: shape.from, to: shape.to, top: shape.top, row: shape.row });
}

function removeMap(map) {
  map.observer.disconnect();
  map.stopWatching();
  map.stopReceiving();
  if (map.frame !== null) cancelAnimationFrame(map.frame);
  map.root.remove();
}
