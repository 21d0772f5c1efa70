// What cannot be pointed at, drawn as wide as the page that shows it.

import { unpack } from "../core/bytes.js";
import { element, sharpen, watchScreen } from "../core/surface.js";
import { readTheme } from "../core/theme.js";
import { drawingOf } from "./drawing.js";
import { layFigure, paintFigure } from "./figure.js";

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
  canvasTold(still);
  paintStill(still);
}

function canvasTold({ canvas, message }) {
  canvas.setAttribute("aria-label", message.header.alt);
}

function paintStill({ canvas, parent, message }) {
  if (!parent.clientWidth) return;
  const theme = readTheme(parent);
  const figure = layFigure(canvas.getContext("2d"), drawingOf(message, theme), theme, { width: parent.clientWidth, caption: "" });
  paintFigure(sharpen(canvas, figure.width, figure.height), figure, theme);
}
