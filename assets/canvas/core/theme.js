// Streamlit's colours and fonts, read anew whenever the component is called: a theme may have changed.

import { luminance } from "./palette.js";
import { element } from "./surface.js";

export function readTheme(host) {
  const style = getComputedStyle(host);
  const variable = (name, fallback) => {
    const value = style.getPropertyValue(name).trim();
    return value && value !== "unset" ? value : fallback;
  };
  const background = rgb(variable("--st-background-color", "#ffffff"));
  const text = rgb(variable("--st-text-color", "#31333f"));
  const dark = luminance(background) < 0.18;
  return {
    dark,
    background: css(background),
    text: css(text),
    quiet: css(mix(text, background, 0.72)),
    faint: css(mix(text, background, 0.16)),
    accent: dark ? "#ffb454" : "#c2410c",
    line: dark ? [134, 188, 240] : [18, 90, 158],
    font: variable("--st-font", "system-ui, sans-serif"),
  };
}

// The browser itself reads any colour notation: a canvas hands it back as numbers, once for each colour.
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

function mix(one, other, share) {
  return one.map((value, channel) => Math.round(value * share + other[channel] * (1 - share)));
}

function css([red, green, blue]) {
  return `rgb(${red}, ${green}, ${blue})`;
}
