// Matrices of one sentence side by side, one cell marked in all of them, the first one painted by hand where that is allowed.

import { unpack } from "../core/bytes.js";
import { drawNext, isDrawn, makePrefetch } from "../core/prefetch.js";
import { mountOnce, throttle, element, timestamped, pendingChoice, setText, visible, watchScreen } from "../core/surface.js";
import { applyTheme } from "../core/theme.js";
import { filled } from "../core/text.js";
import { SMALLEST_TO_TOUCH, cellUnder, fillLegend, fullNumber, makeMatrix, markCell, matrixShape, paintMatrix, paletteOf } from "./panel.js";

const BESIDE = 620; // pixels from which matrices stand side by side
const GAP = 20;
const ALL = -1;
const LARGEST = 46; // pixels of a cell; of one among many, SMALL, where a number still fits
const SMALL = 32;

export default function mountPicture({ data, parentElement, setStateValue }) {
  const sent = unpack(data);
  const [view, end] = mountOnce(parentElement, makePicture, removePicture, sent.header.texts);
  view.send = (bits) => setStateValue("painted", timestamped(bits));
  if (!isDrawn(view.prefetch, sent)) receive(view, sent);
  return end;
}

function makePicture(parent, texts) {
  const view = { matrices: [], cell: null, shown: ALL, echo: pendingChoice(), paints: 0 };
  view.notify = throttle((bits) => {
    drawNext(view.prefetch, { name: view.prefetch.known?.controls.find((name) => name.endsWith("_painted")), value: bits });
    view.send(bits);
  }, 60);
  view.tabs = element("div", { class: "choices", role: "group", "aria-label": texts.shown });
  view.board = element("div", { class: "board" });
  view.readout = element("p", { class: "readout", "data-testid": "matrix-readout" });
  view.root = element("div", { class: "matrices", "data-testid": "matrices" }, view.board, view.readout);
  (parent.querySelector(".mask-grid") ?? parent).append(view.root);
  view.brush = makeBrush({
    allowed: ([row, column]) => view.model.panels[0].cells[row * view.model.columns + column] > 0,
    paint: (places, value) => paintBy(view, places, value),
    look: (place) => place && lookAt(view, place),
  });
  view.observer = new ResizeObserver(() => layOut(view));
  view.observer.observe(view.root);
  view.stopWatching = watchScreen(() => layOut(view));
  view.prefetch = makePrefetch((sent) => receive(view, sent));
  return view;
}

function receive(view, { header, cells }) {
  const numbers = new Float32Array(cells.slice().buffer);
  const size = header.rows.length * header.columns.length;
  const panels = header.panels.map((panel, index) => ({ ...panel, cells: numbers.slice(index * size, (index + 1) * size) }));
  const known = view.model?.panels[0].cells;
  const mayBeOlder = header.paintable && known?.length === panels[0].cells.length;
  if (mayBeOlder && !view.echo.accepts(bitsOf(panels[0].cells))) panels[0].cells = known;
  view.theme = applyTheme(view.root);
  view.palette = paletteOf(view.theme.dark);
  view.model = {
    ...header, panels, rows: header.rows.length, columns: header.columns.length,
    rowTexts: header.rows.map(visible), columnTexts: header.columns.map(visible), rowNames: header.rows,
  };
  if (view.matrices.length !== panels.length || view.paintable !== header.paintable) makeMatrices(view);
  if (view.cell && (view.cell[0] >= view.model.rows || view.cell[1] >= view.model.columns)) view.cell = null;
  layOut(view);
  view.root.dataset.paints = String((view.paints += 1));
}

function makeMatrices(view) {
  const { panels, paintable } = view.model;
  view.paintable = paintable;
  view.matrices = panels.map((_, index) => makeMatrix(index));
  for (const matrix of view.matrices) {
    matrix.stage.onpointermove = matrix.stage.onpointerdown = (event) => {
      const cell = cellUnder(matrix, view.shapes[matrix.index], view.model, event);
      if (cell) lookAt(view, cell);
    };
  }
  const nodes = view.matrices.map((matrix) => matrix.node);
  view.board.replaceChildren(...(paintable ? [nodes[0], view.tabs, ...nodes.slice(1)] : [view.tabs, ...nodes]));
}

// All matrices small, or one of them large; a mask to paint always stays. A narrow screen has no space for all.
function makeChoices(view, narrow) {
  const { panels, paintable } = view.model;
  const single = panels.map((_, index) => index).filter((index) => !(paintable && index === 0));
  const offered = single.length < 2 ? [ALL] : narrow ? single : [ALL, ...single];
  const shown = offered.includes(view.shown) ? view.shown : narrow ? single.at(-1) : ALL;
  view.tabs.hidden = single.length < 2;
  for (const [index, matrix] of view.matrices.entries()) {
    matrix.node.hidden = shown !== ALL && index !== shown && single.includes(index);
  }
  const focused = view.tabs.contains(view.tabs.getRootNode().activeElement);
  view.tabs.replaceChildren(...offered.map((index) => {
    const name = index === ALL ? view.model.texts.all : panels[index].title;
    const button = element("button", { type: "button", "aria-pressed": String(index === shown) }, name);
    button.onclick = () => {
      view.shown = index;
      layOut(view);
    };
    return button;
  }));
  if (focused) view.tabs.children[offered.indexOf(shown)]?.focus();
  view.board.classList.toggle("narrow", narrow);
  return shown;
}

