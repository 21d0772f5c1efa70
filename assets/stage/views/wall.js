// All heads as small maps, and a grid of buttons over them. Draws thumbnails; reports the chosen heads.

import { activate, fillButtonGrid, makeButtonGrid, placeOf } from "../../canvas/core/keys.js";
import { cellPixels, colourTable, differenceTable } from "../../canvas/core/palette.js";
import { element, sharpen, zoomOf } from "../../canvas/core/surface.js";
import { TEXTS } from "../../canvas/core/texts.js";
import { say } from "../../canvas/core/text.js";
import { headName } from "../core/sentences.js";
import { toggle } from "../core/toolbar.js";

const SMALLEST = 24; // pixels of the screen: as large as a finger needs (WCAG 2.2, 2.5.8)
const LARGEST = 44;
const HEADINGS = 22; // pixels above the first thumbnail
const GAP = 3;
const NUMBERS = 26;
const SCROLL_BAR = 12; // pixels, of the column that the wall stands in
const AROUND = 4; // pixels around a thumbnail that is scrolled to, for its ring

// The pixels in which so many heads stand side by side.
export const wallWidth = (heads) => NUMBERS + heads * (SMALLEST + GAP) + SCROLL_BAR;

const same = ([layer, head], [otherLayer, otherHead]) => layer === otherLayer && head === otherHead;

// choose: called with the heads that a reader chose.
export function makeWall(choose) {
  const wall = { choose, layers: 0, heads: 0, chosen: [], several: false };
  wall.canvas = element("canvas", { "aria-hidden": "true", "data-testid": "head-wall-canvas" });
  const isAdding = ({ shiftKey, ctrlKey, metaKey }) => wall.several || shiftKey || ctrlKey || metaKey;
  wall.buttons = makeButtonGrid({ class: "grid", "aria-multiselectable": "true", "aria-label": TEXTS.wall.alt, "data-testid": "head-wall" }, {
    press(event, place) {
      if (event.key !== " " && event.key !== "Enter") return false;
      event.preventDefault();
      pick(wall, place, event.key === " " || isAdding(event));
      return true;
    },
    moved: (place, event) => isAdding(event) || pick(wall, place, false),
  });
  wall.grid = wall.buttons.node;
  wall.toggle = toggle(TEXTS.wall.several, (on) => wall.toggle.set((wall.several = on)));
  wall.name = element("span", { class: "wall-name", "aria-hidden": "true" });
  wall.legend = element("p", { class: "class-legend" }, element("i"), TEXTS.classLegend);
  wall.scroller = element("div", { class: "wall-scroller" }, element("div", { class: "wall-picture" }, wall.canvas, wall.grid));
  wall.node = element("div", { class: "wall" }, wall.scroller, wall.legend, element("div", { class: "wall-caption" }, wall.name, wall.toggle));
  wall.grid.onclick = (event) => {
    const place = placeOf(event.target);
    if (place) pick(wall, place, isAdding(event));
  };
  wall.grid.onpointerover = ({ target }) => name(wall, placeOf(target));
  wall.grid.onpointerleave = () => name(wall, null);
  return wall;
}

function pick(wall, place, adding) {
  const without = wall.chosen.filter((other) => !same(other, place));
  const present = without.length < wall.chosen.length;
  activate(wall.buttons, place);
  if (!adding) wall.choose([place]);
  else if (!present) wall.choose([...wall.chosen, place]);
  else if (without.length) wall.choose(without);
}

function noteOn({ notes }, place) {
  return !place ? "" : notes.find(([head]) => same(head, place))?.[1] ?? "";
}

function name(wall, place) {
  const [only, ...more] = wall.chosen;
  const note = noteOn(wall, place ?? (more.length ? null : only));
  const text = place ? headName([place]) : headName(wall.chosen);
  wall.name.textContent = note ? say(TEXTS.wall.notedHead, { head: text, note }) : text;
}

