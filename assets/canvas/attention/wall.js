// The head wall: a thumbnail for every layer and head, and a grid of buttons over them.

import { fetchHeadMap, sendHeadMap } from "../core/prefetch.js";
import { unpack } from "../core/bytes.js";
import { cellPixels, colourTable, differenceGradient, differenceTable } from "../core/palette.js";
import { mountOnce, throttle, element, timestamped, sharpen, watchScreen } from "../core/surface.js";
import { filled } from "../core/text.js";
import { applyTheme } from "../core/theme.js";

const SMALLEST = 24; // as large as a finger needs
const LARGEST = 76;
const TALLEST_WALL = 580;
const HEADINGS = 40; // pixels above the first thumbnail

export default function mountWall({ data, parentElement, setStateValue }) {
  const sent = unpack(data);
  const [wall, end] = mountOnce(parentElement, makeWall, removeWall, sent.header.texts);
  wall.send = (choice) => setStateValue("chosen", choice);
  receive(wall, sent);
  return end;
}

function makeWall(parent, texts) {
  const wall = { texts, chosen: [], active: [0, 0], several: false, buttons: [], sentAt: undefined, paints: 0 };
  wall.notify = throttle((choice) => wall.send(choice), 60);
  wall.canvas = element("canvas", { "aria-hidden": "true", "data-testid": "head-wall-canvas" });
  wall.grid = element("div", { class: "grid", role: "grid", "aria-multiselectable": "true", "data-testid": "head-wall" });
  wall.name = element("span", { class: "wall-name", "aria-hidden": "true" });
  wall.toggle = element("button", { type: "button", class: "step", "aria-pressed": "false" }, texts.several);
  wall.toggle.onclick = () => {
    wall.several = !wall.several;
    wall.toggle.setAttribute("aria-pressed", String(wall.several));
  };
  const caption = element("div", { class: "wall-caption" }, wall.toggle, wall.name);
  wall.scroller = element("div", { class: "wall-scroller" }, element("div", { class: "wall-stage" }, wall.canvas, wall.grid));
  wall.legend = makeEnds();
  wall.classLegend = element("p", { class: "class-legend" }, element("i"), texts.classLegend);
  wall.root = element("div", { class: "wall" }, wall.scroller, wall.classLegend, caption, wall.legend.node);
  (parent.querySelector(".attention-view") ?? parent).append(wall.root);
  listen(wall);
  return wall;
}

function listen(wall) {
  wall.grid.onclick = (event) => {
    const place = placeOf(event.target);
    if (place) choose(wall, place, wall.several || event.shiftKey || event.ctrlKey || event.metaKey);
  };
  wall.grid.onpointerdown = (event) => {
    const alone = event.button === 0 && !(wall.several || event.shiftKey || event.ctrlKey || event.metaKey);
    const place = placeOf(event.target);
    if (place && alone && event.pointerType !== "touch") fetchHeadMap(wall, place); // a finger may be about to scroll
  };
  wall.grid.onkeydown = (event) => press(wall, event);
  wall.grid.onpointerover = (event) => nameHead(wall, placeOf(event.target));
  wall.grid.addEventListener("focusin", (event) => nameHead(wall, placeOf(event.target)));
  wall.grid.onpointerleave = () => nameHead(wall, null);
  wall.observer = new ResizeObserver(() => paint(wall));
  wall.observer.observe(wall.root);
  wall.stopWatching = watchScreen(() => paint(wall));
}

function placeOf(target) {
  const button = target.closest?.("[data-head]");
  return button ? [Number(button.dataset.layer), Number(button.dataset.head)] : null;
}

const words = (wall, [layer, head]) => filled(wall.texts.head, { layer: layer + 1, head: head + 1 }).join("");
const same = ([layer, head], [otherLayer, otherHead]) => layer === otherLayer && head === otherHead;

function press(wall, event) {
  const place = placeOf(event.target);
  if (!place || event.altKey) return;
  const adding = event.shiftKey || event.ctrlKey || event.metaKey;
  if (event.key === " " || event.key === "Enter") {
    event.preventDefault();
    choose(wall, place, event.key === " " || adding || wall.several);
    return;
  }
  const target = neighbour(wall, place, event.key, event.ctrlKey || event.metaKey);
  if (!target) return;
  event.preventDefault();
  activate(wall, target);
  if (!adding && !wall.several) choose(wall, target, false);
}

