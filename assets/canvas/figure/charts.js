// Charts of a page in one figure: as many beside one another as there is room for, each under its title.

import { visible } from "../core/surface.js";
import { layBars, layMoved } from "./bars.js";
import { layGrid } from "./grid.js";
import { layLines } from "../lines/line_chart.js";
import { layListing } from "./listing.js";
import { layPoints } from "./points.js";
import { layTitle, wrapped, write } from "../core/text.js";

const LAY = { bars: layBars, moved: layMoved, grid: layGrid, lines: layLines, listing: layListing, points: layPoints };
const LEAST_CHART = 190;
const BETWEEN_CHARTS = 22;
const NOTE = 16;

export function chartsDrawing({ charts, across }) {
  return (context, theme, width) => {
    const beside = Math.max(1, Math.min(across, charts.length, Math.floor((width + BETWEEN_CHARTS) / (LEAST_CHART + BETWEEN_CHARTS))));
    const room = Math.floor((width - BETWEEN_CHARTS * (beside - 1)) / beside);
    const parts = charts.map((chart) => layChart(context, theme, chart, room));
    const places = [];
    let top = 0;
    for (let start = 0; start < parts.length; start += beside) {
      const row = parts.slice(start, start + beside);
      row.forEach((_, column) => places.push([column * (room + BETWEEN_CHARTS), top]));
      top += Math.max(...row.map((part) => part.height)) + BETWEEN_CHARTS;
    }
    const paint = (target) => parts.forEach((part, index) => {
      target.save();
      target.translate(...places[index]);
      part.paint(target);
      target.restore();
    });
    const used = Math.max(...parts.map((part, index) => places[index][0] + part.width));
    return { width: used, height: Math.max(0, top - BETWEEN_CHARTS), paint };
  };
}

function layChart(context, theme, chart, room) {
  if (!chart) return { width: 0, height: 0, paint() {} };
  const title = layTitle(context, theme, visibleText(chart.title), room);
  const inner = LAY[chart.kind](context, theme, chart, room);
  const font = `11px ${theme.font}`;
  const notes = chart.note ? wrapped(context, font, visibleText(chart.note), room) : [];
  const paint = (target) => {
    title.paint(target);
    target.save();
    target.translate(0, title.height);
    inner.paint(target);
    target.restore();
    notes.forEach((row, index) => write(target, row, 0, title.height + inner.height + 4 + index * NOTE, { font, colour: theme.quiet }));
  };
  return { width: Math.max(inner.width, Math.min(room, 120)), height: title.height + inner.height + notes.length * NOTE + 4, paint };
}

function visibleText(text) {
  return text ? visible(text) : "";
}
