// A computation as matrices: one row of steps, the matrices of one of them, and the sum behind any cell of them.

import { drawDimensions, exists, rowOf } from "../matrices/matrix.js";
import { button, element, refill, setText } from "../../canvas/core/surface.js";
import { TEXTS } from "../../canvas/core/texts.js";
import { say } from "../../canvas/core/text.js";
import { labelled, menu, zoomButtons } from "../core/toolbar.js";
import { fillMatrixLegend } from "./legend.js";
import { BELOW, deriveMasked, drawMasked, makeMasking, sayMasked } from "./masking.js";
import { drawMatrices, makeMatrices, same, zoomed } from "./matrices.js";
import { drawSum, makeSum } from "./sum.js";

const [SUM_HEIGHT, GAP, LEAST, ALL_HEIGHT] = [128, 8, 160, 640]; // pixels kept for a sum of one line, so that cells stay as they are from one sum to the next
const LEAST_PAINTED = 10; // pixels of a cell of a mask

const cellWritten = (cell) => (cell ? `${cell.matrix}-${cell.row + 1}-${cell.column + 1}` : "none");
function cellRead(written) {
  const [, matrix, row, column] = /^([a-z]+)-(\d+)-(\d+)$/.exec(written ?? "") ?? [];
  return matrix ? { matrix, row: Number(row) - 1, column: Number(column) - 1 } : null;
}

// set(values): fields as links write them: the cell, and which matrices are shown. masking: of a computation under a mask.
export function makeSteps(set, masking) {
  const made = { data: null, values: {}, hover: null, zoom: 1, column: null, shown: null };
  const hover = (cell) => {
    if (same(cell, made.hover) || (!cell && !made.hover)) return;
    made.hover = cell;
    made.again();
  };
  const zoom = (direction) => {
    made.zoom = zoomed(made.zoom, direction);
    made.again();
  };
  made.set = (values, hovered = null) => {
    made.hover = hovered;
    set(values);
  };
  made.legend = element("p", { class: "legend matrix-legend" });
  made.steps = element("div", { class: "steps", role: "group", "aria-label": TEXTS.matrices.steps });
  made.menu = menu(TEXTS.matrices.view);
  made.menu.box.append(labelled(TEXTS.controls.zoom, zoomButtons(zoom)), made.legend);
  made.view = makeMatrices({ choose: (cell) => choose(made, cell), hover });
  made.sum = makeSum(() => choose(made, null));
  made.row = element("div", { class: "steps-row" }, made.steps, made.menu);
  made.said = element("p", { class: "chart-said" });
  made.node = element("div", { class: "matrix-steps", "data-testid": "matrix-steps" }, made.row, made.view.node, made.sum.node, made.said);
  made.masking = masking ? makeMasking(made, masking, { set: made.set, hover }) : null;
  return made;
}

const stepOf = ({ steps, firstStep }, cell) => (cell && steps.find(({ makes }) => makes.includes(cell.matrix))?.name) ?? firstStep;
const shownStep = (data, { matrices, cell }) => ([...data.steps.map(({ name }) => name), ...(data.steps.length === 1 ? [] : ["all"])].includes(matrices) ? matrices : stepOf(data, cellRead(cell)));

function choose({ data, values, set }, cell) {
  const shown = shownStep(data, values);
  const step = data.masking ? {} : { matrices: cell && stepOf(data, cell) === shown ? "cell" : shown }; // a control shows the step of masks
  set({ cell: cellWritten(cell), ...step });
}

// To a room, the steps are turned like pages. Returns whether there was another one.
export function turnSteps(made, by) {
  const buttons = [...made.steps.querySelectorAll("button")];
  const next = buttons[buttons.findIndex(({ ariaPressed }) => ariaPressed === "true") + by];
  if (next) chooseStep(made, next.dataset.step);
  return Boolean(next);
}

// Another step is looked at where the chosen cell leads to in it: the same row, and the same key where both have keys.
function chooseStep(made, name) {
  const { data, values, set } = made;
  if (name === "all") return set({ matrices: "all" });
  const matrix = data.model.byName[data.steps.find((one) => one.name === name).makes[0]];
  const cell = cellRead(values.cell);
  const row = Math.min(cell?.row ?? 0, matrix.rows - 1);
  return set({ cell: cellWritten({ matrix: matrix.name, row, column: columnIn(made, matrix, cell, row) }), matrices: "cell" });
}

function columnIn({ data: { model }, column }, matrix, cell, row) {
  const before = cell && model.byName[cell.matrix];
  if (before && before.columnKind === matrix.columnKind) return Math.min(cell.column, matrix.shown - 1);
  if (matrix.columnKind !== "key") return 0;
  const weights = model.byName.weights ? rowOf(model.byName.weights, row) : [0];
  return column ?? weights.indexOf(Math.max(...weights));
}

