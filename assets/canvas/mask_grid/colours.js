// A colour and a few characters for each number: masks, weights from 0 to 1, and numbers on both sides of zero.

import { channels, colourTable, stopsOf } from "../core/palette.js";

// Orange below zero, blue above, the background's own colour at zero: told apart with any kind of colour vision.
const SIGNED = {
  light: ["#6b2a00", "#b4540a", "#e39a5b", "#f6d6b8", "#f6f7f8", "#c3dbef", "#78b0db", "#2a72b5", "#08306b"],
  dark: ["#ffd9b0", "#f2a25c", "#b8641d", "#5f3614", "#1a2029", "#1d3f66", "#2f6fae", "#6ea9e2", "#d6e9fb"],
};

export function paletteOf(dark) {
  return {
    weights: colourTable("blues", dark),
    signed: blend(SIGNED[dark ? "dark" : "light"].map(channels), 511),
    allowed: channels(stopsOf("blues", dark)[dark ? 4 : 3]),
    forbidden: channels(dark ? "#1d242d" : "#eef0f2"),
    nothing: channels(dark ? "#262d36" : "#e6e8ea"),
  };
}

function blend(stops, size) {
  return Array.from({ length: size }, (_, index) => {
    const place = (index / (size - 1)) * (stops.length - 1);
    const below = Math.min(Math.floor(place), stops.length - 2);
    return stops[below].map((from, channel) => Math.round(from + (stops[below + 1][channel] - from) * (place - below)));
  });
}

export function colourOf(palette, panel, value) {
  if (panel.kind === "mask") return value > 0 ? palette.allowed : palette.forbidden;
  if (!Number.isFinite(value)) return palette.nothing;
  if (panel.kind === "weights") return palette.weights[Math.round(Math.sqrt(Math.min(1, Math.max(0, value))) * 255)];
  const share = Math.min(1, Math.abs(value) / panel.limit);
  return palette.signed[255 + Math.round(Math.sign(value) * (panel.root ? Math.sqrt(share) : share) * 255)];
}

// What stands in a cell: short, because cells are small.
export function shortNumber(panel, value) {
  if (panel.kind === "mask") return "";
  if (value === -Infinity) return "−∞";
  if (panel.kind === "weights") return value < 0.005 ? "" : value.toFixed(2).replace(/^0/, "");
  if (Math.abs(value) < 0.005) return "";
  const digits = Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 10 ? 1 : 2;
  return value.toFixed(digits).replace("-", "−").replace(/^(−?)0\./, "$1.");
}

// What is told of a cell: all digits that mean something.
export function fullNumber(panel, value) {
  if (panel.kind === "mask") return value > 0 ? "may look" : "may not look";
  if (value === -Infinity) return "−∞";
  if (value !== 0 && Math.abs(value) < 0.0005) return value.toExponential(1).replaceAll("-", "−");
  const sign = panel.kind === "signed" && panel.root && value > 0 ? "+" : "";
  return sign + value.toFixed(Math.abs(value) >= 100 ? 1 : 3).replace("-", "−");
}
