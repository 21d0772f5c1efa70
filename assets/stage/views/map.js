// One map as a heatmap and as lines, side by side or one below the other, with one pointer, one focused row and one zoom. Draws a
// model (assets/canvas/attention/map.js); reports the focused row.

import { layMap, marksOf, paintLines, tokenAt } from "../../canvas/attention/map.js";
import { cellAt, paintGrid } from "../../canvas/core/grid.js";
import { stepByKey } from "../../canvas/core/keys.js";
import { element, localPoint, placeBeside, sharpen } from "../../canvas/core/surface.js";
import { TEXTS } from "../../canvas/core/texts.js";
import { say } from "../../canvas/core/text.js";

const LARGEST_CELL = 28; // when zoomed
const LARGEST_PLAIN_CELL = 88;
const STEP = 1.6;
const LEAST_ROWS = 160; // pixels for all rows
const BELOW = 14;
const [ROW, TALL_ROW] = [22, 44]; // of lines below a heatmap, and alone

// focus: called with the row that a reader focused, or null. tell: fills the tooltip for {query, key}.
export function makeMap({ focus, tell }) {
  const map = { focusOn: focus, tell, focus: null, hover: null, zoom: 1, frame: null, model: null };
  map.heat = makePane(TEXTS.map.heatmapKeys, "attention-heatmap");
  map.lines = makePane(TEXTS.map.linesKeys, "attention-lines");
  map.tooltip = element("div", { class: "tooltip", hidden: "", "aria-hidden": "true", "data-testid": "attention-tooltip" });
  map.node = element("div", { class: "map" }, element("div", { class: "panes" }, map.heat.node, map.lines.node), map.tooltip);
  watchPane(map, map.heat, (x, y, scroll) => {
    const cell = cellAt(map.heatShape, map.model, x, y, scroll);
    return cell && { query: cell.row, key: cell.column };
  });
  watchPane(map, map.lines, (x, y, scroll) => tokenAt(map.linesShape, map.model, x, y, scroll.y));
  map.heat.scroller.addEventListener("wheel", (event) => {
    if (!event.ctrlKey || !canZoom(map)) return;
    event.preventDefault();
    zoomBy(map, event.deltaY < 0 ? 1.25 : 0.8, localPoint(map.heat.canvas, event));
  }, { passive: false });
  return map;
}

function watchPane(map, pane, find) {
  const { scroller } = pane;
  const at = (event) => map.model && find(...localPoint(pane.canvas, event), scrollOf(pane));
  scroller.onpointermove = (event) => event.pointerType !== "touch" && hoverOn(map, at(event), event);
  scroller.onpointerleave = () => hoverOn(map, null);
  scroller.onscroll = () => {
    const other = pane === map.heat ? map.lines : map.heat;
    if (map.node.classList.contains("beside")) other.scroller.scrollTop = scroller.scrollTop;
    later(map);
  };
  scroller.onclick = (event) => {
    const found = at(event);
    hoverOn(map, found, event);
    const row = found?.query ?? (map.model.same ? found?.key : null) ?? null;
    if (row !== null) map.focusOn(row === map.focus && found.key === null ? null : row);
  };
  scroller.onkeydown = (event) => {
    const row = rowByKey(event, map.focus, map.model.rows);
    if (row === undefined) return;
    event.preventDefault();
    hoverOn(map, null);
    map.focusOn(row);
  };
}

function hoverOn(map, hover, event) {
  map.tooltip.hidden = !hover;
  if (hover && event) {
    map.tell(map.tooltip, hover);
    placeBeside(map.tooltip, map.node, [...localPoint(map.node, event), 0, 0]);
  }
  if (hover?.query === map.hover?.query && hover?.key === map.hover?.key) return;
  map.hover = hover;
  later(map);
}

// model: what is drawn; lines: the model of the lines where that is another; focus: the focused row; show: "both", "heatmap" or "lines";
// said: the map in a sentence; room: of the panes in pixels.
export function drawMap(map, { model, lines = model, focus, show, said, theme, room }) {
  const moved = focus !== map.focus && focus !== null;
  Object.assign(map, { model, linesModel: lines, focus, theme, room, show });
  map.heat.canvas.setAttribute("aria-label", say(TEXTS.map.heatmap, { alt: said }));
  map.lines.canvas.setAttribute("aria-label", say(TEXTS.map.lines, { alt: said }));
  map.heat.node.hidden = show === "lines";
  map.lines.node.hidden = show === "heatmap";
  if (map.hover?.query >= model.rows || map.hover?.key >= model.columns) hoverOn(map, null);
  paint(map);
  if (!moved || !map.heatShape) return;
  reveal(map.heat, focus * map.heatShape.high, (focus + 1) * map.heatShape.high, map.heatShape.top + 12);
  reveal(map.lines, focus * map.linesShape.row, (focus + 1) * map.linesShape.row, map.linesShape.top);
}

export function zoomStep(map, direction) {
  if (!direction) map.zoom = 1;
  zoomBy(map, direction > 0 ? STEP : direction < 0 ? 1 / STEP : 1);
}

export const canZoom = ({ heatShape }) => Boolean(heatShape) && heatShape.fitting < 16;

