// Strokes over the cells that are no difference, because one of their words has no partner.

import { hasBoth } from "./partners.js";

export function paintHatch(context, shape, partners, theme, scroll) {
  const { left, top, cell } = shape;
  const count = partners.rows.length;
  const inset = cell < 9 ? 0 : 2;
  context.save();
  context.beginPath();
  context.rect(left, top, shape.viewWidth, shape.viewHeight);
  context.clip();
  context.beginPath();
  for (let query = 0; query < count; query += 1) {
    for (let key = 0; key < count; key += 1) {
      if (hasBoth(partners, query) && hasBoth(partners, key)) continue;
      context.rect(left + key * cell + inset - scroll.x, top + query * cell + inset - scroll.y, cell - 2 * inset, cell - 2 * inset);
    }
  }
  context.clip();
  context.strokeStyle = theme.quiet;
  context.globalAlpha = 0.55;
  context.lineWidth = 1;
  context.beginPath();
  const side = count * cell;
  for (let start = -side; start < side; start += 6) {
    context.moveTo(left + start, top + side);
    context.lineTo(left + start + side, top);
  }
  context.stroke();
  context.restore();
}
