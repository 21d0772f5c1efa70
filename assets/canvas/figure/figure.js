// A drawing laid out for a chosen width, with a caption below it. A drawing lays itself out in a width and returns its size and `paint`.

import { wrapped } from "../core/text.js";

const MARGIN = 6;
const CAPTION = { size: 12, line: 17, gap: 10 };

// Lays out a drawing with its caption. width: CSS pixels, of which the figure takes no more than it needs.
export function layFigure(context, drawing, theme, { width, caption }) {
  const space = width - 2 * MARGIN;
  const inner = drawing(context, theme, space);
  const drawn = Math.min(space, Math.max(inner.width, 240));
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
