// What the page shows as a figure: the same drawing, laid out for a chosen width, with a caption.

import { wrapped } from "../core/text.js";

const MARGIN = 6;
const CAPTION = { size: 12, line: 17, gap: 10 };

// drawing: lays itself out in a room and gives its size and how it is painted. width: CSS pixels to lay it out in; what is
// not needed of them is cut off.
export function layFigure(context, drawing, theme, { width, caption }) {
  const room = width - 2 * MARGIN;
  const inner = drawing(context, theme, room);
  const drawn = Math.min(room, Math.max(inner.width, 240));
  const font = `${CAPTION.size}px ${theme.font}`;
  const text = { font, rows: caption ? wrapped(context, font, caption, drawn) : [] };
  text.top = inner.height + (text.rows.length ? CAPTION.gap : 0);
  return { inner, text, width: drawn + 2 * MARGIN, height: text.top + text.rows.length * CAPTION.line + 2 * MARGIN };
}

export function paintFigure(context, figure, theme) {
  context.fillStyle = theme.background;
  context.fillRect(0, 0, figure.width, figure.height);
  context.save();
  context.translate(MARGIN, MARGIN);
  figure.inner.paint(context);
  context.font = figure.text.font;
  context.fillStyle = theme.text;
  context.textAlign = "left";
  context.textBaseline = "top";
  figure.text.rows.forEach((row, index) => context.fillText(row, 0, figure.text.top + index * CAPTION.line));
  context.restore();
}
