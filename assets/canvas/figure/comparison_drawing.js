// A, B and B − A as the page of comparisons shows them: two maps side by side, what differs below.

import { heatmapShape, paintHeatmap } from "../attention/heatmap.js";
import { DIFFERENCE_TICKS, TICKS } from "../core/palette.js";
import { visible } from "../core/surface.js";
import { comparedModels, paintHatch, partnersOf, placeIn } from "../comparison/maps.js";
import { LEGEND, paintLegend } from "./legend.js";
import { layTitle, write } from "../core/text.js";

const ROOM_FOR_TWO = 560;
const BETWEEN_MAPS = 26;

export function comparisonDrawing(message, dark) {
  const models = comparedModels(message, dark);
  const { header } = message;
  const partners = partnersOf(header.rows);
  const lonely = header.rows.some((places) => places.includes(null));
  return (context, theme, width) => {
    const beside = width >= ROOM_FOR_TWO;
    const half = beside ? Math.floor((width - BETWEEN_MAPS) / 2) : width;
    const rooms = [half, half, beside ? Math.floor(width * 0.68) : width];
    const parts = models.map((model, map) => layPart(context, theme, model, visible(header.titles[map]), rooms[map], map === 2 && lonely ? header.texts.hatched : ""));
    const [one, other, difference] = parts;
    const below = beside ? Math.max(one.height, other.height) : one.height + other.height;
    const places = [[0, 0], beside ? [half + BETWEEN_MAPS, 0] : [0, one.height], [0, below]];
    const paint = (target) => {
      for (const [map, part] of parts.entries()) {
        target.save();
        target.translate(...places[map]);
        paintPart(target, theme, part, models[map], placeIn(partners, map, header.focus), map === 2 ? partners : null);
        target.restore();
      }
    };
    const used = Math.max(beside ? half + BETWEEN_MAPS + other.width : Math.max(one.width, other.width), difference.width);
    return { width: used, height: below + difference.height, paint };
  };
}

function layPart(context, theme, model, text, room, hatched) {
  const title = layTitle(context, theme, text, room - 4);
  const shape = heatmapShape(context, model, theme, room, 1);
  const legend = title.height + shape.top + shape.plotHeight + 14;
  const left = Math.max(0, Math.min(shape.left, room - LEGEND.width - 4));
  const width = Math.min(room, Math.max(shape.left + shape.plotWidth + shape.lean + 10, left + LEGEND.width + 12));
  return { title, shape, legend, left, width, hatched, height: legend + LEGEND.tall + (hatched ? 18 : 0) + 6 };
}

function paintPart(context, theme, { title, shape, legend, left, hatched }, model, focus, partners) {
  title.paint(context);
  context.save();
  context.translate(0, title.height);
  paintHeatmap(context, shape, model, { focus, hover: null }, theme, { x: 0, y: 0 });
  if (partners) paintHatch(context, shape, partners, theme, { x: 0, y: 0 });
  context.restore();
  paintLegend(context, left, legend, model, theme, model.signed ? DIFFERENCE_TICKS : TICKS);
  if (hatched) write(context, hatched, left, legend + LEGEND.tall - 6, { font: `11px ${theme.font}`, colour: theme.quiet });
}