// Home and End go to the ends of the layer; with Ctrl to the first and the last head of all.
function neighbour({ layers, heads }, [layer, head], key, far) {
  const target = {
    ArrowLeft: [layer, head - 1], ArrowRight: [layer, head + 1], ArrowUp: [layer - 1, head], ArrowDown: [layer + 1, head],
    Home: [far ? 0 : layer, 0], End: [far ? layers - 1 : layer, heads - 1],
  }[key];
  if (!target) return null;
  return [Math.min(layers - 1, Math.max(0, target[0])), Math.min(heads - 1, Math.max(0, target[1]))];
}

function choose(wall, place, adding) {
  const without = wall.chosen.filter((other) => !same(other, place));
  const present = without.length < wall.chosen.length;
  if (!adding) wall.chosen = [place];
  else if (!present) wall.chosen = [...wall.chosen, place];
  else if (without.length) wall.chosen = without;
  activate(wall, place);
  mark(wall);
  const choice = timestamped(wall.chosen);
  wall.sentAt = choice.at;
  wall.notify(choice);
  if (!adding) sendHeadMap(wall, place, choice.at);
}

function activate(wall, place) {
  const [layer, head] = wall.active;
  if (wall.buttons[layer]?.[head]) wall.buttons[layer][head].tabIndex = -1;
  wall.active = place;
  const button = wall.buttons[place[0]][place[1]];
  button.tabIndex = 0;
  if (wall.grid.contains(wall.grid.getRootNode().activeElement)) button.focus();
}

function named(wall, [layer, head]) {
  const note = wall.notes?.[layer]?.[head];
  const name = words(wall, [layer, head]);
  return note ? filled(wall.texts.notedHead, { head: name, note }).join("") : name;
}

function nameHead(wall, place) {
  const count = wall.chosen.length;
  const chosen = count > 1 ? filled(wall.texts.meanOfHeads, { count }).join("") : wall.chosen.map((head) => words(wall, head)).join("");
  wall.name.textContent = place ? named(wall, place) : chosen;
}

function receive(wall, { header, cells }) {
  wall.theme = applyTheme(wall.root);
  wall.grid.setAttribute("aria-label", header.alt);
  if (wall.layers !== header.layers || wall.heads !== header.heads) makeButtons(wall, header);
  // A choice sent before the page received the last one made here is stale. The keyboard focus moves only when the choice
  // changes.
  const newer = wall.sentAt === undefined || wall.sentAt === header.timestamp;
  if (newer && String(header.chosen) !== String(wall.chosen)) {
    wall.chosen = header.chosen;
    if (wall.chosen.length) activate(wall, wall.chosen.at(-1));
  }
  wall.notes = header.notes;
  wall.guesses = header.guesses;
  wall.classLegend.hidden = !wall.guesses.length;
  wall.mapsPath = header.mapsPath;
  fillEnds(wall.legend, header.ends, wall.theme.dark);
  wall.toggle.hidden = Boolean(header.ends);
  const table = header.scale === "difference" ? differenceTable(wall.theme.dark) : colourTable(header.scale, wall.theme.dark);
  wall.rows = header.rows;
  wall.columns = header.columns;
  wall.atlas = cellPixels(cells, header.columns, header.rows * header.layers * header.heads, table, 0);
  mark(wall);
  nameHead(wall, null);
  paint(wall);
  wall.root.dataset.paints = String((wall.paints += 1));
}

function makeButtons(wall, { layers, heads }) {
  Object.assign(wall, { layers, heads, active: [0, 0] });
  const axis = (text, role) => element("span", { role, class: "number" }, text);
  const numbers = Array.from({ length: heads }, (_, head) => axis(String(head + 1), "columnheader"));
  const across = element("span", { class: "across", "aria-hidden": "true" }, wall.texts.heads);
  const corner = element("span", { role: "columnheader", class: "corner" }, wall.texts.layers, across);
  const first = element("div", { role: "row" }, corner, ...numbers);
  wall.buttons = Array.from({ length: layers }, (_, layer) => Array.from({ length: heads }, (_, head) => element("button", {
    type: "button", role: "gridcell", tabindex: "-1", "data-layer": layer, "data-head": head, "aria-label": words(wall, [layer, head]),
  })));
  const rows = wall.buttons.map((buttons, layer) => element("div", { role: "row" }, axis(String(layer + 1), "rowheader"), ...buttons));
  wall.grid.replaceChildren(first, ...rows);
  wall.buttons[0][0].tabIndex = 0;
}

