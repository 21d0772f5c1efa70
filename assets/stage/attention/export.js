// What of a map goes into files.

import { TEXTS } from "../../canvas/core/texts.js";
import { say } from "../../canvas/core/text.js";
import { closed, csvText, makeExport, withOrigin } from "../core/export_menu.js";
import { mapFigure } from "../core/figure.js";
import { headName } from "../core/sentences.js";

export function makeExportMenu(stage) {
  const files = stage.parts.files ?? { captionOf, csvOf, fileName };
  const other = () => stage.parts.figure?.(stage);
  return makeExport({
    stage, csvLabel: TEXTS.export.csv, script: `${stage.parts.entry ?? "attention"}.js`,
    drawing: () => other()?.drawing() ?? mapFigure(stage.act.figure()), captionOf: () => other()?.captionOf() ?? files.captionOf(stage), csv: () => other()?.csv() ?? files.csvOf(stage),
    message: () => stage.act.wholeMessage(), name: () => (other() ? `${stage.header.stem}-routes` : files.fileName(stage)), other: () => stage.parts.otherFigure?.(stage) ?? null,
    film: () => other()?.film?.() ?? null,
  });
}

function fileName({ header, store }) {
  const { heads, stackNumber } = store.get();
  const kind = header.stacks.length > 1 ? `-${header.stacks[stackNumber].kind}` : "";
  const which = heads.length > 1 ? `mean-of-${heads.length}-heads` : `layer${heads[0][0] + 1}-head${heads[0][1] + 1}`;
  return `${header.stem}${kind}-${which}`;
}

// The title and caption of a figure: what it is of, and whatever changes its numbers.
function captionOf(stage) {
  const { header, store, shown } = stage;
  const texts = TEXTS.caption;
  const state = store.get();
  const names = state.heads.map((head) => headName([head]).toLowerCase());
  const heads = names.length === 1 ? names[0] : say(texts.meanOfHeads, { count: names.length, names: names.join("; ") });
  const titles = header.changes.length ? texts.changedTitles : texts.titles;
  const title = say(titles[header.stacks[state.stackNumber].kind], { heads, model: header.model });
  const parts = [`${title}.`, say(texts.text, { sentence: closed(header.text) })];
  if (header.pair) parts.push(say(texts.second, { sentence: closed(header.pair) }));
  if (shown.row !== null) parts.push(say(texts.marked, { token: shown.said }));
  parts.push(texts.axes);
  if (header.bare) parts.push(texts.withoutSpecial);
  if (state.words) parts.push(texts.merged);
  if (shown.view.hides) parts.push(texts.specialHidden);
  if (header.changes.length) parts.push(say(texts.changed, { changes: header.changes.map(({ label }) => label).join("; ") }));
  return withOrigin(stage, title, parts);
}

function csvOf(stage) {
  const { view, weights } = stage.shown;
  const label = (text, place) => `${place + 1} ${text}`;
  const keys = view.keys.labels.length;
  const rows = view.queries.labels.map((text, row) => [label(text, row), ...Array.from(weights.subarray(row * keys, (row + 1) * keys), (weight) => weight.toFixed(6))]);
  return csvText(captionOf(stage).caption, [[TEXTS.csvCorner, ...view.keys.labels.map(label)], ...rows]);
}
