// A drawing that does not react to its reader, as wide as the page that shows it.

import { unpack } from "../core/bytes.js";
import { element, sharpen, watchScreen } from "../core/surface.js";
import { readTheme } from "../core/theme.js";
import { drawingOf, layFigure, paintFigure } from "./figure.js";

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
