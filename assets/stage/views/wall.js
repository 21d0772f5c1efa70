// All heads as small maps, and a grid of buttons over them. Draws thumbnails; reports the chosen heads.

import { cellPixels, colourTable, differenceTable } from "../../canvas/core/palette.js";
import { element, sharpen } from "../../canvas/core/surface.js";
import { TEXTS } from "../../canvas/core/texts.js";
import { say } from "../../canvas/core/text.js";
import { headName } from "../core/sentences.js";

const SMALLEST = 24; // as large as a finger needs
const LARGEST = 44;
const HEADINGS = 22; // pixels above the first thumbnail
const GAP = 3;
const NUMBERS = 26;

const same = ([layer, head], [otherLayer, otherHead]) => layer === otherLayer && head === otherHead;

// choose: called with the heads that a reader chose.
export function makeWall(choose) {
  const wall = { choose, layers: 0, heads: 0, chosen: [], active: [0, 0], several: false, buttons: [] };
  wall.canvas = element("canvas", { "aria-hidden": "true", "data-testid": "head-wall-canvas" });
  wall.grid = element("div", { class: "grid", role: "grid", "aria-multiselectable": "true", "aria-label": TEXTS.wall.alt, "data-testid": "head-wall" });
  wall.toggle = element("button", { type: "button", class: "quiet", "aria-pressed": "false" }, TEXTS.wall.several);
  wall.toggle.onclick = () => {
    wall.several = !wall.several;
    wall.toggle.setAttribute("aria-pressed", String(wall.several));
  };
  wall.name = element("span", { class: "wall-name", "aria-hidden": "true" });
  wall.legend = element("p", { class: "class-legend" }, element("i"), TEXTS.classLegend);
  const scroller = element("div", { class: "wall-scroller" }, element("div", { class: "wall-picture" }, wall.canvas, wall.grid));
  wall.node = element("div", { class: "wall" }, scroller, wall.legend, element("div", { class: "wall-caption" }, wall.name, wall.toggle));
  wall.grid.onclick = ({ target, shiftKey, ctrlKey, metaKey }) => {
    const place = placeOf(target);
    if (place) pick(wall, place, wall.several || shiftKey || ctrlKey || metaKey);
  };
  wall.grid.onkeydown = (event) => press(wall, event);
  wall.grid.onpointerover = ({ target }) => name(wall, placeOf(target));
  wall.grid.onpointerleave = () => name(wall, null);
  return wall;
}

function placeOf(target) {
  const button = target.closest?.("[data-head]");
  return button ? [Number(button.dataset.layer), Number(button.dataset.head)] : null;
}

function press(wall, event) {
  const place = placeOf(event.target);
  if (!place || event.altKey) return;
  const adding = event.shiftKey || event.ctrlKey || event.metaKey;
  if (event.key === " " || event.key === "Enter") {
    event.preventDefault();
    pick(wall, place, event.key === " " || adding || wall.several);
    return;
  }
  const target = neighbour(wall, place, event.key, event.ctrlKey || event.metaKey);
  if (!target) return;
  event.preventDefault();
  activate(wall, target);
  if (!adding && !wall.several) pick(wall, target, false);
}

// Home and End go to the ends of the layer; with Ctrl to the first and the last head of all.
function neighbour({ layers, heads }, [layer, head], key, far) {
  const target = {
    ArrowLeft: [layer, head - 1], ArrowRight: [layer, head + 1], ArrowUp: [layer - 1, head], ArrowDown: [layer + 1, head],
    Home: [far ? 0 : layer, 0], End: [far ? layers - 1 : layer, heads - 1],
  }[key];
  return target ? [Math.min(layers - 1, Math.max(0, target[0])), Math.min(heads - 1, Math.max(0, target[1]))] : null;
}

function pick(wall, place, adding) {
  const without = wall.chosen.filter((other) => !same(other, place));
  const present = without.length < wall.chosen.length;
  activate(wall, place);
  if (!adding) wall.choose([place]);
  else if (!present) wall.choose([...wall.chosen, place]);
  else if (without.length) wall.choose(without);
}

function activate(wall, [layer, head]) {
  const [before] = wall.grid.querySelectorAll('[tabindex="0"]');
  if (before) before.tabIndex = -1;
  wall.active = [layer, head];
  const button = wall.buttons[layer][head];
  button.tabIndex = 0;
  if (wall.grid.contains(wall.grid.getRootNode().activeElement)) button.focus();
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
  if (String(chosen) !== String(wall.chosen)) activate(wall, chosen.at(-1));
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
}

function markChosen({ grid, buttons, chosen }) {
  for (const button of grid.querySelectorAll('[aria-selected="true"]')) button.ariaSelected = "false";
  for (const [layer, head] of chosen) buttons[layer][head].ariaSelected = "true";
}

// What a class guessed and what a change moved, on every head.
function markNotes(wall, moved, guesses) {
  wall.legend.hidden = !guesses.length;
  for (const [layer, buttons] of wall.buttons.entries()) {
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
  const axis = (text, role) => element("span", { role, class: "number" }, text);
  const numbers = Array.from({ length: heads }, (_, head) => axis(String(head + 1), "columnheader"));
  const corner = element("span", { role: "columnheader", class: "corner", "aria-label": TEXTS.wall.layers });
  wall.buttons = Array.from({ length: layers }, (_, layer) => Array.from({ length: heads }, (_, head) => element("button", {
    type: "button", role: "gridcell", tabindex: "-1", "aria-selected": "false", "data-layer": layer, "data-head": head,
  })));
  const rows = wall.buttons.map((buttons, layer) => element("div", { role: "row" }, axis(String(layer + 1), "rowheader"), ...buttons));
  wall.grid.replaceChildren(element("div", { role: "row" }, corner, ...numbers), ...rows);
}

function paint(wall, { rows, columns, cells }, scale, theme, room) {
  const { layers, heads } = wall;
  const size = Math.max(SMALLEST, Math.min(LARGEST, Math.floor((room - NUMBERS) / heads) - GAP));
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