// As many beside one another as leaves cells large enough to be painted.
function shapesFor(view, width, most, largest) {
  const { model } = view;
  const context = view.matrices[0].canvas.getContext("2d");
  let across = most;
  const space = () => Math.floor((width - GAP * (across - 1)) / across);
  const shaped = (touch) => matrixShape(context, model, view.theme, space(), touch, largest);
  while (across > 2 && model.paintable && shaped(false).wide < SMALLEST_TO_TOUCH) across -= 1;
  view.board.style.setProperty("--across", String(across));
  const [plain, touchable] = [shaped(false), shaped(true)];
  const tooWide = touchable.left + touchable.plotWidth + touchable.lean > space();
  view.board.classList.toggle("wide-first", model.paintable && tooWide); // it then has a row of its own
  return model.panels.map((_, index) => (model.paintable && index === 0 ? touchable : plain));
}

function layOut(view) {
  const width = view.root.clientWidth;
  if (!width || !view.model) return;
  const { model } = view;
  const narrow = width < BESIDE && model.panels.length > 1;
  const shown = makeChoices(view, narrow);
  const visibleOnes = view.matrices.filter((matrix) => !matrix.node.hidden).length;
  const across = narrow ? 1 : Math.min(shown === ALL ? model.across : 2, visibleOnes);
  view.shapes = shapesFor(view, width, across, shown === ALL ? SMALL : LARGEST);
  for (const [index, matrix] of view.matrices.entries()) {
    const panel = model.panels[index];
    setText(matrix.title, panel.title);
    setText(matrix.note, panel.note);
    fillLegend(matrix.legend, panel, model.texts, view.theme.dark);
    matrix.canvas.setAttribute("aria-label", `${panel.title}. ${panel.alt}`);
    if (!matrix.node.hidden) paintMatrix(matrix, view.shapes[index], model, panel, view.theme, view.palette);
  }
  const [first] = view.matrices;
  if (model.paintable) {
    if (view.brush.grid.parentElement !== first.stage) first.stage.append(view.brush.grid); // moving it would lose the focus
    layBrush(view.brush, model, view.shapes[0], model.panels[0].cells);
  } else view.brush.grid.remove();
  if (view.cell) lookAt(view, view.cell);
  else {
    for (const [index, matrix] of view.matrices.entries()) markCell(matrix, view.shapes[index], null);
    view.readout.textContent = model.hint;
  }
}

function lookAt(view, cell) {
  view.cell = cell;
  const { model } = view;
  const [row, column] = cell;
  for (const matrix of view.matrices) markCell(matrix, view.shapes[matrix.index], cell);
  const numbers = model.panels.map((panel) => {
    const number = element("b", {}, fullNumber(panel, panel.cells[row * model.columns + column], model.texts));
    return element("span", { class: "number" }, ...filled(model.texts.value, { matrix: panel.title.toLowerCase(), number }));
  });
  const pair = element("b", { class: "pair" }, ...filled(model.pair, { row: model.rowTexts[row], column: model.columnTexts[column] }));
  view.readout.replaceChildren(pair, ...numbers);
}

function paintBy(view, places, value) {
  const { model } = view;
  for (const [row, column] of places) model.panels[0].cells[row * model.columns + column] = value ? 1 : 0;
  if (places.length === 1) view.cell = places[0];
  layOut(view);
  const bits = bitsOf(model.panels[0].cells);
  view.echo.expect(bits);
  view.notify(bits);
}

function bitsOf(cells) {
  return Array.from(cells, (cell) => (cell > 0 ? "1" : "0")).join("");
}

function removePicture(view) {
  view.observer.disconnect();
  view.stopWatching();
  view.prefetch.end();
  view.root.remove();
}

// Painting a mask: a button over every cell for click, drag and keyboard, and one for every row and column.
function makeBrush(actions) {
  const grid = element("div", { class: "brush", role: "grid", "data-testid": "mask-brush" });
  const brush = { grid, cells: [], active: [0, 0], stroke: null, rows: 0, columns: 0 };
  grid.onpointerdown = (event) => begin(brush, actions, event);
  grid.onpointermove = (event) => go(brush, actions, event);
  grid.onpointerover = (event) => actions.look(placeOf(event.target));
  grid.addEventListener("focusin", (event) => actions.look(placeOf(event.target)));
  grid.onkeydown = (event) => press(brush, actions, event);
  grid.onclick = (event) => click(brush, actions, event);
  grid.onpointerup = grid.onpointercancel = () => { brush.stroke = null; };
  return brush;
}

