// Heads as points on a plane, both axes alike; the chosen one large, with lines to its neighbours.

import { visible } from "../core/surface.js";
import { layLegend, paintMark } from "../core/marks.js";
import { write } from "../core/text.js";

const TALL = 430;
const EDGE = 28;
const POINT = 5;
const CHOSEN_POINT = 9;
const NAME_SIZE = 12.5;

// kinds: name, colour, symbol, and which points are of it. names: of which point, and how many pixels from it.
export function layPoints(context, theme, { places, labels, kinds, chosen, neighbours, names }, room) {
  const axes = [0, 1].map((axis) => places.map((place) => place[axis]));
  const [across, up] = axes.map((values) => [Math.min(...values), Math.max(...values)]);
  const scale = Math.min((room - 2 * EDGE) / (across[1] - across[0] || 1), (TALL - 2 * EDGE) / (up[1] - up[0] || 1));
  const point = (index) => [
    room / 2 + (places[index][0] - (across[0] + across[1]) / 2) * scale,
    TALL / 2 - (places[index][1] - (up[0] + up[1]) / 2) * scale,
  ];
  const legend = layLegend(context, theme, kinds.map((kind) => ({
    name: visible(kind.name), sign: (target, x, y) => paintMark(target, kind.symbol, x, y, 5, kind.colour, { colour: theme.text, width: 0.5 }),
  })), room);
  const paint = (target) => {
    paintNeighbours(target, theme, point(chosen), neighbours.map(point));
    for (const { colour, symbol, members } of kinds) {
      for (const index of members) {
        const large = index === chosen;
        paintMark(target, symbol, ...point(index), large ? CHOSEN_POINT : POINT, colour, { colour: theme.text, width: large ? 2.5 : 0.5 });
      }
    }
    for (const name of names) paintName(target, theme, labels[name.point], point(name.point), name);
    target.save();
    target.translate(0, TALL + 4);
    legend.paint(target);
    target.restore();
  };
  return { width: room, height: TALL + 4 + legend.height, paint };
}

function paintNeighbours(target, theme, from, ends) {
  target.strokeStyle = theme.text;
  target.lineWidth = 1.2;
  target.setLineDash([2, 4]);
  for (const end of ends) {
    target.beginPath();
    target.moveTo(...from);
    target.lineTo(...end);
    target.stroke();
  }
  target.setLineDash([]);
}

function paintName(target, theme, label, [x, y], { right, down }) {
  write(target, label, x + right, y + down, { font: `${NAME_SIZE}px ${theme.font}`, colour: theme.text, align: "center", baseline: "middle" });
}
