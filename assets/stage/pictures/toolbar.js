// The controls of a stage of pictures: those that the page declares, of which some stand in a row of their own, and the stage's own.

import { element, setNodes } from "../../canvas/core/surface.js";
import { TEXTS } from "../../canvas/core/texts.js";
import { chartsDrawing, stacked } from "../../canvas/figure/charts.js";
import { escaped } from "../../canvas/figure/svg.js";
import { isChoice, isOn, makeDeclared } from "../core/controls.js";
import { csvText, makeExport, withOrigin } from "../core/export_menu.js";
import { makePresentButton } from "../core/stage.js";
import { makeToolbar, menu } from "../core/toolbar.js";
import { matricesFigure } from "../views/matrices.js";

export function makeControls(stage) {
  const { act } = stage;
  const declared = makeDeclared((name, value) => act.set(name, value), (change) => act.change(change));
  const files = makeExportMenu(stage);
  const present = makePresentButton(stage);
  const more = menu(TEXTS.controls.more); // what is needed seldom, so that the toolbar stays one row
  const row = element("div", { class: "parts" });
  const node = makeToolbar();

  const sync = (values) => {
    const shown = stage.header.controls.filter((control) => isChoice(control) && isOn(control.when, values));
    const nodes = declared.sync(shown, ({ name }) => values[name], stage.offline);
    const [early, late] = placeApart(row, shown, nodes);
    showPressed(row);
    setNodes(node, [stage.training.node, ...early, files, present.node, more]);
    setNodes(more.box, late);
    more.hidden = !late.length;
    files.hidden = stage.header.hidden.includes("export") || !stage.rows.length;
    present.sync(stage.rows.length > 0);
  };
  return { row, node, sync };
}

// Puts the controls that stand apart into a row of their own; returns those of its toolbar and of the menu there.
function placeApart(row, controls, nodes) {
  const of = (wanted) => nodes.filter((_, place) => wanted(controls[place]));
  setNodes(row, of((control) => control.apart));
  row.hidden = !row.children.length;
  return [false, true].map((isLate) => of((control) => !control.apart && Boolean(control.late) === isLate));
}

// On a narrow screen the row scrolls: a part that was chosen is brought into sight, once.
function showPressed(row) {
  const pressed = row.querySelector('[aria-pressed="true"]');
  const name = pressed?.textContent ?? "";
  if (row.dataset.pressed === name || !row.clientWidth) return;
  row.dataset.pressed = name;
  const [box, own] = [row.getBoundingClientRect(), pressed?.getBoundingClientRect()];
  if (own && (own.left < box.left || own.right > box.right)) row.scrollLeft += own.left - box.left - (box.width - own.width) / 2;
}

// --- Files

function makeExportMenu(stage) {
  return makeExport({
    stage, csvLabel: TEXTS.pictures.csv, script: "pictures.js",
    page: () => framedPage(stage),
    drawing: () => () => stacked(drawnRows(stage).map(rowDrawing)),
    captionOf: () => captionOf(stage), csv: () => csvOf(stage), message: () => stage.wholeMessage(), name: () => stage.header.stem,
  });
}

// Sentences alone stand in the caption.
const drawnRows = ({ rows }) => rows.map((row) => row.filter(({ chart: { kind, rows: lines } }) => kind !== "listing" || lines.length)).filter((row) => row.length);
function rowDrawing(row) {
  const [{ chart, view }] = row;
  return chart.kind === "matrices" ? matricesFigure(chart.model, view.shown) : chartsDrawing({ charts: row.map((one) => one.chart), across: row.length });
}

function captionOf(stage) {
  const { header, rows } = stage;
  const summed = rows.flat().filter(({ chart, view }) => chart.kind === "matrices" && view.shown.chosen).map(({ view: { sum } }) => `${sum.title.textContent}: ${sum.line.textContent}.`);
  const said = [...rows.flat().map(({ sentence }) => sentence).filter(Boolean), ...summed];
  return withOrigin(stage, header.title, [`${header.title}.`, ...header.caption, ...said]);
}

// The document of a frame as a page of its own, which begins with what is chosen; its policy allows its own scripts only.
function framedPage(stage) {
  const framed = stage.rows.flat().find(({ chart }) => chart.kind === "framed");
  return framed && (async () => {
    const response = await fetch(framed.view.address);
    const html = await response.text();
    if (!response.ok) throw new Error(html);
    const [, nonce] = html.match(/<script nonce="([\w-]+)"/);
    const { title, caption } = captionOf(stage);
    const policy = `default-src 'none'; script-src 'nonce-${nonce}'; style-src 'unsafe-inline'; base-uri 'none'`;
    const heading = `<style>body { overflow: auto; } h1 { font-size: 20px; }</style><h1>${escaped(title)}</h1><p><bdi>${escaped(caption)}</bdi></p>`;
    return html.replace("<html ", () => `<html data-begin="${escaped(framed.view.choice)}" `)
      .replace("<head>", () => `<head><meta http-equiv="Content-Security-Policy" content="${policy}">`)
      .replace(/<body [^>]*>/, (body) => body + heading);
  })();
}

// The same name several times is numbered, so that each is found: "the (2)".
function numbered(names) {
  const seen = new Map();
  return names.map((name) => {
    const number = (seen.get(name) ?? 0) + 1;
    seen.set(name, number);
    return names.indexOf(name) === names.lastIndexOf(name) ? name : `${name} (${number})`;
  });
}

// A picture's numbers with their names; of a computation every matrix that is shown, with all its columns.
function numbersOf(picture) {
  const { chart, view } = picture;
  if (chart.kind !== "matrices") return [picture];
  const { names } = view.shown;
  return chart.model.matrices.filter(({ name }) => !names || names.includes(name)).map(({ title, rowTexts, columnTexts, values }) => ({ chart: { title }, rows: rowTexts, columns: columnTexts, values }));
}

function csvOf(stage) {
  const shown = stage.rows.flat().flatMap(numbersOf);
  const titles = numbered(shown.map(({ chart }) => chart.title));
  const lines = shown.flatMap(({ rows, columns, values }, index) => {
    const [down, across] = [numbered(rows), numbered(columns)];
    return down.flatMap((row, from) => across.map((column, to) => {
      const value = values[from * columns.length + to];
      return [titles[index], row, column, Number.isFinite(value) ? value.toPrecision(7) : ""];
    }));
  });
  return csvText(captionOf(stage).caption, [TEXTS.pictures.csvHead, ...lines]);
}
