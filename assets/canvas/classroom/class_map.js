// The guesses of a class on the map that they are about: the model's numbers are the colours of the cells, or of the heads on the
// wall, and a circle in a cell is as large as the share of the class that guessed it. The list beside it says the same in words.

import { colourTable, css } from "../core/palette.js";
import { element, visible } from "../core/surface.js";

const SMALLEST = 0.2; // of the width of a cell: a circle for one guess of many

export function classMap({ rows, columns, axes, model, guesses, total, right }, theme, texts, alt) {
  const table = colourTable("blues", theme.dark);
  const counts = new Map(guesses);
  const heading = (text, kind) => element("span", { class: kind, title: visible(text) }, element("span", {}, visible(text)));
  const cell = (place) => {
    const share = Math.min(1, Math.max(0, model[place] / 1000));
    const made = element("span", { class: place === right ? "cell answer" : "cell" });
    made.style.background = css(table[Math.round(Math.sqrt(share) * 255)]);
    if (counts.has(place)) made.append(crowd(counts.get(place) / Math.max(1, total)));
    return made;
  };
  const lines = rows.map((row, line) => [heading(row, "row"), ...columns.map((_, column) => cell(line * columns.length + column))]);
  const grid = element("div", { class: "class-map", role: "img", "aria-label": alt });
  grid.style.setProperty("--columns", String(columns.length));
  grid.append(element("span", {}), ...columns.map((column) => heading(column, "column")), ...lines.flat());
  grid.classList.toggle("named", columns.some((column) => column.length > 2));
  const entry = (sign, text) => element("span", {}, element("i", { class: `sign ${sign}` }), text);
  const legend = element("div", { class: "legend map-legend", "aria-hidden": "true" },
    entry("crowd", texts.mapOfClass), entry("model", theme.dark ? texts.mapOfModelInTheDark : texts.mapOfModel), entry("answer", texts.mapAnswer));
  return element("div", { class: "map-of-class" }, element("p", { class: "axes" }, axes), element("div", { class: "scroller" }, grid), legend);
}

function crowd(share) {
  const circle = element("i", { class: "crowd" });
  circle.style.setProperty("--size", String(Math.max(SMALLEST, Math.sqrt(share) * 0.9)));
  return circle;
}
