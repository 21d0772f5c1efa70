// One attention map as the page shows it: as cells, as lines, or both.

import { paintHeatmap } from "../attention/heatmap.js";
import { layMap } from "../attention/layout.js";
import { paintLines } from "../attention/lines.js";
import { LEGEND, paintLegend } from "./legend.js";

const STILL = { x: 0, y: 0 };

export function mapDrawing(model, { show, focus }) {
  const state = { focus, hover: null };
  const [showHeat, showLines] = [show !== "lines", show !== "heatmap"];
  return (context, theme, room) => {
    const map = layMap(context, model, theme, room, { showHeat, showLines, zoom: 1 });
    const heatHeight = showHeat ? map.heat.top + map.heat.plotHeight + 8 + LEGEND.tall : 0;
    const linesHeight = showLines ? map.lines.top + map.lines.rowsHeight + 8 : 0;
    const used = map.beside ? map.heatWidth + map.between + map.linesWidth
      : Math.max(showHeat ? Math.max(map.heatWidth, map.heat.left + LEGEND.width + 8) : 0, showLines ? map.linesWidth : 0);
    const height = map.beside ? Math.max(heatHeight, linesHeight) : heatHeight + linesHeight;
    const paint = (target) => {
      if (showHeat) {
        paintHeatmap(target, map.heat, model, state, theme, STILL);
        paintLegend(target, map.heat.left, map.heat.top + map.heat.plotHeight + 14, model, theme);
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
