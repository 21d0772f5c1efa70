// The theme of all drawings: Streamlit's colours and font, and our own accents for a light and a dark background.

import { channels, css, luminance, mix } from "./palette.js";
import { element } from "./surface.js";

const DARK = 0.18; // luminance of a background below which it counts as dark
const ACCENTS = {
  light: { accent: "#c2410c", second: "#7a3bd1", line: "#125a9e" },
  dark: { accent: "#ffb454", second: "#c9adff", line: "#86bcf0" },
};

// Reads the theme at an element. background, text, quiet, faint, accent and second are CSS colours; ground and line are
// [red, green, blue].
export function readTheme(host) {
  const style = getComputedStyle(host);
  const variable = (name, fallback) => {
    const value = style.getPropertyValue(name).trim();
    return value && value !== "unset" ? value : fallback;
  };
  const ground = rgb(variable("--st-background-color", "#ffffff"));
  const text = rgb(variable("--st-text-color", "#31333f"));
  const dark = luminance(ground) < DARK;
  const { accent, second, line } = ACCENTS[dark ? "dark" : "light"];
  return {
    dark,
    ground,
    background: css(ground),
    text: css(text),
    quiet: css(mix(text, ground, 0.72)),
    faint: css(mix(text, ground, 0.16)),
    accent,
    second,
    line: channels(line),
    font: variable("--st-font", "system-ui, sans-serif"),
  };
}

// Whether the first background behind a node is a dark one; where nothing has any, whether the reader wishes for dark.
export function isDark(node) {
  for (let one = node; one; one = one.parentElement) {
    const { backgroundColor } = getComputedStyle(one);
    if (!/^transparent$|^rgba\(.*, 0\)$/.test(backgroundColor)) return luminance(rgb(backgroundColor)) < DARK;
  }
  return matchMedia("(prefers-color-scheme: dark)").matches;
}

// Reads the theme at the root of a drawing and hands its accents to the style sheet. Called whenever the component is: a
// theme may have changed.
export function applyTheme(root) {
  const theme = readTheme(root);
  root.classList.toggle("dark", theme.dark);
  const variables = { accent: theme.accent, second: theme.second, line: css(theme.line) };
  for (const [name, colour] of Object.entries(variables)) root.style.setProperty(`--${name}`, colour);
  return theme;
}

// Parses any CSS colour by drawing it on a canvas and reading the pixel back; cached per colour.
const readColours = new Map();

function rgb(colour) {
  if (!readColours.has(colour)) {
    const context = element("canvas", { width: 1, height: 1 }).getContext("2d", { willReadFrequently: true });
    context.fillStyle = colour;
    context.fillRect(0, 0, 1, 1);
    readColours.set(colour, [...context.getImageData(0, 0, 1, 1).data.slice(0, 3)]);
  }
  return readColours.get(colour);
}