// data: model (matrices/matrix.js), steps, firstStep, text, grows (whether the reader adds the products of a sum one by one), masking;
// values: cell, matrices, numbers, dimensions. height: 0 for as high as it needs.
export function drawSteps(made, data, values, { theme, width, height, sentence }) {
  if (made.data?.text !== data.text) made.column = null; // positions change with the text
  Object.assign(made, { data, values });
  made.again = () => drawSteps(made, data, values, { theme, width, height, sentence });
  setText(made.said, sentence);
  made.said.hidden = !sentence;
  const { model, steps } = data;
  if (made.masking) deriveMasked(made.masking, data, values);
  if (values.dimensions) drawDimensions(model, Number(values.dimensions));
  const cell = cellRead(values.cell);
  const chosen = exists(model, cell) ? cell : null;
  const active = exists(model, made.hover) ? made.hover : chosen;
  const name = shownStep(data, values);
  const step = steps.find((one) => one.name === name);
  const [names, leads, several] = [step?.shows ?? null, step?.leads, !step];
  if (chosen && model.byName[chosen.matrix].columnKind === "key") made.column = chosen.column;
  made.shown = { names, leads, chosen, several, numbers: values.numbers === "1" || Boolean(step?.numbers) };
  fillSteps(made, name, chosen);
  if (made.legend.model !== model || made.legend.dark !== theme.dark) {
    Object.assign(made.legend, { model, dark: theme.dark });
    fillMatrixLegend(made.legend, model.matrices, theme.dark, TEXTS.matrices);
  }
  drawSum(made.sum, model, active, data.grows);
  if (made.masking) sayMasked(made.masking, data, values);
  const isSquare = Boolean(made.node.closest(".presented"));
  const left = height ? roomFor(made, height, isSquare) : ALL_HEIGHT;
  made.view.node.style.maxHeight = height && step ? `${left}px` : "";
  made.node.classList.toggle("all-steps", several);
  drawMatrices(made.view, model, { ...made.shown, active, theme, room: { width: width - GAP, height: several ? ALL_HEIGHT : left - GAP }, zoom: made.zoom, least: made.masking ? LEAST_PAINTED : 0, isSquare });
  if (made.masking) drawMasked(made.masking, made.view, data);
  const seen = `${name} ${cellWritten(chosen)}`;
  const isFirst = !made.seen && values.cell === data.masking?.first; // the first matrix is what the first view of a mask is about
  if (made.seen !== seen && chosen && !made.hover && !isFirst) showCellSideways(made, chosen);
  made.seen = seen;
  made.node.dataset.chosen = chosen ? cellWritten(chosen) : "";
  made.node.dataset.step = name;
}

// The pixels that are left for matrices: beside a sum of any cell; to a room, beside what is said now, and as before while a cell is pointed at.
function roomFor(made, height, isPresented) {
  if (isPresented && made.hover && made.room) return made.room;
  const parts = [made.row, made.said, ...(isPresented ? [made.sum.node, ...(made.masking ? [made.masking.noted] : [])] : [])].map((node) => node.offsetHeight);
  const kept = isPresented ? 0 : SUM_HEIGHT + (made.masking ? BELOW : 0);
  made.room = Math.max(LEAST, height - kept - parts.reduce((sum, taken) => sum + taken + (taken ? GAP : 0), isPresented ? 0 : GAP));
  return made.room;
}

// Brings a cell that another step or a link led to into the box of its line; the page itself stays where it is.
function showCellSideways({ view }, { matrix, column }) {
  const { canvas, place } = view.panels.get(matrix) ?? {};
  const line = canvas?.closest(".line");
  if (!line || line.scrollWidth <= line.clientWidth + 1) return;
  const left = canvas.offsetLeft - line.offsetLeft + column * place.wide;
  if (left < line.scrollLeft || left + place.wide > line.scrollLeft + line.clientWidth) line.scrollLeft = left - line.clientWidth / 2;
}

function fillSteps(made, shown, chosen) {
  const { data, steps: node } = made;
  const steps = data.steps.filter(({ name, makes, optional }) => !optional || name === shown || makes.includes(chosen?.matrix));
  refill(node, steps.map(({ name, sign, title }) => [name, sign, title]), () => {
    const buttons = steps.flatMap(({ name, sign, title }, index) => {
      const label = [element("span", { class: "sign" }, sign), element("span", { class: "made" }, title)];
      const one = button(label, () => chooseStep(made, name), { "data-step": name, "aria-label": say(TEXTS.matrices.stepOf, { sign, title }) });
      return index ? [element("span", { class: "arrow", "aria-hidden": "true" }, "→"), one] : [one];
    });
    const all = button(TEXTS.matrices.allSteps, () => chooseStep(made, "all"), { "data-step": "all", class: "all" });
    return steps.length > 1 && !data.masking ? [...buttons, ...(data.grows ? [] : [all])] : [];
  });
  made.row.hidden = !steps.length;
  for (const one of node.querySelectorAll("button")) one.ariaPressed = String(one.dataset.step === shown);
}
