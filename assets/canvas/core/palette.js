// Colours for the square root of a weight, 0 to 1. Lightness runs one way in each scale, so that
// they read the same with any kind of colour vision and in print.

const STOPS = {
  blues: {
    light: ["#f3f7fb", "#d2e3f2", "#a2c8e5", "#64a4d5", "#2f7dbb", "#125a9d", "#082f6a"],
    dark: ["#161d29", "#1a304d", "#1f4b7b", "#2b6cab", "#4a91d2", "#88bbe9", "#e0effc"],
  },
  greys: {
    light: ["#f5f5f6", "#dcdcde", "#bbbbbf", "#929297", "#66666b", "#3c3c40", "#111113"],
    dark: ["#1c1d21", "#313237", "#4b4c52", "#6c6d73", "#94959a", "#c3c4c8", "#f7f7f8"],
  },
  viridis: ["#440154", "#482878", "#3e4989", "#31688e", "#26828e", "#1f9e89", "#35b779", "#6ece58", "#b5de2b", "#fde725"],
  cividis: ["#00224e", "#123570", "#3b496c", "#575d6d", "#707173", "#8a8678", "#a59c74", "#c3b369", "#e1cc55", "#fee838"],
};

// Differences: orange where there is less, blue where there is more, and the background's own shade where nothing changed.
const DIVERGING = {
  light: ["#7f3a00", "#b85c0a", "#e39a55", "#f7d9bc", "#f4f5f6", "#c9dcf0", "#7fabd8", "#3574b4", "#0a3f7c"],
  dark: ["#ffdcb6", "#f2a057", "#b0651d", "#573717", "#1b1e25", "#1c3656", "#2d6aaa", "#6daae4", "#d3e8fb"],
};

export const TICKS = [0, 0.05, 0.25, 0.5, 1];
export const DIFFERENCE_TICKS = [-1, -0.25, 0, 0.25, 1];

export function stopsOf(scale, dark) {
  const stops = STOPS[scale] ?? STOPS.blues;
  return Array.isArray(stops) ? stops : stops[dark ? "dark" : "light"];
}

export function divergingStops(dark) {
  return DIVERGING[dark ? "dark" : "light"];
}

export function channels(hex) {
  return [1, 3, 5].map((start) => parseInt(hex.slice(start, start + 2), 16));
}

// 256 colours as [red, green, blue], looked up by the upper eight bits of a code.
export function colourTable(scale, dark) {
  return tableOf(stopsOf(scale, dark));
}

export function divergingTable(dark) {
  return tableOf(divergingStops(dark));
}

function tableOf(colours) {
  const stops = colours.map(channels);
  return Array.from({ length: 256 }, (_, index) => {
    const place = (index / 255) * (stops.length - 1);
    const below = Math.min(Math.floor(place), stops.length - 2);
    return stops[below].map((from, channel) => Math.round(from + (stops[below + 1][channel] - from) * (place - below)));
  });
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

// A small picture, one pixel a cell, to be enlarged without smoothing.
export function picture(cells, columns, rows, table, shift) {
  const canvas = document.createElement("canvas");
  canvas.width = columns;
  canvas.height = rows;
  const image = new ImageData(columns, rows);
  const pixels = new Uint32Array(image.data.buffer);
  const packed = table.map(([red, green, blue]) => ((255 << 24) | (blue << 16) | (green << 8) | red) >>> 0);
  for (let index = 0; index < pixels.length; index += 1) pixels[index] = packed[cells[index] >> shift];
  canvas.getContext("2d").putImageData(image, 0, 0);
  return canvas;
}
