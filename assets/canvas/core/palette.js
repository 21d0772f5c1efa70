// The colour scales that a reader may choose, the first by default; Python reads their names here, so that adding one is adding
// a line. Lightness runs one way in each scale, so that they read the same with any kind of colour vision and in print. Scales begin at the colour for zero.

import { element } from "./surface.js";

export const SCALES = {
  blues: {
    light: ["#f3f7fb", "#d2e3f2", "#a2c8e5", "#64a4d5", "#2f7dbb", "#125a9d", "#082f6a"],
    dark: ["#161d29", "#1a304d", "#1f4b7b", "#2b6cab", "#4a91d2", "#88bbe9", "#e0effc"],
  },
  viridis: ["#440154", "#482878", "#3e4989", "#31688e", "#26828e", "#1f9e89", "#35b779", "#6ece58", "#b5de2b", "#fde725"],
  cividis: ["#00224e", "#123570", "#3b496c", "#575d6d", "#707173", "#8a8678", "#a59c74", "#c3b369", "#e1cc55", "#fee838"],
  greys: {
    light: ["#f5f5f6", "#dcdcde", "#bbbbbf", "#929297", "#66666b", "#3c3c40", "#111113"],
    dark: ["#1c1d21", "#313237", "#4b4c52", "#6c6d73", "#94959a", "#c3c4c8", "#f7f7f8"],
  },
};
// The lower half of differences; no scale of its own to choose.
const ORANGES = {
  light: ["#f3f7fb", "#f7d9bc", "#e39a55", "#b85c0a", "#7f3a00"],
  dark: ["#161d29", "#573717", "#b0651d", "#f2a057", "#ffdcb6"],
};
const SIZE = 256; // colours of a table
const MIDDLE = 128; // the colour for zero in a table of differences
const PALEST = 0.14; // how much colour the weakest tint holds

export const TICKS = [0, 0.05, 0.25, 0.5, 1];
export const DIFFERENCE_TICKS = [-1, -0.25, 0, 0.25, 1];

// Where a tick stands along a scale of square roots, 0 to 1, and how it is written.
export function tickOf(tick, isSigned) {
  const root = Math.sign(tick) * Math.sqrt(Math.abs(tick));
  return { share: isSigned ? (1 + root) / 2 : root, text: `${tick < 0 ? "−" : isSigned && tick > 0 ? "+" : ""}${Math.abs(tick)}` };
}

export function channels(hex) {
  return [1, 3, 5].map((start) => parseInt(hex.slice(start, start + 2), 16));
}

// Mixes two colours, each [red, green, blue]; share is that of the first.
export function mix(one, other, share) {
  return one.map((value, channel) => Math.round(value * share + other[channel] * (1 - share)));
}

// 256 colours as [red, green, blue], evenly spaced from zero to the greatest number.
export function colourTable(scale, dark) {
  const { [scale]: found = SCALES.blues } = { ...SCALES, oranges: ORANGES };
  const stops = (Array.isArray(found) ? found : found[dark ? "dark" : "light"]).map(channels);
  return Array.from({ length: SIZE }, (_, index) => {
    const place = (index / (SIZE - 1)) * (stops.length - 1);
    const below = Math.min(Math.floor(place), stops.length - 2);
    return mix(stops[below + 1], stops[below], place - below);
  });
}

// Numbers on both sides of zero as one table of 256 colours, from −1 to 1: orange below, blue above.
export function differenceTable(dark) {
  const [below, above] = [colourTable("oranges", dark), colourTable("blues", dark)];
  const step = (index, width) => Math.round((Math.abs(index - MIDDLE) / width) * (SIZE - 1));
  return Array.from({ length: SIZE }, (_, index) => (index < MIDDLE ? below[step(index, MIDDLE)] : above[step(index, SIZE - 1 - MIDDLE)]));
}

// A table as the background of a legend.
export function gradient(table) {
  const stops = table.filter((_, at) => at % 15 === 0); // the first, the last, and some between
  return `linear-gradient(to right, ${stops.map(css).join(", ")})`;
}

export function luminance([red, green, blue]) {
  const linear = [red, green, blue].map((value) => {
    const share = value / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2];
}

// Black or white, whichever stands out more on the colour.
export function inkOn(colour) {
  return luminance(colour) > 0.18 ? "#000000" : "#ffffff";
}

export function css([red, green, blue]) {
  return `rgb(${red}, ${green}, ${blue})`;
}

// A colour that lets the background through where its strength, 0 to 1, is low; and the ink that is read on it.
export function tint(colour, strength, background) {
  const mixed = mix(channels(colour), background, PALEST + (1 - PALEST) * Math.min(1, Math.max(0, strength)));
  return { background: css(mixed), ink: inkOn(mixed) };
}

// A small canvas, one pixel a cell, to be enlarged without smoothing. shift: how many low bits of a cell to leave out.
export function cellPixels(cells, columns, rows, table, shift) {
  const canvas = element("canvas", { width: columns, height: rows });
  const image = new ImageData(columns, rows);
  const pixels = new Uint32Array(image.data.buffer);
  const packed = table.map(([red, green, blue]) => ((255 << 24) | (blue << 16) | (green << 8) | red) >>> 0);
  for (let index = 0; index < pixels.length; index += 1) pixels[index] = packed[cells[index] >> shift];
  canvas.getContext("2d").putImageData(image, 0, 0);
  return canvas;
}