function mark(wall) {
  for (const [layer, buttons] of wall.buttons.entries()) {
    for (const [head, button] of buttons.entries()) {
      button.setAttribute("aria-selected", String(wall.chosen.some((place) => same(place, [layer, head]))));
      button.setAttribute("aria-label", named(wall, [layer, head]));
      const guess = wall.guesses.find((one) => same(one, [layer, head]));
      button.replaceChildren(...(guess ? [element("i", { class: "guessed", style: `--share: ${guess[2]}` })] : []));
    }
  }
}

function paint(wall) {
  const width = wall.root.clientWidth;
  if (!width || !wall.atlas) return;
  const gap = width < 480 ? 2 : 4;
  const numbers = width < 480 ? 46 : 54;
  // In the presenter view the heads of a single layer stand in two rows: in one they would reach both sides of the screen first.
  const folded = wall.layers === 1 && wall.heads > 2 && getComputedStyle(wall.root).getPropertyValue("--aside").trim() === "none";
  const abreast = folded ? Math.ceil(wall.heads / 2) : wall.heads;
  const down = folded ? 2 : wall.layers;
  const space = Math.min((width - numbers) / abreast, TALLEST_WALL / down);
  const size = Math.max(SMALLEST, Math.min(LARGEST, Math.floor(space - gap)));
  wall.root.style.setProperty("--cell", `${size}px`);
  wall.root.style.setProperty("--gap", `${gap}px`);
  wall.root.style.setProperty("--numbers", `${numbers}px`);
  wall.root.style.setProperty("--heads", String(abreast));
  fold(wall, abreast);
  const pitch = size + gap;
  const headings = folded ? down : 1;
  const context = sharpen(wall.canvas, numbers + abreast * pitch, HEADINGS * headings + down * pitch);
  context.imageSmoothingEnabled = size / Math.max(wall.rows, wall.columns) < 3;
  context.imageSmoothingQuality = "high";
  for (let layer = 0; layer < wall.layers; layer += 1) {
    for (let head = 0; head < wall.heads; head += 1) {
      const from = (layer * wall.heads + head) * wall.rows;
      const row = layer + Math.floor(head / abreast);
      const [x, y] = [numbers + (head % abreast) * pitch, HEADINGS * Math.min(headings, row + 1) + row * pitch];
      context.drawImage(wall.atlas, 0, from, wall.columns, wall.rows, x, y, size, size);
    }
  }
}

// Puts the numbers and buttons of a single layer where they stand when there are `abreast` heads in a row.
function fold(wall, abreast) {
  const folded = abreast < wall.heads;
  wall.grid.classList.toggle("folded", folded);
  const [numbers, buttons] = [wall.grid.querySelectorAll('[role="columnheader"]:not(.corner)'), wall.buttons[0]];
  for (const [below, nodes] of [numbers, buttons].entries()) {
    for (const [head, node] of [...nodes].entries()) {
      node.style.gridArea = folded ? `${2 * Math.floor(head / abreast) + 1 + below} / ${(head % abreast) + 2}` : "";
    }
  }
}

function removeWall(wall) {
  wall.observer.disconnect();
  wall.stopWatching();
  wall.root.remove();
}

// The legend of a wall that shows differences: three numbers under a ramp.
function makeEnds() {
  const ramp = element("div", { class: "ramp" });
  const ticks = ["0%", "50%", "100%"].map((left) => {
    const tick = element("span");
    tick.style.left = left;
    return tick;
  });
  const scale = element("div", { class: "ramp-scale" }, ramp, element("div", { class: "ticks" }, ...ticks));
  return { node: element("div", { class: "legend", "data-testid": "wall-legend" }, scale), ramp, ticks };
}

function fillEnds({ node, ramp, ticks }, ends, dark) {
  node.hidden = !ends;
  if (!ends) return;
  ramp.style.background = differenceGradient(dark);
  for (const [place, tick] of ticks.entries()) tick.textContent = ends[place];
}
