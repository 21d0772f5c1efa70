// A map in a sentence, for everybody: under the picture, and read aloud. The sentences stand in assets/stage/texts.json.

import { strongest, weightOf, span } from "../../canvas/core/bytes.js";
import { TEXTS } from "../../canvas/core/texts.js";
import { say } from "../../canvas/core/text.js";
import { movedAttention } from "./weights.js";

const LEAST = 0.05; // weights below are not mentioned
const LEAST_CHANGE = 0.005;

const two = (weight) => weight.toFixed(2);
const signed = (change) => `${change > 0 ? "+" : "−"}${two(Math.abs(change))}`;

export function quoted(labels, place) {
  const several = labels.filter((label) => label === labels[place]).length > 1;
  return say(several ? TEXTS.said.quotedWithNumber : TEXTS.said.quoted, { token: labels[place], number: place + 1 });
}

export function headName(heads) {
  if (heads.length > 1) return say(TEXTS.meanOfHeads, { count: heads.length });
  const [[layer, head]] = heads;
  return say(TEXTS.head, { layer: layer + 1, head: head + 1 });
}

export function describeMap({ codes }, view, row) {
  const [queries, keys] = [view.queries.labels, view.keys.labels];
  return row === null ? strongestLink(codes, view, queries, keys) : ofQuery(codes, view, queries, keys, row);
}

function ofQuery(codes, { hides }, queries, keys, row) {
  const said = TEXTS.said;
  const query = quoted(queries, row);
  const found = strongest(codes, span(row * keys.length, keys.length), 2);
  if (!found.length) return say(said.queryNowhere, { query });
  const large = found.filter((at) => weightOf(codes[at]) >= LEAST);
  if (!large.length) return say(hides ? said.shownQueryEven : said.queryEven, { query, least: two(LEAST) });
  const [first, last] = [large[0], large.at(-1)];
  const name = (at) => quoted(keys, at % keys.length);
  const values = {
    query, weight: two(weightOf(codes[first])), key: name(first), second_weight: two(weightOf(codes[last])), second_key: name(last),
  };
  const one = hides ? said.shownQueryOneKey : said.queryOneKey;
  return say(large.length === 1 ? one : hides ? said.shownQueryTwoKeys : said.queryTwoKeys, values);
}

function strongestLink(codes, view, queries, keys) {
  const said = TEXTS.said;
  const isWord = (at) => !view.queries.special[Math.floor(at / keys.length)] && !view.keys.special[at % keys.length];
  const all = span(0, codes.length);
  const [between] = strongest(codes, all.filter(isWord), 1);
  const found = between ?? strongest(codes, all, 1)[0];
  if (found === undefined) return said.noLink;
  const onlyWords = ![...view.queries.special, ...view.keys.special].some(Boolean);
  const sentence = view.hides ? said.shownStrongestLink : between !== undefined && !onlyWords ? said.strongestLinkBetweenWords : said.strongestLink;
  const [row, column] = [Math.floor(found / keys.length), found % keys.length];
  return say(sentence, { query: quoted(queries, row), weight: two(weightOf(codes[found])), key: quoted(keys, column) });
}

// The largest change, of one row or of all, and how much attention moved.
export function describeChange(before, after, view, row) {
  const said = TEXTS.said;
  const [queries, keys] = [view.queries.labels, view.keys.labels];
  const [start, end] = row === null ? [0, after.length] : [row * keys.length, (row + 1) * keys.length];
  let at = start;
  for (let index = start; index < end; index += 1) {
    if (Math.abs(after[index] - before[index]) > Math.abs(after[at] - before[at])) at = index;
  }
  const change = after[at] - before[at];
  if (Math.abs(change) < LEAST_CHANGE) return row === null ? said.noChange : say(said.noChangeForQuery, { query: queries[row] });
  const largest = say(view.hides ? said.shownLargestChange : said.largestChange, {
    query: queries[Math.floor(at / keys.length)], key: keys[at % keys.length], before: two(before[at]), after: two(after[at]), change: signed(change),
  });
  const moved = movedAttention(before, after, keys.length);
  const share = row === null ? moved.reduce((sum, one) => sum + one, 0) / moved.length : moved[row];
  const sentence = row === null ? said.movedInAll : view.hides ? said.shownMovedOfQuery : said.movedOfQuery;
  return `${largest} ${say(sentence, { share: share.toPrecision(2) })}`;
}

