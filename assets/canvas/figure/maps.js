// Maps as parts of a figure: one attention map, before and after a change, and a comparison.

import { layMap, marksOf, modelOf, paintLines } from "../attention/map.js";
import { gridShape, paintGrid } from "../core/grid.js";
import { DIFFERENCE_TICKS, TICKS, css, tickOf } from "../core/palette.js";
import { visible } from "../core/surface.js";
import { inRows, layTitle, paintAt, widthOf, write } from "../core/text.js";

// One attention map as the page shows it: as cells, as lines, or both.
export function mapDrawing(model, { show, focus }) {
  const marks = { focus, hover: null };
  const [showHeat, showLines] = [show !== "lines", show !== "heatmap"];
  return (context, theme, space) => {
    const { beside, between, heat, heatWidth, lines, linesWidth } = layMap(context, model, theme, space, { showHeat, showLines, zoom: 1 });
    const tall = lines.top + lines.rowsHeight + 8;
    const parts = [];
    if (showHeat) parts.push(layCells(context, model, heat, theme, { space: Math.max(heatWidth, LEGEND.width + 8), focus }));
    if (showLines) parts.push({ width: linesWidth, height: tall, paint: (target) => paintLines(target, lines, model, marks, theme, 0, tall) });
    return inRows(parts, beside ? 2 : 1, heatWidth, between);
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
  return (context, theme, width) => {
    const across = width < SPACE_FOR_THREE_MAPS ? 1 : gridShape(context, models[0], theme, spaceOf(width, 3)).wide < EVERY_LABEL ? 2 : 3;
    const space = spaceOf(width, across);
    const titles = header.texts.titles.map((text) => layTitle(context, theme, visible(text), space - 4));
    const under = across > 1 ? Math.max(...titles.map(({ height }) => height)) : 0;
    const isNoted = models.some(({ hatched }) => hatched?.some(Boolean));
    return inRows(models.map((model, part) => {
      const map = layCells(context, model, gridShape(context, model, theme, space), theme, { space, focus: header.focus, isNoted });
      const top = Math.max(under, titles[part].height);
      return { width: map.width, height: top + map.height, paint(target) {
        titles[part].paint(target);
        paintAt(target, 0, top, map.paint);
      } };
    }), across, space, BETWEEN_THREE_MAPS);
  };
}

// The cells of a map with their legend, and what the cells with strokes stand for.
function layCells(context, model, shape, theme, { space, focus, isNoted = model.hatched?.some(Boolean) }) {
  const top = shape.top + shape.plotHeight + 14;
  const legend = Math.max(LEGEND.width, widthOf(context, legendFont(theme), scaleName(model)));
  const left = Math.max(0, Math.min(shape.left, space - legend - 4));
  const width = Math.min(space, Math.max(shape.left + shape.plotWidth + shape.lean + 10, left + legend + 12));
  const paint = (target) => {
    paintGrid(target, shape, model, theme, marksOf({ focus, hover: null }, theme));
    paintLegend(target, left, top, model, theme);
    if (isNoted) write(target, model.texts.hatched, left, top + LEGEND.tall - 6, { font: `11px ${theme.font}`, colour: theme.quiet });
  };
  return { width, height: top + LEGEND.tall + (isNoted ? 18 : 0) + 6, paint };
}

// The colour scale of a map, with its ticks.

const LEGEND = { width: 190, height: 8, tall: 44 };
const STEP = 2;
const legendFont = ({ font }) => `11px ${font}`;
const scaleName = ({ zero, texts }) => (zero ? texts.scaleOfChanges : texts.scaleOfWeights);

function paintLegend(context, left, top, model, theme) {
  const { table, zero } = model;
  for (let x = 0; x < LEGEND.width; x += STEP) {
    context.fillStyle = css(table[Math.round((x / (LEGEND.width - STEP)) * 255)]);
    context.fillRect(left + x, top, Math.min(2 * STEP, LEGEND.width - x), LEGEND.height); // the next covers the seam
  }
  const said = { font: legendFont(theme), colour: theme.quiet };
  for (const tick of zero ? DIFFERENCE_TICKS : TICKS) {
    const { share, text } = tickOf(tick, zero);
    write(context, text, left + share * LEGEND.width, top + LEGEND.height + 3, { ...said, align: share === 0 ? "left" : "center" });
  }
  write(context, scaleName(model), left, top + LEGEND.height + 17, said);
}
