// A view as a figure: the drawing that a message asks for, laid out for a chosen width, with a caption; and such a figure on its own.

import { modelOf } from "../attention/heatmap.js";
import { unpack } from "../core/bytes.js";
import { element, sharpen, watchScreen } from "../core/surface.js";
import { wrapped } from "../core/text.js";
import { readTheme } from "../core/theme.js";
import { chartsDrawing } from "./charts.js";
import { mapDrawing, matricesDrawing } from "./maps.js";

// Returns the drawing that a message asks for: a function that lays itself out in a width and returns its size and `paint`.
export function drawingOf(message, { dark }) {
  const { header } = message;
  if (header.drawing === "matrices") return matricesDrawing(message, dark);
  if (header.drawing === "charts") return chartsDrawing(header);
  return mapDrawing(modelOf(message, dark), header);
}

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

// --- A drawing that does not react to its reader, as wide as the page that shows it.

const stills = new WeakMap();

export default function mountStill({ data, parentElement }) {
  let still = stills.get(parentElement);
  if (!still) {
    const canvas = element("canvas", { role: "img", "data-testid": "still" });
    still = { canvas, parent: parentElement };
    parentElement.append(canvas);
    stills.set(parentElement, still);
    new ResizeObserver(() => paintStill(still)).observe(parentElement);
    watchScreen(() => paintStill(still));
  }
  still.message = unpack(data);
  still.canvas.setAttribute("aria-label", still.message.header.alt);
  paintStill(still);
}

function paintStill({ canvas, parent, message }) {
  if (!parent.clientWidth) return;
  const theme = readTheme(parent);
  const figure = layFigure(canvas.getContext("2d"), drawingOf(message, theme), theme, { width: parent.clientWidth, caption: "" });
  paintFigure(sharpen(canvas, figure.width, figure.height), figure, theme);
}