// How much goes to special tokens, to the token itself and to its neighbours, over all rows: for self-attention.
export function describeAverage({ weights }, view) {
  const said = TEXTS.said;
  const size = view.keys.labels.length;
  const shares = { special: 0, "-1": 0, 0: 0, 1: 0 };
  for (let row = 0; row < view.queries.labels.length; row += 1) {
    for (let key = 0; key < size; key += 1) {
      const weight = weights[row * size + key] / view.queries.labels.length;
      const place = view.keys.special[key] ? "special" : String(key - row);
      if (place in shares) shares[place] += weight;
    }
  }
  const large = Object.entries(shares).filter(([, share]) => share >= LEAST).sort((one, other) => other[1] - one[1]);
  if (!large.length) return say(said.averageElsewhere, { least: two(LEAST) });
  return say(said.average, { shares: large.map(([kind, share]) => say(said.averageShares[kind], { share: two(share) })).join(", ") });
}

// The link that differs most between A and B, of one row or of all; special tokens count only where words do not differ.
// pair: of core/pair.js. The same as describe_largest_difference of tx_core/analysis/comparison.py.
export function describeDifference(pair, before, after, hatched, row) {
  const said = TEXTS.said;
  const size = pair.keyRows.length;
  const { special } = pair.keys;
  const difference = (at) => Math.abs(after[at] - before[at]);
  const [largest, between] = [[], []].map(() => ({ at: null, size: -1 })); // of all cells, and of those between words
  const widen = (found, at, change) => change > found.size && Object.assign(found, { at, size: change });
  const [from, to] = row === null ? [0, before.length] : [row * size, (row + 1) * size];
  for (let at = from; at < to; at += 1) {
    if (hatched[at]) continue;
    widen(largest, at, difference(at));
    if (!special[at % size] && (row !== null || !special[Math.floor(at / size)])) widen(between, at, difference(at));
  }
  if (largest.at === null) return hatched.every(Boolean) ? said.noCommonWord : say(said.noPartner, { word: pair.words[row] });
  const amongWords = between.size >= LEAST_CHANGE;
  const { at } = amongWords ? between : largest;
  const name = (place) => wordName(pair, place);
  if (difference(at) < LEAST_CHANGE) return row === null ? said.attendAlike : say(said.noDifferenceInRow, { query: name(row) });
  const namesWords = amongWords && special.some(Boolean) && (row === null || !special[row]);
  const template = pair.hides ? [said.shownLargestDifference, said.shownLargestInRow]
    : namesWords ? [said.largestBetweenWords, said.largestInRowBetweenWords] : [said.largestDifference, said.largestInRow];
  const change = after[at] - before[at];
  return say(template[row === null ? 0 : 1], {
    query: name(Math.floor(at / size)), key: name(at % size), before: two(before[at]), after: two(after[at]), change: signed(change),
  });
}

// A word in quotation marks, with its numbers in A and in B where it stands several times.
function wordName({ words, keyRows, keys: { special } }, place) {
  const word = say(TEXTS.said.quoted, { token: words[place] });
  if (words.filter((one) => one === words[place]).length === 1) return word;
  const counts = (at) => !special[at] && /[\p{L}\p{N}]/u.test(words[at]);
  const [mine, yours] = [0, 1].map((side) => span(0, place + 1).filter((at) => keyRows[at][side] !== null && counts(at)).length);
  return say(counts(place) ? TEXTS.said.wordNumbers : TEXTS.said.afterWordNumbers, { word, mine, yours });
}
