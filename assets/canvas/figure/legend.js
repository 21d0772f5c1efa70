// The scale of a map as part of a figure.

import { TICKS, css } from "../core/palette.js";

export const LEGEND = { width: 190, height: 8, tall: 44 };
const STEP = 2;

export function paintLegend(context, left, top, { table, signed }, theme, ticks = TICKS) {
  for (let x = 0; x < LEGEND.width; x += STEP) {
    context.fillStyle = css(table[Math.round((x / (LEGEND.width - STEP)) * 255)]);
    context.fillRect(left + x, top, Math.min(2 * STEP, LEGEND.width - x), LEGEND.height); // the next covers the seam
  }
  context.font = `11px ${theme.font}`;
  context.fillStyle = theme.quiet;
  context.textBaseline = "top";
  for (const tick of ticks) {
    const root = Math.sign(tick) * Math.sqrt(Math.abs(tick));
    const share = signed ? (1 + root) / 2 : root;
    const sign = tick < 0 ? "−" : signed && tick > 0 ? "+" : "";
    context.textAlign = share === 0 ? "left" : "center";
    context.fillText(`${sign}${Math.abs(tick)}`, left + share * LEGEND.width, top + LEGEND.height + 3);
  }
  context.textAlign = "left";
  context.fillText(`${signed ? "change" : "weight"}, coloured by its square root`, left, top + LEGEND.height + 17);
}
