// Maps as parts of a figure: one attention map, before and after a change, and a comparison.

import { layMap, marksOf, modelOf, paintLines } from "../attention/map.js";
import { gridShape, paintGrid } from "../core/grid.js";
import { DIFFERENCE_TICKS, TICKS, css } from "../core/palette.js";
import { visible } from "../core/surface.js";
import { layTitle, write } from "../core/text.js";

// One attention map as the page shows it: as cells, as lines, or both.

export function mapDrawing(model, { show, focus }) {
  const state = { focus, hover: null };
  const [showHeat, showLines] = [show !== "lines", show !== "heatmap"];
  const note = model.hatched?.some(Boolean) ? model.texts.hatched : "";
  return (context, theme, space) => {
    const map = layMap(context, model, theme, space, { showHeat, showLines, zoom: 1 });
    const heatHeight = showHeat ? map.heat.top + map.heat.plotHeight + 8 + LEGEND.tall + (note ? 18 : 0) : 0;
    const linesHeight = showLines ? map.lines.top + map.lines.rowsHeight + 8 : 0;
    const used = map.beside ? map.heatWidth + map.between + map.linesWidth
      : Math.max(showHeat ? Math.max(map.heatWidth, map.heat.left + LEGEND.width + 8) : 0, showLines ? map.linesWidth : 0);
    const height = map.beside ? Math.max(heatHeight, linesHeight) : heatHeight + linesHeight;
    const paint = (target) => {
      if (showHeat) {
        paintGrid(target, map.heat, model, theme, marksOf(state, theme));
        paintLegend(target, map.heat.left, map.heat.top + map.heat.plotHeight + 14, model, theme);
        if (note) writeNote(target, note, map.heat.left, map.heat.top + map.heat.plotHeight + 14, theme);
      }
      if (!showLines) return;
      target.save();
      target.translate(map.beside ? map.heatWidth + map.between : 0, map.beside ? 0 : heatHeight);
      paintLines(target, map.lines, model, state, theme, 0, map.lines.top + map.lines.rowsHeight + 8);
      target.restore();
    };
    return { width: used, height, paint };
  };
}

// Before, after and the difference, or A, B and B − A, in one figure: heatmaps of one size, as the page shows them.

const SPACE_FOR_THREE_MAPS = 640;
const BETWEEN_THREE_MAPS = 24;
const EVERY_LABEL = 14; // pixels of a cell from which every word is written
const spaceOf = (width, across) => Math.floor((width - (across - 1) * BETWEEN_THREE_MAPS) / across);

export function beforeAfterDrawing({ header, cells }, dark) {
  const size = header.queries.length * header.keys.length;
  const models = header.texts.titles.map((_, part) => modelOf({ header, cells: cells.subarray(part * size, (part + 1) * size) }, dark, { hatched: header.hatched?.[part], isDifference: part === 2 }));
  const note = models.some(({ hatched }) => hatched?.some(Boolean)) ? header.texts.hatched : "";
  return (context, theme, width) => {
    const across = width < SPACE_FOR_THREE_MAPS ? 1 : gridShape(context, models[0], theme, spaceOf(width, 3)).wide < EVERY_LABEL ? 2 : 3;
    const space = spaceOf(width, across);
    const titles = header.texts.titles.map((text) => layTitle(context, theme, visible(text), space - 4));
    const tallest = across > 1 ? Math.max(...titles.map(({ height }) => height)) : 0;
    const parts = models.map((model, part) => layPart(context, theme, model, { title: titles[part], under: Math.max(tallest, titles[part].height), space, note }));
    const places = parts.map((_, part) => [(part % across) * (space + BETWEEN_THREE_MAPS), parts[0].height * Math.floor(part / across)]);
    const paint = (target) => {
      for (const [part, laid] of parts.entries()) {
        target.save();
        target.translate(...places[part]);
        paintPart(target, theme, laid, models[part], header.focus);
        target.restore();
      }
    };
    const used = Math.max(...parts.map((part, number) => places[number][0] + part.width));
    return { width: used, height: Math.max(...parts.map(({ height }, part) => places[part][1] + height)), paint };
  };
}

// title: laid; under: the height that all titles take; note: on cells that stand for nothing.
function layPart(context, theme, model, { title, under, space, note }) {
  const shape = gridShape(context, model, theme, space);
  const legend = under + shape.top + shape.plotHeight + 14;
  const left = Math.max(0, Math.min(shape.left, space - LEGEND.width - 4));
  const width = Math.min(space, Math.max(shape.left + shape.plotWidth + shape.lean + 10, left + LEGEND.width + 12));
  return { title, under, shape, legend, left, width, note, height: legend + LEGEND.tall + (note ? 18 : 0) + 6 };
}

function paintPart(context, theme, { title, under, shape, legend, left, note }, model, focus) {
  title.paint(context);
  context.save();
  context.translate(0, under);
  paintGrid(context, shape, model, theme, marksOf({ focus, hover: null }, theme));
  context.restore();
  paintLegend(context, left, legend, model, theme);
  if (note) writeNote(context, note, left, legend, theme);
}

// What the cells with strokes stand for, below the legend.
function writeNote(context, note, left, legend, theme) {
  write(context, note, left, legend + LEGEND.tall - 6, { font: `11px ${theme.font}`, colour: theme.quiet });
}

// The colour scale of a map, with its ticks.

const LEGEND = { width: 190, height: 8, tall: 44 };
const STEP = 2;

function paintLegend(context, left, top, { table, zero, texts }, theme) {
  for (let x = 0; x < LEGEND.width; x += STEP) {
    context.fillStyle = css(table[Math.round((x / (LEGEND.width - STEP)) * 255)]);
    context.fillRect(left + x, top, Math.min(2 * STEP, LEGEND.width - x), LEGEND.height); // the next covers the seam
  }
  context.font = `11px ${theme.font}`;
  context.fillStyle = theme.quiet;
  context.textBaseline = "top";
  for (const tick of zero ? DIFFERENCE_TICKS : TICKS) {
    const root = Math.sign(tick) * Math.sqrt(Math.abs(tick));
    const share = zero ? (1 + root) / 2 : root;
    const sign = tick < 0 ? "−" : zero && tick > 0 ? "+" : "";
    context.textAlign = share === 0 ? "left" : "center";
    context.fillText(`${sign}${Math.abs(tick)}`, left + share * LEGEND.width, top + LEGEND.height + 3);
  }
  context.textAlign = "left";
  context.fillText(zero ? texts.figureOfChanges : texts.figureOfWeights, left, top + LEGEND.height + 17);
}