function zoomBy(map, factor, [x, y] = middleOf(map)) {
  const { left, top, wide: cell, fitting } = map.heatShape;
  const { scroller } = map.heat;
  const [column, row] = [(x - left + scroller.scrollLeft) / cell, (y - top + scroller.scrollTop) / cell];
  map.zoom = Math.max(1, Math.min(map.zoom * factor, LARGEST_CELL / fitting));
  paint(map);
  scroller.scrollLeft = column * map.heatShape.high - (x - left);
  scroller.scrollTop = row * map.heatShape.high - (y - top);
  paint(map);
}

// Where to zoom without a pointer: at the focused row, else at the middle.
function middleOf({ focus, heat: { scroller }, heatShape: { top, high } }) {
  const y = focus === null ? scroller.clientHeight / 2 : top + (focus + 0.5) * high - scroller.scrollTop;
  return [scroller.clientWidth / 2, y];
}

function later(map) {
  map.frame ??= requestAnimationFrame(() => {
    map.frame = null;
    if (map.model) paint(map);
  });
}

function paint(map) {
  const { model, theme, room, show } = map;
  if (!room.width) return;
  const [showHeat, showLines] = [show !== "lines", show !== "heatmap"];
  const context = map.heat.canvas.getContext("2d");
  const options = { showHeat, showLines, zoom: map.zoom, largest: LARGEST_PLAIN_CELL, row: showHeat ? ROW : TALL_ROW, besideFrom: room.besideFrom };
  const lay = (top) => layMap(context, model, theme, room.width, { ...options, tallest: Math.max(LEAST_ROWS, room.height - top - BELOW) });
  const { top } = (map.heatShape ?? lay(0).heat); // of the labels, which follow from the width of a cell
  const tried = lay(top);
  const layout = tried.heat.top === top ? tried : lay(tried.heat.top);
  map.node.classList.toggle("beside", layout.beside);
  map.heatShape = layout.heat;
  map.linesShape = layout.lines;
  if (showHeat) paintHeat(map, layout.heatWidth);
  if (showLines) paintLinesPane(map, layout.linesWidth, layout.beside);
}

function paintHeat(map, width) {
  const { heat, heatShape: shape } = map;
  heat.box = { width, height: shape.top + shape.viewHeight + marginBelow(map) };
  layPane(heat, heat.box, { width: shape.plotWidth - shape.viewWidth, height: shape.plotHeight - shape.viewHeight });
  paintGrid(paneContext(heat), shape, map.model, map.theme, { ...marksOf(map, map.theme), scroll: scrollOf(heat) });
  const { left, top, wide: cell } = shape;
  heat.canvas.dataset.shape = JSON.stringify({ left, top, cell, queries: map.model.rows, keys: map.model.columns });
}

// Room for a scroll bar under a picture that is larger than its box.
const marginBelow = ({ zoom }) => (zoom > 1 ? 14 : 8);

function paintLinesPane(map, width, beside) {
  const { lines, linesShape: shape } = map;
  const least = beside ? map.heat.box.height : 0;
  const around = shape.top + marginBelow(map);
  const more = beside && map.model.columns <= map.model.rows ? 0 : map.room.height; // beside the heatmap no higher, unless more tokens are looked at
  const tallest = Math.max(least, more);
  const height = Math.min(around + shape.rowsHeight, tallest);
  const seen = height - around;
  layPane(lines, { width, height }, { width: 0, height: shape.rowsHeight - seen });
  paintLines(paneContext(lines), shape, map.linesModel, map, map.theme, scrollOf(lines).y, shape.top + seen + 8);
}

// --- The boxes of both, and a row chosen by keys

// A box that scrolls over a picture larger than itself while its canvas stays put: only what is in sight
// is ever drawn, so that 512 tokens need no larger canvas than 5, and touch panning is the browser's own.
function makePane(name, testid) {
  const canvas = element("canvas", { role: "img", "data-testid": testid });
  const sizer = element("div", { class: "sizer" }, canvas);
  const scroller = element("div", { class: "scroller", tabindex: "0", role: "group", "aria-label": name }, sizer);
  const node = element("div", { class: "pane" }, scroller);
  return { node, canvas, sizer, scroller };
}

// Sizes the box, and its contents larger by what is hidden of the picture.
function layPane(pane, box, hidden) {
  pane.node.style.width = `${box.width}px`;
  pane.scroller.style.height = `${box.height}px`;
  pane.scroller.classList.toggle("still", hidden.width < 1 && hidden.height < 1);
  pane.sizer.style.width = `${pane.scroller.clientWidth + Math.floor(hidden.width)}px`;
  pane.sizer.style.height = `${pane.scroller.clientHeight + Math.floor(hidden.height)}px`;
}

const paneContext = ({ canvas, scroller }) => sharpen(canvas, scroller.clientWidth, scroller.clientHeight);
const scrollOf = ({ scroller }) => ({ x: scroller.scrollLeft, y: scroller.scrollTop });

// Brings [start, end] of the contents into the part of the box below `covered` pixels.
function reveal(pane, start, end, covered) {
  const { scroller } = pane;
  const seen = scroller.clientHeight - covered;
  if (start < scroller.scrollTop) scroller.scrollTop = start;
  else if (end > scroller.scrollTop + seen) scroller.scrollTop = end - seen;
}

// The row that a key chooses, null for none; undefined for a key that means nothing here.
function rowByKey(event, focus, rows) {
  if (event.ctrlKey || event.metaKey || event.altKey || ["ArrowLeft", "ArrowRight"].includes(event.key)) return undefined;
  return event.key === "Escape" ? null : stepByKey(event, focus, rows) ?? undefined;
}
