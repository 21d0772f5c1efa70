// What follows a text, from the logits of the most likely tokens and what the others come to: temperature, then top-k, then top-p, as
// tx_core/fill_mask/next_words.py. tests/browser/test_stages.py compares both.

import { bytesOf } from "../../canvas/core/bytes.js";

const TOLERANCE = 1e-9; // rounding error allowed where a sum is compared with top-p

// logits: of the listed tokens, best first, less the largest. rest: the logarithm of the sum of exp(logit / temperature) over all others.
// Returns the share of each listed token, of all others together, and whether top-p keeps some of these, which leaves an error of `about`.
export function sharesOf({ logits, rest }, { temperature, topK, topP }) {
  const weights = Array.from(logits, (logit) => Math.exp(logit / temperature));
  const kept = topK ? weights.map((weight, place) => (place < topK ? weight : 0)) : weights;
  const others = topK ? 0 : Math.exp(rest);
  const all = kept.reduce((sum, weight) => sum + weight, others);
  const shares = kept.map((weight) => weight / all);
  if (topP >= 1) return { shares, rest: others / all, about: 0 };
  let sum = 0;
  const inside = shares.map((share) => {
    const isIn = sum < topP - TOLERANCE;
    sum += isIn ? share : 0;
    return isIn ? share : 0;
  });
  const reached = sum >= topP - TOLERANCE || !others;
  const total = reached ? sum : topP;
  return { shares: inside.map((share) => share / total), rest: reached ? 0 : 1 - sum / total, about: reached ? 0 : shares.at(-1) };
}

// The share of a token by its rank, from 1, and its logit; of one that is not listed, as it was sampled if any of these is.
export function shareOf({ shares, rest }, [rank, logit], { temperature }) {
  return shares[rank - 1] ?? (rest > 0 ? shares[0] * Math.exp(logit / temperature) : 0);
}

// The numbers that Python sent, by place: `listed` and `temperatures` say how many.
export function placesOf({ listed, temperatures, ids, logits, rest }) {
  const [of, scores, others] = [[Uint16Array, ids], [Float32Array, logits], [Float32Array, rest]].map(([kind, written]) => new kind(bytesOf(written).buffer));
  return Array.from({ length: of.length / listed }, (_, place) => ({
    tokens: of.subarray(place * listed, (place + 1) * listed), logits: scores.subarray(place * listed, (place + 1) * listed),
    rests: others.subarray(place * temperatures.length, (place + 1) * temperatures.length), temperatures,
  }));
}

export function sharesAt(place, { temperature, topK, topP }) {
  return sharesOf({ logits: place.logits, rest: place.rests[place.temperatures.indexOf(temperature)] }, { temperature, topK, topP });
}
