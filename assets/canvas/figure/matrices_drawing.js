// Matrices over the same rows and columns, each under its title.

import { visible } from "../core/surface.js";
import { drawMatrix, matrixShape, paletteOf } from "../mask_grid/panel.js";
import { layTitle, write } from "../core/text.js";

const LARGEST_CELL_OF_A_FIGURE = 32;
const BETWEEN_MATRICES = 20;
const LEAST_ROOM = 300;

export function matricesDrawing({ header, cells }, dark) {
  const numbers = new Float32Array(cells.slice().buffer);
  const size = header.rows.length * header.columns.length;
  const panels = header.panels.map((panel, index) => ({ ...panel, cells: numbers.slice(index * size, (index + 1) * size) }));
  const model = {
    ...header, panels, rows: header.rows.length, columns: header.columns.length,
    rowTexts: header.rows.map(visible), columnTexts: header.columns.map(visible),
  };
  const palette = paletteOf(dark);
  return (context, theme, width) => {
    const across = Math.max(1, Math.min(header.across, panels.length, Math.floor(width / LEAST_ROOM)));
    const room = Math.floor((width - BETWEEN_MATRICES * (across - 1)) / across);
    const shape = matrixShape(context, model, theme, room, false, LARGEST_CELL_OF_A_FIGURE);
    const titles = panels.map((panel) => layTitle(context, theme, visible(panel.title), room - 4));
    const title = Math.max(...titles.map((one) => one.height));
    const noted = panels.some((panel) => panel.note) ? 18 : 0;
    const each = title + shape.top + shape.plotHeight + noted + 14;
    const paint = (target) => {
      for (const [index, panel] of panels.entries()) {
        target.save();
        target.translate((index % across) * (room + BETWEEN_MATRICES), Math.floor(index / across) * each);
        titles[index].paint(target);
        target.translate(0, title);
        drawMatrix(target, shape, model, panel, theme, palette);
        if (panel.note) write(target, panel.note, shape.left, shape.top + shape.plotHeight + 6, { font: `11px ${theme.font}`, colour: theme.quiet });
        target.restore();
      }
    };
    const used = (across - 1) * (room + BETWEEN_MATRICES) + Math.min(room, shape.left + shape.plotWidth + shape.lean + 4);
    return { width: used, height: Math.ceil(panels.length / across) * each - 8, paint };
  };
}
