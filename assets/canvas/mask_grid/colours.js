// A colour and a few characters for each number: masks, weights from 0 to 1, and numbers on both sides of zero.

import { channels, colourTable, signedTables } from "../core/palette.js";

const ALLOWED = { light: 128, dark: 170 }; // where in the blues a cell that may be looked at stands
const FORBIDDEN = { light: "#eef0f2", dark: "#1d242d" };
const HIDDEN = { light: "#e6e8ea", dark: "#262d36" }; // −∞

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

export function colourOf(palette, panel, value) {
  if (panel.kind === "mask") return value > 0 ? palette.allowed : palette.forbidden;
  if (!Number.isFinite(value)) return palette.hidden;
  if (panel.kind === "weights") return palette.weights[Math.round(Math.sqrt(Math.min(1, Math.max(0, value))) * 255)];
  const share = Math.min(1, Math.abs(value) / panel.limit);
  const table = value < 0 ? palette.signed.below : palette.signed.above;
  return table[Math.round((panel.root ? Math.sqrt(share) : share) * 255)];
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
