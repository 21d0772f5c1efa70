// Where heatmap and lines stand: side by side where there is room, else one below the other.

import { heatmapShape } from "./heatmap.js";
import { linesShape } from "./lines.js";

const BESIDE = 620; // pixels from which the two views stand side by side
const BETWEEN = 28;
const WIDEST_LINES = 560;

export function layMap(context, model, theme, width, { showHeat, showLines, zoom }) {
  const beside = showHeat && showLines && width >= BESIDE;
  const heatRoom = beside ? Math.floor(width * 0.6) - BETWEEN / 2 : width;
  const heat = heatmapShape(context, model, theme, heatRoom, zoom);
  const heatWidth = Math.min(heatRoom, heat.left + heat.viewWidth + heat.lean + 10);
  const linesWidth = Math.min(beside ? width - heatWidth - BETWEEN : width, WIDEST_LINES);
  const lines = linesShape(context, model, theme, linesWidth - 10, beside ? heat : null, zoom);
  return { beside, between: BETWEEN, heat, heatWidth, lines, linesWidth };
}
