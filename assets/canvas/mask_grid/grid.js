// Matrices side by side, one cell marked in all of them.

import { unpack } from "../core/bytes.js";
import { mountOnce, element, setText, visible, watchScreen } from "../core/surface.js";
import { applyTheme } from "../core/theme.js";
import { filled } from "../core/text.js";
import { cellUnder, fillLegend, fullNumber, makeMatrix, markCell, matrixShape, paintMatrix, paletteOf } from "./panel.js";

const BESIDE = 620; // pixels from which matrices stand side by side
const GAP = 20;
const ALL = -1;
const LARGEST = 46; // pixels of a cell; of one among many, SMALL, where a number still fits
const SMALL = 32;

export default function mountPicture({ data, parentElement }) {
  const sent = unpack(data);
  const [view, end] = mountOnce(parentElement, makePicture, removePicture, sent.header.texts);
  receive(view, sent);
  return end;
}

function makePicture(parent, texts) {
  const view = { matrices: [], cell: null, shown: ALL, paints: 0 };
  view.tabs = element("div", { class: "choices", role: "group", "aria-label": texts.shown });
  view.board = element("div", { class: "board" });
  view.readout = element("p", { class: "readout", "data-testid": "matrix-readout" });
  view.root = element("div", { class: "matrices", "data-testid": "matrices" }, view.board, view.readout);
  (parent.querySelector(".mask-grid") ?? parent).append(view.root);
  view.observer = new ResizeObserver(() => layOut(view));
  view.observer.observe(view.root);
  view.stopWatching = watchScreen(() => layOut(view));
  return view;
}

function receive(view, { header, cells }) {
  const numbers = new Float32Array(cells.slice().buffer);
  const size = header.rows.length * header.columns.length;
  const panels = header.panels.map((panel, index) => ({ ...panel, cells: numbers.slice(index * size, (index + 1) * size) }));
  view.theme = applyTheme(view.root);
  view.palette = paletteOf(view.theme.dark);
  view.model = {
    ...header, panels, rows: header.rows.length, columns: header.columns.length,
    rowTexts: header.rows.map(visible), columnTexts: header.columns.map(visible), rowNames: header.rows,
  };
  if (view.matrices.length !== panels.length) makeMatrices(view);
  if (view.cell && (view.cell[0] >= view.model.rows || view.cell[1] >= view.model.columns)) view.cell = null;
  layOut(view);
  view.root.dataset.paints = String((view.paints += 1));
}

function makeMatrices(view) {
  view.matrices = view.model.panels.map((_, index) => makeMatrix(index));
  for (const matrix of view.matrices) {
    matrix.stage.onpointermove = matrix.stage.onpointerdown = (event) => {
      const cell = cellUnder(matrix, view.shapes[matrix.index], view.model, event);
      if (cell) lookAt(view, cell);
    };
  }
  view.board.replaceChildren(view.tabs, ...view.matrices.map((matrix) => matrix.node));
}

// All matrices small, or one of them large. A narrow screen has no space for all.
function makeChoices(view, narrow) {
  const { panels } = view.model;
  const single = panels.map((_, index) => index);
  const offered = single.length < 2 ? [ALL] : narrow ? single : [ALL, ...single];
  const shown = offered.includes(view.shown) ? view.shown : narrow ? single.at(-1) : ALL;
  view.tabs.hidden = single.length < 2;
  for (const [index, matrix] of view.matrices.entries()) {
    matrix.node.hidden = shown !== ALL && index !== shown;
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

function shapesFor(view, width, across, largest) {
  const { model } = view;
  view.board.style.setProperty("--across", String(across));
  const space = Math.floor((width - GAP * (across - 1)) / across);
  const shape = matrixShape(view.matrices[0].canvas.getContext("2d"), model, view.theme, space, largest);
  return model.panels.map(() => shape);
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

function removePicture(view) {
  view.observer.disconnect();
  view.stopWatching();
  view.root.remove();
}
