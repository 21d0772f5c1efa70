// What of matrices goes into files.

import { TEXTS } from "../../canvas/core/texts.js";
import { filled } from "../../canvas/core/text.js";
import { closed, makeExport, withOrigin } from "../core/export_menu.js";
import { matricesFigure } from "../views/matrices.js";

export function makeExportMenu(stage) {
  return makeExport({
    stage, csvLabel: TEXTS.matrices.csv, script: `${stage.parts.entry}.js`,
    drawing: () => () => matricesFigure(stage.model, { ...stage.shown, numbers: stage.store.get().numbers }),
    captionOf: () => captionOf(stage), csv: () => csvOf(stage), message: () => stage.wholeMessage(),
    name: () => stage.header.stem,
  });
}

const titlesOf = ({ model, shown: { names } }) => model.matrices.filter(({ name }) => !names || names.includes(name)).map(({ title, formula }) => (
  formula ? filled(TEXTS.matrices.fullTitle, { title, formula }).join("") : title));

function captionOf(stage) {
  const { header } = stage;
  const texts = TEXTS.matrices;
  const parts = [`${header.title}.`, filled(TEXTS.caption.text, { sentence: closed(header.text) }).join(""),
    ...(header.pair ? [filled(TEXTS.caption.second, { sentence: closed(header.pair) }).join("")] : []),
    `${filled(texts.stepsShown, { titles: titlesOf(stage).join("; ") }).join("")}.`];
  if (stage.sum.title.textContent && stage.shown.chosen) parts.push(`${stage.sum.title.textContent}: ${stage.sum.line.textContent}.`);
  if (header.bare) parts.push(TEXTS.caption.withoutSpecial);
  return withOrigin(stage, header.title, parts);
}

// Every number of the matrices that are shown, a row for each; those with fewer columns drawn with all of them.
function csvOf(stage) {
  const { model, shown: { names } } = stage;
  const cell = (text) => (/[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
  const about = captionOf(stage).caption.split("\n").map((line) => `# ${line}`);
  const rows = [];
  for (const matrix of model.matrices.filter(({ name }) => !names || names.includes(name))) {
    for (let row = 0; row < matrix.rows; row += 1) {
      for (let column = 0; column < matrix.columns; column += 1) {
        const value = matrix.values[row * matrix.columns + column];
        rows.push([matrix.title, `${row + 1} ${matrix.rowTexts[row]}`, `${column + 1} ${matrix.columnTexts[column]}`, Number.isFinite(value) ? value.toPrecision(7) : ""].map(cell).join(","));
      }
    }
  }
  return [...about, TEXTS.matrices.csvHead.map(cell).join(","), ...rows, ""].join("\n");
}
