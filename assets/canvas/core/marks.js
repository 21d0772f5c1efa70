// Marks of points and lines, each told from the others by its shape; and the legend that names them.

import { fit } from "./surface.js";
import { trace, widthOf, write } from "./text.js";

const corner = (share, reach = 1) => [Math.sin(2 * Math.PI * share) * reach, -Math.cos(2 * Math.PI * share) * reach];
const corners = (count, turn = 0) => Array.from({ length: count }, (_, index) => corner(index / count + turn));
const THIN = 0.38;
const SHAPES = {
  square: [[-0.85, -0.85], [0.85, -0.85], [0.85, 0.85], [-0.85, 0.85]],
  diamond: corners(4),
  hexagon: corners(6, 1 / 12),
  star: Array.from({ length: 10 }, (_, index) => corner(index / 10, index % 2 ? 0.5 : 1.15)),
  cross: [[-THIN, -1], [THIN, -1], [THIN, -THIN], [1, -THIN], [1, THIN], [THIN, THIN], [THIN, 1], [-THIN, 1], [-THIN, THIN], [-1, THIN], [-1, -THIN], [-THIN, -THIN]],
  "triangle-up": corners(3),
  "triangle-right": corners(3, 1 / 4),
  "triangle-left": corners(3, -1 / 4),
};

export function paintMark(target, symbol, x, y, radius, fill, edge) {
  trace(target, (SHAPES[symbol] ?? []).map(([dx, dy]) => [x + dx * radius, y + dy * radius]), { isClosed: symbol in SHAPES });
  if (!(symbol in SHAPES)) target.roundRect(x - radius, y - radius, 2 * radius, 2 * radius, radius);
  target.fillStyle = fill;
  target.fill();
  if (!edge) return;
  target.strokeStyle = edge.colour;
  target.lineWidth = edge.width;
  target.setLineDash([]);
  target.stroke();
}

const ENTRY = { sign: 30, gap: 18, row: 20 };

// entries: with a name, and `sign(target, x, y)` that paints what stands for it. They run on over as many rows as it takes;
// a name that is wider than a row is shortened.
export function layLegend(context, theme, entries, space) {
  const font = `12.5px ${theme.font}`;
  const places = [];
  let [x, y] = [0, 0];
  context.font = font;
  const names = entries.map(({ name }) => fit(context, name, space - ENTRY.sign));
  for (const name of names) {
    const width = ENTRY.sign + widthOf(context, font, name) + ENTRY.gap;
    if (x && x + width - ENTRY.gap > space) [x, y] = [0, y + ENTRY.row];
    places.push([x, y]);
    x += width;
  }
  const paint = (target) => entries.forEach((entry, index) => {
    const [left, top] = places[index];
    entry.sign(target, left + 12, top + ENTRY.row / 2);
    write(target, names[index], left + ENTRY.sign, top + ENTRY.row / 2, { font, colour: theme.text, baseline: "middle" });
  });
  return { height: entries.length ? y + ENTRY.row : 0, paint };
}