function placeOf(target) {
  const { row, column } = target.closest?.("[data-row]")?.dataset ?? {};
  return row === undefined ? null : [Number(row), Number(column)];
}

// A mouse or a pen paints while it is dragged; a finger taps, so that dragging still scrolls.
function begin(brush, actions, event) {
  const place = placeOf(event.target);
  if (!place || event.button !== 0 || event.pointerType === "touch") return;
  brush.stroke = { value: !actions.allowed(place), painted: true };
  actions.paint([place], brush.stroke.value);
}

function go(brush, actions, event) {
  if (!brush.stroke || !(event.buttons & 1)) return;
  const under = brush.grid.getRootNode().elementFromPoint(event.clientX, event.clientY);
  const place = under && placeOf(under);
  if (place && actions.allowed(place) !== brush.stroke.value) actions.paint([place], brush.stroke.value);
}

function click(brush, actions, event) {
  const { line, number } = event.target.closest?.("[data-line]")?.dataset ?? {};
  if (line) {
    const along = line === "row" ? brush.columns : brush.rows;
    const places = Array.from({ length: along }, (_, index) => (line === "row" ? [Number(number), index] : [index, Number(number)]));
    actions.paint(places, !places.some(actions.allowed));
    return;
  }
  const place = placeOf(event.target);
  if (!place) return;
  activate(brush, place);
  const byPointer = event.detail > 0 && event.pointerType !== "touch"; // already painted when it was pressed
  if (!byPointer) actions.paint([place], !actions.allowed(place));
}

function press(brush, actions, event) {
  const place = placeOf(event.target);
  if (!place || event.altKey) return;
  const [row, column] = place;
  const target = {
    ArrowLeft: [row, column - 1], ArrowRight: [row, column + 1], ArrowUp: [row - 1, column], ArrowDown: [row + 1, column],
    Home: [event.ctrlKey ? 0 : row, 0], End: [event.ctrlKey ? brush.rows - 1 : row, brush.columns - 1],
  }[event.key];
  if (!target) return;
  event.preventDefault();
  const next = [Math.min(brush.rows - 1, Math.max(0, target[0])), Math.min(brush.columns - 1, Math.max(0, target[1]))];
  if (event.shiftKey) actions.paint([next], actions.allowed(place));
  activate(brush, next);
  brush.cells[next[0]][next[1]].focus();
}

function activate(brush, [row, column]) {
  brush.cells[brush.active[0]]?.[brush.active[1]]?.setAttribute("tabindex", "-1");
  brush.active = [row, column];
  brush.cells[row][column].tabIndex = 0;
}

function layBrush(brush, model, shape, mask) {
  if (brush.rows !== model.rows || brush.columns !== model.columns || brush.names !== model.rowTexts.join("\n")) makeCells(brush, model);
  brush.grid.style.setProperty("--left", `${shape.left}px`);
  brush.grid.style.setProperty("--top", `${shape.top}px`);
  brush.grid.style.setProperty("--wide", `${shape.wide}px`);
  brush.grid.style.setProperty("--columns", String(model.columns));
  brush.grid.setAttribute("aria-label", model.texts.mask);
  for (const [row, buttons] of brush.cells.entries()) {
    for (const [column, button] of buttons.entries()) {
      const selected = String(mask[row * model.columns + column] > 0);
      if (button.getAttribute("aria-selected") !== selected) button.setAttribute("aria-selected", selected);
    }
  }
}

function makeCells(brush, model) {
  const [row, column] = brush.active;
  Object.assign(brush, { rows: model.rows, columns: model.columns, names: model.rowTexts.join("\n") });
  const { texts } = model;
  const whole = { row: texts.wholeRow, column: texts.wholeColumn };
  const line = (kind, number, name) => element("div", { role: `${kind}header` }, element("button", {
    type: "button", tabindex: "-1", "data-line": kind, "data-number": number, "aria-label": filled(whole[kind], { name }).join(""),
  }));
  const corner = element("div", { role: "columnheader", "aria-label": texts.query });
  const first = element("div", { role: "row" }, corner, ...model.columnTexts.map((text, index) => line("column", index, text)));
  brush.cells = model.rowTexts.map((query, from) => model.columnTexts.map((key, to) => element("button", {
    type: "button", role: "gridcell", tabindex: "-1", "data-row": from, "data-column": to, "aria-label": filled(texts.maySee, { query, key }).join(""),
  })));
  const rows = brush.cells.map((buttons, index) => element("div", { role: "row" }, line("row", index, model.rowTexts[index]), ...buttons));
  brush.grid.replaceChildren(first, ...rows);
  brush.active = [Math.min(row, brush.rows - 1), Math.min(column, brush.columns - 1)];
  activate(brush, brush.active);
}
