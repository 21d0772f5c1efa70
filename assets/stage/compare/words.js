// How similar a word's vectors are in A and in B, layer by layer: of the row that was marked last, or of a word that is chosen.

import { element, setText, visible } from "../../canvas/core/surface.js";
import { select } from "../core/toolbar.js";
import { drawChart, makeChart } from "../views/chart.js";

const [WIDE, TALL] = [900, 340]; // pixels, the sentence included
const same = (one, other) => String(one) === String(other);

export function makeWords({ header: { labels } }, choose) {
  const words = { labels };
  words.choose = select(labels.word, (number) => choose(Number(number)));
  words.nothing = element("p", { class: "quiet-text" });
  words.chart = makeChart({ choose: () => {} });
  words.node = element("section", { class: "word-lines", "aria-label": labels.similarity },
    element("div", { class: "group" }, element("h3", {}, labels.similarity), words.choose), words.nothing, words.chart.node);
  return words;
}

export const wordOf = (followed, places) => followed.find((one) => same(one.places, places)) ?? followed.find(({ isFirst }) => isFirst);

// places: of the chosen word among all whole words, in A and in B; null for the first one.
export function drawWords({ header: { followed, nothing }, theme, root }, words, places) {
  const found = wordOf(followed, places);
  words.choose.hidden = words.chart.node.hidden = !found;
  words.nothing.hidden = Boolean(found);
  setText(words.nothing, nothing);
  if (!found) return;
  words.choose.set(followed.map(({ name }, number) => [String(number), visible(name)]), String(followed.indexOf(found)));
  const width = Math.min(WIDE, words.node.clientWidth);
  drawChart(words.chart, found.chart, { theme, width, height: TALL, sentence: found.said, cell: words.labels.step, details: [], canChoose: false });
  root.dataset.word = found.name;
}
