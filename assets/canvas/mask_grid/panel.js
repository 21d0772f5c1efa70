// One matrix as cells on a canvas, with the names of its rows and columns; a colour and a few characters for each number.

import { number } from "../core/numbers.js";
import { channels, colourTable, differenceGradient, gradient, inkOn, signedTables } from "../core/palette.js";
import { element, fit, measureLabels, zoomOf } from "../core/surface.js";

const WIDEST_NAME = 84;
const AXES_LINE = 16; // pixels that the names of the axes take, above everything: beside the rows they would cost width
const ALLOWED = { light: 128, dark: 170 }; // where in the blues a cell that may be looked at stands
const FORBIDDEN = { light: "#eef0f2", dark: "#1d242d" };
const HIDDEN = { light: "#e6e8ea", dark: "#262d36" }; // −∞

// What the colours stand for: the ends of the scale. A mask has two colours and crosses, which its title explains.
export function fillLegend(legend, panel, texts, dark) {
  legend.hidden = panel.kind === "mask";
  if (legend.hidden) return;
  const negative = panel.kind === "signed" && panel.cells.some((value) => Number.isFinite(value) && value < 0);
  const limit = panel.kind === "weights" ? 1 : panel.limit;
  const ramp = element("span", { class: "ramp" });
  ramp.style.background = negative ? differenceGradient(dark) : gradient("blues", dark);
  const roots = panel.kind === "weights" || panel.root ? element("span", {}, texts.squareRoot) : "";
  legend.replaceChildren(element("span", {}, negative ? number(-limit) : "0", ramp, number(limit)), roots);
}

// The sizes of a matrix in `width` pixels. largest: of a cell.
export function matrixShape(context, model, theme, width, largest) {
  const font = `12.5px ${theme.font}`;
  const rows = measureLabels(context, model.rowTexts, font, width < 300 ? 56 : WIDEST_NAME);
  const columns = measureLabels(context, model.columnTexts, font, WIDEST_NAME);
  const left = rows.widest + 8;
  const space = width - left - 2;
  const upright = Math.min(space / model.columns, model.square ? largest : Infinity) > columns.widest + 6;
  const slanted = Math.ceil(columns.widest * Math.SQRT1_2) + 12;
  const lean = upright ? 0 : Math.min(slanted, space * 0.09);
  const fitting = (space - lean) / model.columns;
  const wide = model.square ? Math.min(largest, fitting) : fitting;
  const snapped = wide > 4 ? Math.floor(wide) : wide;
  const high = model.square ? snapped : Math.max(2, Math.min(model.tallestRow ?? 26, model.tallest / model.rows));
  return {
    font, rows, columns, left, upright, lean,
    top: (model.axes ? AXES_LINE : 0) + (upright ? 22 : slanted + 2),
    wide: snapped,
    high,
    plotWidth: snapped * model.columns,
    plotHeight: high * model.rows,
  };
}

export function drawMatrix(context, shape, model, panel, theme, palette) {
  context.imageSmoothingEnabled = false;
  context.drawImage(matrixPixels(model, panel, palette), shape.left, shape.top, shape.plotWidth, shape.plotHeight);
  if (Math.min(shape.wide, shape.high) >= 9) paintMatrixGaps(context, shape, model, theme);
  if (Math.min(shape.wide, shape.high) >= 9) paintSigns(context, shape, model, panel, theme, palette);
  paintNames(context, shape, model, theme);
  if (model.axes) paintAxes(context, model.axes, shape, theme);
}

function matrixPixels(model, panel, palette) {
  const canvas = element("canvas", { width: model.columns, height: model.rows });
  const image = new ImageData(model.columns, model.rows);
  for (let place = 0; place < panel.cells.length; place += 1) {
    image.data.set(colourOf(palette, panel, panel.cells[place]), place * 4);
    image.data[place * 4 + 3] = 255;
  }
  canvas.getContext("2d").putImageData(image, 0, 0);
  return canvas;
}

function paintMatrixGaps(context, shape, model, theme) {
  context.fillStyle = theme.background;
  for (let column = 1; column < model.columns; column += 1) {
    context.fillRect(shape.left + column * shape.wide - 1, shape.top, 1, shape.plotHeight);
  }
  for (let row = 1; row < model.rows; row += 1) {
    context.fillRect(shape.left, shape.top + row * shape.high - 1, shape.plotWidth, 1);
  }
}