// thumbnails: rows, columns, and the cells of all heads. notes: a word on some heads, as [head, text]; moved: the heads that a
// change moved; guesses: [layer, head, share of a class]. scale: "difference" for numbers around 128. alt: what the wall is of.
export function drawWall(wall, { layers, heads, thumbnails, chosen, scale, notes, moved, guesses, alt = TEXTS.wall.alt }, theme, room) {
  if (wall.layers !== layers || wall.heads !== heads) makeButtons(wall, layers, heads);
  const isOther = String(chosen) !== String(wall.chosen);
  if (isOther) follow(wall.buttons, chosen.at(-1));
  Object.assign(wall, { chosen, notes });
  markChosen(wall);
  if (wall.grid.ariaLabel !== alt) wall.grid.ariaLabel = alt;
  const marks = JSON.stringify([layers, heads, notes, moved, guesses]);
  if (wall.marks !== marks) markNotes(wall, moved, guesses);
  wall.marks = marks;
  name(wall, null);
  const painted = `${scale} ${theme.dark} ${room} ${window.devicePixelRatio}`;
  if (wall.thumbnails !== thumbnails || wall.painted !== painted) paint(wall, thumbnails, scale, theme, room);
  Object.assign(wall, { thumbnails, painted });
  if (isOther) showHead(wall, chosen.at(-1));
}

// Scrolls the wall, and the column that begins with it, to a head that a link or another control chose; the page stays where it is.
function showHead({ node, scroller, buttons: { buttons } }, [layer, head]) {
  const beyond = (start, end, from, to) => (start < from ? start - from : Math.max(0, end - to));
  for (const box of node.previousElementSibling ? [scroller] : [scroller, node.parentElement]) {
    const [spot, around] = [buttons[layer][head], box].map((one) => one.getBoundingClientRect());
    box.scrollLeft += beyond(spot.left - AROUND, spot.right + AROUND, around.left + (box === scroller ? NUMBERS : 0), around.right) / zoomOf(box);
    box.scrollTop += beyond(spot.top - AROUND, spot.bottom + AROUND, around.top, around.bottom) / zoomOf(box);
  }
}

// The focus goes along with the chosen head.
function follow(grid, [layer, head]) {
  activate(grid, [layer, head]);
  if (grid.node.contains(grid.node.getRootNode().activeElement)) grid.buttons[layer][head].focus();
}

function markChosen({ grid, buttons: { buttons }, chosen }) {
  for (const button of grid.querySelectorAll('[aria-selected="true"]')) button.ariaSelected = "false";
  for (const [layer, head] of chosen) buttons[layer][head].ariaSelected = "true";
}

// What a class guessed and what a change moved, on every head.
function markNotes(wall, moved, guesses) {
  wall.legend.hidden = !guesses.length;
  for (const [layer, buttons] of wall.buttons.buttons.entries()) {
    for (const [head, button] of buttons.entries()) {
      const place = [layer, head];
      const [note, guess] = [noteOn(wall, place), guesses.find((one) => same(one, place))];
      const label = headName([place]);
      button.setAttribute("aria-label", note ? say(TEXTS.wall.notedHead, { head: label, note }) : label);
      button.classList.toggle("moved", moved.some(([one]) => same(one, place)));
      button.replaceChildren(...(guess ? [element("i", { class: "guessed", style: `--share: ${guess[2]}` })] : []));
    }
  }
}

function makeButtons(wall, layers, heads) {
  Object.assign(wall, { layers, heads, marks: null, thumbnails: null });
  const numbers = (count, role) => Array.from({ length: count }, (_, at) => element("span", { role, class: "number" }, String(at + 1)));
  const corner = element("span", { role: "columnheader", class: "corner", "aria-label": TEXTS.wall.layers });
  fillButtonGrid(wall.buttons, { heads: [corner, ...numbers(heads, "columnheader")], sides: numbers(layers, "rowheader"), size: [layers, heads], name: () => "" });
}

function paint(wall, { rows, columns, cells }, scale, theme, room) {
  const { layers, heads } = wall;
  const size = Math.max(Math.ceil(SMALLEST / zoomOf(wall.canvas)), Math.min(LARGEST, Math.floor((room - NUMBERS) / heads) - GAP));
  for (const [variable, value] of [["--cell", size], ["--gap", GAP], ["--numbers", NUMBERS]]) wall.node.style.setProperty(variable, `${value}px`);
  wall.node.style.setProperty("--heads", String(heads));
  const pitch = size + GAP;
  const atlas = cellPixels(cells, columns, rows * layers * heads, scale === "difference" ? differenceTable(theme.dark) : colourTable(scale, theme.dark), 0);
  const context = sharpen(wall.canvas, NUMBERS + heads * pitch, HEADINGS + layers * pitch);
  context.imageSmoothingEnabled = size / Math.max(rows, columns) < 3;
  context.imageSmoothingQuality = "high";
  for (let layer = 0; layer < layers; layer += 1) {
    for (let head = 0; head < heads; head += 1) {
      context.drawImage(atlas, 0, (layer * heads + head) * rows, columns, rows, NUMBERS + head * pitch, HEADINGS + layer * pitch, size, size);
    }
  }
}
