// How similar a word's vectors are in A and in B, layer by layer: of the marked row, or of a word that is chosen.

import { element, setText, visible } from "../../canvas/core/surface.js";
import { filled } from "../../canvas/core/text.js";
import { select } from "../core/toolbar.js";
import { drawChart, makeChart } from "../views/chart.js";

const [WIDE, TALL] = [900, 340]; // pixels, the sentence included
const say = (sentence, values) => filled(sentence, values).join("");
const same = (one, other) => String(one) === String(other);

export function makeWords({ header: { labels }, store }) {
  const words = { labels };
  words.choose = select(labels.word, (number) => store.set({ word: words.written(Number(number)) }));
  words.nothing = element("p", { class: "quiet-text" });
  words.chart = makeChart({ choose: () => {} });
  words.node = element("section", { class: "word-lines", "aria-label": labels.similarity },
    element("div", { class: "group" }, element("h3", {}, labels.similarity), words.choose), words.nothing, words.chart.node);
  return words;
}

// Which of the words that both sides have stands in a row of the map, as a link writes it; null for none. shown: the places that a link
// counts, of A and of B.
export function wordInRow({ header }, pair, row, shown) {
  if (row === null || pair.rows[row].includes(null)) return null;
  const places = pair.rows[row].map((place, side) => {
    const [token] = pair.views[side].queries.places[place];
    return (header.run.stacks && side ? header.run.stacks : header.stacks)[0].queries.groups.findIndex((group) => group.includes(token));
  });
  return header.followed.pairs.some((one) => same(one, places)) ? places.map((place, side) => shown[side].indexOf(place)) : null;
}

// Draws the lines of the chosen word, else of the marked row's, else of the longest, which is rarely a function word.
export function drawWords(stage, words, pair, shown) {
  const { header: { followed }, theme } = stage;
  const state = stage.store.get();
  words.choose.hidden = !followed.pairs.length;
  words.chart.node.hidden = !followed.pairs.length;
  words.nothing.hidden = Boolean(followed.pairs.length);
  setText(words.nothing, followed.nothing ?? "");
  if (!followed.pairs.length) return;
  words.written = (number) => followed.pairs[number].map((place, side) => shown[side].indexOf(place));
  const find = (written) => (written ? followed.pairs.findIndex((_, number) => same(words.written(number), written)) : -1);
  const chosen = [state.word, wordInRow(stage, pair, state.focus, shown)].map(find).find((number) => number >= 0) ?? longest(followed);
  words.choose.set(followed.names.map((name, number) => [String(number), visible(name)]), String(chosen));
  drawChart(words.chart, chartOf(words.labels, followed, chosen), {
    theme, width: Math.min(WIDE, words.node.clientWidth), height: TALL, sentence: followed.said[chosen], cell: words.labels.steps[1], details: [], canChoose: false,
  });
  stage.root.dataset.word = followed.names[chosen];
}

function longest({ words, partners }) {
  const rank = (number) => [...words[number]].length * 2 + Number(partners[number]);
  return words.reduce((best, _, number) => (rank(number) > rank(best) ? number : best), 0);
}

function chartOf(labels, { names, own, shared, counts, mean, spread, different, styles }, chosen) {
  const lines = [[own[chosen], { word: names[chosen] }], [shared[chosen], { count: counts[chosen] }], [mean, { count: different }]];
  const series = lines.flatMap(([values, about], number) => (values ? [{ ...styles[number], name: say(labels.series[number], about), values }] : []));
  const band = mean && [mean.map((value, step) => value - spread[step]), mean.map((value, step) => value + spread[step])];
  const lowest = Math.min(0, ...own[chosen], ...(band ? band[0] : []));
  const steps = own[chosen].map((_, step) => (step ? String(step) : labels.steps[0]));
  return { kind: "lines", title: labels.cosines, steps, series, band, limits: [lowest - 0.05, 1.05], tall: TALL, note: band ? labels.band : "", logarithmic: false };
}