// Numbers where there is space; a cross where a mask forbids, so that colour is not the only sign.
function paintSigns(context, shape, model, panel, theme, palette) {
  const size = Math.min(12, Math.floor(shape.wide / 2.45)); // “−1.00” is 2.3 wide
  const smallest = zoomOf(context.canvas) > 1 ? 12 : 11; // pixels: on a projector, what is smaller cannot be read
  context.font = `${size}px ${theme.font}`;
  context.textAlign = "center";
  context.textBaseline = "middle";
  for (let place = 0; place < panel.cells.length; place += 1) {
    const value = panel.cells[place];
    const x = shape.left + ((place % model.columns) + 0.5) * shape.wide - 0.5;
    const y = shape.top + (Math.floor(place / model.columns) + 0.5) * shape.high;
    if (panel.kind === "mask" && value <= 0) paintCross(context, x, y, Math.min(shape.wide, shape.high) * 0.16, theme);
    else if (size >= smallest && shape.high >= 14) {
      context.fillStyle = value === -Infinity ? theme.quiet : inkOn(colourOf(palette, panel, value));
      context.fillText(shortNumber(panel, value), x, y + 1);
    }
  }
}

function paintCross(context, x, y, arm, theme) {
  context.strokeStyle = theme.quiet;
  context.lineWidth = 1.25;
  context.beginPath();
  context.moveTo(x - arm, y - arm);
  context.lineTo(x + arm, y + arm);
  context.moveTo(x + arm, y - arm);
  context.lineTo(x - arm, y + arm);
  context.stroke();
}

function everyNth(size, space) {
  return [1, 2, 5, 10, 20, 50, 100].find((step) => step * size >= space) ?? 200;
}

function paintNames(context, shape, model, theme) {
  context.font = shape.font;
  context.fillStyle = theme.quiet;
  context.textAlign = "right";
  context.textBaseline = "middle";
  for (let row = 0; row < model.rows; row += everyNth(shape.high, 14)) {
    context.fillText(shape.rows.texts[row], shape.left - 7, shape.top + (row + 0.5) * shape.high + 0.5);
  }
  const step = everyNth(shape.wide, shape.upright ? 1 : model.numbered ? shape.columns.widest + 10 : 15);
  for (let column = 0; column < model.columns; column += step) {
    context.save();
    context.translate(shape.left + (column + 0.5) * shape.wide - (shape.upright || model.numbered ? 0 : 3), shape.top - 7);
    if (!shape.upright && !model.numbered) context.rotate(-Math.PI / 4);
    context.textAlign = shape.upright || model.numbered ? "center" : "left";
    context.textBaseline = "alphabetic";
    context.fillText(shape.columns.texts[column], 0, 0);
    context.restore();
  }
}

function paintAxes(context, axes, shape, theme) {
  context.font = `12px ${theme.font}`;
  context.fillStyle = theme.quiet;
  context.textAlign = "left";
  context.textBaseline = "top";
  context.fillText(fit(context, axes, shape.left + shape.plotWidth + shape.lean), 0, 1);
}

export function paletteOf(dark) {
  const mode = dark ? "dark" : "light";
  const weights = colourTable("blues", dark);
  return {
    weights,
    signed: signedTables(dark),
    allowed: weights[ALLOWED[mode]],
    forbidden: channels(FORBIDDEN[mode]),
    hidden: channels(HIDDEN[mode]),
  };
}

function colourOf(palette, panel, value) {
  if (panel.kind === "mask") return value > 0 ? palette.allowed : palette.forbidden;
  if (!Number.isFinite(value)) return palette.hidden;
  if (panel.kind === "weights") return palette.weights[Math.round(Math.sqrt(Math.min(1, Math.max(0, value))) * 255)];
  const share = Math.min(1, Math.abs(value) / panel.limit);
  const table = value < 0 ? palette.signed.below : palette.signed.above;
  return table[Math.round((panel.root ? Math.sqrt(share) : share) * 255)];
}

// The text in a cell: short, because cells are small.
function shortNumber(panel, value) {
  if (panel.kind === "mask" || Number.isNaN(value)) return "";
  if (value === -Infinity) return "−∞";
  if (panel.kind === "weights") return value < 0.005 ? "" : value.toFixed(2).replace(/^0/, "");
  if (Math.abs(value) < 0.005) return "";
  const digits = Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 10 ? 1 : 2;
  return value.toFixed(digits).replace("-", "−").replace(/^(−?)0\./, "$1.");
}

// The description of a cell: all significant digits.
export function fullNumber(panel, value, texts) {
  if (panel.kind === "mask") return value > 0 ? texts.allowed : texts.hidden;
  if (value === -Infinity) return "−∞";
  if (value !== 0 && Math.abs(value) < 0.0005) return value.toExponential(1).replaceAll("-", "−");
  const sign = panel.kind === "signed" && panel.root && value > 0 ? "+" : "";
  return sign + value.toFixed(Math.abs(value) >= 100 ? 1 : 3).replace("-", "−");
}
