// Before, after and the difference in one figure: heatmaps of one size, as the page shows them for a changed run.

import { heatmapShape, paintHeatmap } from "../attention/heatmap.js";
import { modelOf } from "../attention/model.js";
import { DIFFERENCE_TICKS, TICKS, differenceTable } from "../core/palette.js";
import { LEGEND, paintLegend } from "./legend.js";

const TITLES = ["Before", "After", "Difference"];
const TITLE = 22;
const ROOM_FOR_THREE = 640;
const BETWEEN_THREE = 24;

export function threeDrawing({ header, cells }, dark) {
  const size = header.queries.length * header.keys.length;
  const models = TITLES.map((_, part) => modelOf({ header, cells: cells.subarray(part * size, (part + 1) * size) }, dark));
  Object.assign(models[2], { signed: true, table: differenceTable(dark) });
  return (context, theme, width) => {
    const three = layThree(context, models, theme, width);
    return { width: three.width, height: three.height, paint: (target) => paintThree(target, three, models, theme, header.focus) };
  };
}

function layThree(context, models, theme, width) {
  const beside = width >= ROOM_FOR_THREE;
  const room = beside ? Math.floor((width - 2 * BETWEEN_THREE) / 3) : width;
  const shape = heatmapShape(context, models[0], theme, room, 1);
  const each = TITLE + shape.top + shape.plotHeight + 14 + LEGEND.tall;
  const left = Math.max(0, Math.min(shape.left, room - LEGEND.width - 4));
  const used = Math.min(room, Math.max(shape.left + shape.plotWidth + shape.lean + 10, left + LEGEND.width + 12));
  return { beside, shape, each, room, left, width: beside ? 2 * (room + BETWEEN_THREE) + used : used, height: beside ? each : 3 * each };
}

function paintThree(context, three, models, theme, focus) {
  for (const [part, model] of models.entries()) {
    context.save();
    context.translate(three.beside ? part * (three.room + BETWEEN_THREE) : 0, three.beside ? 0 : part * three.each);
    context.font = `600 13px ${theme.font}`;
    context.fillStyle = theme.text;
    context.textAlign = "left";
    context.textBaseline = "top";
    context.fillText(TITLES[part], 0, 2);
    context.translate(0, TITLE);
    paintHeatmap(context, three.shape, model, { focus, hover: null }, theme, { x: 0, y: 0 });
    paintLegend(context, three.left, three.shape.top + three.shape.plotHeight + 14, model, theme, model.signed ? DIFFERENCE_TICKS : TICKS);
    context.restore();
  }
}
