// The table of all heads: hue for the kind, depth of colour for how clear it is, a word or a letter on it.

import { tint } from "../core/palette.js";
import { fit } from "../core/surface.js";
import { layLegend } from "../core/marks.js";
import { write } from "../core/text.js";

const ROOM_FOR_A_WORD = 50;
const CELL = { tall: 42, gap: 3, most: 110 };
const AXIS = { left: 46, top: 38 };

export function layGrid(context, theme, { cells, legend, chosen, axes }, room) {
  const columns = cells[0].length;
  const wide = Math.min(CELL.most, (room - AXIS.left) / columns - CELL.gap);
  const bottom = AXIS.top + cells.length * (CELL.tall + CELL.gap);
  const named = layLegend(context, theme, legend.map((entry) => ({ name: entry.name, sign: (target, x, y) => swatch(target, theme, entry, x, y) })), room);
  const paint = (target) => {
    write(target, axes, 0, 2, { font: `12px ${theme.font}`, colour: theme.quiet });
    for (let head = 0; head < columns; head += 1) {
      const x = AXIS.left + head * (wide + CELL.gap) + wide / 2;
      write(target, String(head + 1), x, 20, { font: `12px ${theme.font}`, colour: theme.quiet, align: "center" });
    }
    for (const [layer, row] of cells.entries()) {
      const y = AXIS.top + layer * (CELL.tall + CELL.gap);
      write(target, String(layer + 1), AXIS.left - 10, y + CELL.tall / 2, { font: `12px ${theme.font}`, colour: theme.quiet, align: "right", baseline: "middle" });
      for (const [head, cell] of row.entries()) paintCell(target, theme, cell, AXIS.left + head * (wide + CELL.gap), y, wide);
    }
    if (chosen) {
      target.strokeStyle = theme.accent;
      target.lineWidth = 2.5;
      target.strokeRect(AXIS.left + chosen[1] * (wide + CELL.gap) - 1, AXIS.top + chosen[0] * (CELL.tall + CELL.gap) - 1, wide + 2, CELL.tall + 2);
    }
    target.save();
    target.translate(0, bottom + 8);
    named.paint(target);
    target.restore();
  };
  return { width: Math.min(room, AXIS.left + columns * (wide + CELL.gap)), height: bottom + 8 + named.height, paint };
}

function paintCell(target, theme, cell, x, y, wide) {
  const { background, ink } = tint(cell.colour, cell.strength, theme.ground);
  target.fillStyle = background;
  target.fillRect(x, y, wide, CELL.tall);
  const words = wide >= ROOM_FOR_A_WORD;
  const font = `600 13px ${theme.font}`;
  target.font = font;
  const numbered = words && cell.number;
  const place = [x + wide / 2, y + CELL.tall / 2 - (numbered ? 8 : 0)];
  write(target, fit(target, words ? cell.word : cell.letter, wide), ...place, { font, colour: ink, align: "center", baseline: "middle" });
  if (numbered) write(target, cell.number, place[0], place[1] + 16, { font: `12px ${theme.font}`, colour: ink, align: "center", baseline: "middle" });
}

function swatch(target, theme, entry, x, y) {
  const { background, ink } = tint(entry.colour, entry.strength, theme.ground);
  target.fillStyle = background;
  target.fillRect(x - 10, y - 8, 22, 17);
  write(target, entry.letter, x + 1, y + 0.5, { font: `600 12px ${theme.font}`, colour: ink, align: "center", baseline: "middle" });
}
