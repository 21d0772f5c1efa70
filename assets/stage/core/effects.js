// What switching off each head does to a word at the blank, or to the difference of two words: as scan_rows of
// pages/fill_mask/head_scan.py, and as the cells and notes of a wall.

import { percent, points, ratio } from "../../canvas/core/numbers.js";
import { say as said } from "../../canvas/core/text.js";

const LIMITS = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2];

// one, other: words of a scan, each with `word`, `before`, and `after` of all heads; other may be null.
export function effectOf(one, other, texts) {
  const less = (after, at) => after - (other ? other.after[at] : 0);
  const before = one.before - (other ? other.before : 0);
  const after = one.after.map(less);
  const name = other ? said(texts.difference, { first: one.word, second: other.word }) : one.word;
  const ratios = other && { before: [one.before, other.before], after: one.after.map((share, at) => [share, other.after[at]]) };
  return { name, before, after, change: after.map((share) => share - before), ratios };
}

// The number at which colours end.
export function limitOf({ change }) {
  const largest = change.reduce((most, one) => Math.max(most, Math.abs(one)), 0);
  return LIMITS.find((limit) => limit >= Math.min(LIMITS.at(-1), largest));
}

// Changes as whole numbers around 128, by their square root.
export function cellsOf({ change }, limit) {
  return Uint8Array.from(change, (one) => {
    const share = Math.max(-1, Math.min(1, one / limit));
    return Math.round(128 + Math.sign(share) * Math.sqrt(Math.abs(share)) * 127);
  });
}

// What is said of one head. word: the top prediction without it.
export function noteOf(effect, at, word, texts) {
  const share = (one) => (one >= 0 ? percent(one) : points(one));
  const change = said(texts.fromTo, { before: share(effect.before), after: share(effect.after[at]) });
  const ratios = effect.ratios && said(texts.fromTo, {
    before: ratio(...effect.ratios.before, texts.noRatio), after: ratio(...effect.ratios.after[at], texts.noRatio),
  });
  return said(texts.note, { followed: effect.name, change: ratios ? said(texts.withRatio, { change, ratio: ratios }) : change, word });
}
