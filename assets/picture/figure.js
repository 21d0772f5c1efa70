// The map of the page as a figure: the same drawing, laid out for a chosen width, with its scale and a caption.

import { paintHeatmap } from "../attention_view/heatmap.js";
import { layMap } from "../attention_view/layout.js";
import { paintLines } from "../attention_view/lines.js";
import { fit } from "../attention_view/surface.js";
import { LEGEND, paintLegend } from "./legend.js";
import { layThree, paintThree } from "./three.js";

const MARGIN = 6;
const CAPTION = { size: 12, line: 17, gap: 10 };
const STILL = { x: 0, y: 0 };

// width: CSS pixels to lay it out in; what is not needed of them is cut off. models: one map, or three to compare.
export function layFigure(context, models, theme, { width, show, caption }) {
  const room = width - 2 * MARGIN;
  const drawing = models.length === 3 ? { three: layThree(context, models, theme, room) } : layOne(context, models[0], theme, room, show);
  const inner = drawing.three ?? drawing;
  const drawn = Math.min(room, Math.max(inner.width, 240));
  const text = { rows: caption ? wrapped(context, theme, caption, drawn) : [] };
  text.top = inner.height + (text.rows.length ? CAPTION.gap : 0);
  return { ...drawing, text, width: drawn + 2 * MARGIN, height: text.top + text.rows.length * CAPTION.line + 2 * MARGIN };
}

function layOne(context, model, theme, room, show) {
  const [showHeat, showLines] = [show !== "lines", show !== "heatmap"];
  const map = layMap(context, model, theme, room, { showHeat, showLines, zoom: 1 });
  const heatHeight = showHeat ? map.heat.top + map.heat.plotHeight + 8 + LEGEND.tall : 0;
  const linesHeight = showLines ? map.lines.top + map.lines.rowsHeight + 8 : 0;
  const used = map.beside ? map.heatWidth + map.between + map.linesWidth
    : Math.max(showHeat ? Math.max(map.heatWidth, map.heat.left + LEGEND.width + 8) : 0, showLines ? map.linesWidth : 0);
  const height = map.beside ? Math.max(heatHeight, linesHeight) : heatHeight + linesHeight;
  return { map, showHeat, showLines, heatHeight, width: used, height };
}

export function paintFigure(context, figure, models, theme, focus) {
  const state = { focus, hover: null };
  context.fillStyle = theme.background;
  context.fillRect(0, 0, figure.width, figure.height);
  context.save();
  context.translate(MARGIN, MARGIN);
  if (figure.three) paintThree(context, figure.three, models, theme, state);
  else paintOne(context, figure, models[0], theme, state);
  paintCaption(context, figure.text, theme);
  context.restore();
}

function paintOne(context, figure, model, theme, state) {
  const { map } = figure;
  if (figure.showHeat) {
    paintHeatmap(context, map.heat, model, state, theme, STILL);
    paintLegend(context, map.heat.left, map.heat.top + map.heat.plotHeight + 14, model, theme);
  }
  if (figure.showLines) {
    context.save();
    context.translate(map.beside ? map.heatWidth + map.between : 0, map.beside ? 0 : figure.heatHeight);
    paintLines(context, map.lines, model, state, theme, 0, map.lines.top + map.lines.rowsHeight + 8);
    context.restore();
  }
}

function paintCaption(context, { rows, top }, theme) {
  context.font = `${CAPTION.size}px ${theme.font}`;
  context.fillStyle = theme.text;
  context.textAlign = "left";
  context.textBaseline = "top";
  rows.forEach((row, index) => context.fillText(row, 0, top + index * CAPTION.line));
}

// Breaks between words, and within a word only where it is wider than the line.
function wrapped(context, theme, caption, width) {
  context.font = `${CAPTION.size}px ${theme.font}`;
  const fits = (text) => context.measureText(text).width <= width;
  const rows = [];
  let row = "";
  for (const word of caption.split(/\s+/).filter(Boolean)) {
    if (row && fits(`${row} ${word}`)) {
      row = `${row} ${word}`;
      continue;
    }
    if (row) rows.push(row);
    row = word;
    while (!fits(row)) {
      const start = fit(context, row, width).slice(0, -1) || [...row][0];
      rows.push(start);
      row = row.slice(start.length);
    }
  }
  return row ? [...rows, row] : rows;
}
