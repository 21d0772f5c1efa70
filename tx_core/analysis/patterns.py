"""Measures of what a head attends to: the spread and the distance of its attention, and its kind, by rule.

Each kind has targets: the keys that a head of this kind attends to from a query. A head's share is the attention on them.
Sums over many texts can be added before the heads are classified.
"""

import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

import numpy as np
from jaxtyping import Bool, Float, Int

from tx_core.transformer.trace import Encoding


def entropy(weights: Float[np.ndarray, "... query key"]) -> Float[np.ndarray, "... query"]:
    """Return the entropy of each row, in nats (Shannon 1948; for heads, Clark et al. 2019, section 3.3).

    0 = all attention on one key; log(keys) = even attention. A row of zeros has 0.
    """
    logs = np.log(np.where(weights > 0, weights, 1.0))
    return -(weights * logs).sum(axis=-1) + 0.0  # + 0.0 turns −0.0 into 0.0


def normalised_entropy(weights: Float[np.ndarray, "... query key"]) -> Float[np.ndarray, "... query"]:
    """Return the entropy divided by log(keys), 0 to 1, comparable between texts of any length; 0 for a single key."""
    keys = weights.shape[-1]
    return entropy(weights) / np.log(keys) if keys > 1 else entropy(weights)


def mean_distance(weights: Float[np.ndarray, "... query key"]) -> Float[np.ndarray, "... query"]:
    """Return the mean distance from query to key, weighted by attention, in tokens (Vig & Belinkov 2019, section 4.3).

    Both axes must be the tokens of one text. A row of zeros has 0.
    """
    queries, keys = weights.shape[-2:]
    apart = np.abs(np.arange(queries)[:, None] - np.arange(keys)).astype(weights.dtype)
    return np.einsum("...qk,qk->...q", weights, apart)


def uniform_distance(tokens: int) -> float:
    """Return the mean distance of a head with uniform attention, in tokens, as a reference."""
    return (tokens**2 - 1) / (3 * tokens)


PatternKind = Literal["previous", "next", "same", "first", "separator", "punctuation", "broad", "mixed"]


@dataclass(frozen=True)
class TokenMarks:
    """The properties of tokens that determine the targets, for several texts padded to one length.

    real: which tokens are not padding. own: which are not special tokens. signs: which consist of punctuation and symbols only.
    words: the same number for the pieces of a word and for equal words.
    """

    real: Bool[np.ndarray, "text token"]
    own: Bool[np.ndarray, "text token"]
    signs: Bool[np.ndarray, "text token"]
    words: Int[np.ndarray, "text token"]

    @property
    def first(self) -> Bool[np.ndarray, "token"]:
        """Which token opens a text."""
        return np.arange(self.real.shape[1]) == 0

    def beside(self, offset: int) -> Bool[np.ndarray, "text query key"]:
        """Return a mask of the token `offset` positions after each query, if it is not special."""
        return np.eye(self.real.shape[1], k=offset, dtype=bool) & self.own[:, None]


TARGETS: dict[PatternKind, Callable[[TokenMarks], Bool[np.ndarray, "text #query key"]]] = {
    "previous": lambda marks: marks.beside(-1),
    "next": lambda marks: marks.beside(1),
    "same": lambda marks: (marks.words[:, :, None] == marks.words[:, None]) & marks.own[:, None],
    "first": lambda marks: marks.first[None, None],
    "separator": lambda marks: (marks.real & ~marks.own & ~marks.first)[:, None],
    "punctuation": lambda marks: (marks.own & marks.signs)[:, None],
}
"""The kinds that have targets: which keys a head of the kind attends to from each query. A new kind is one entry here.

previous, next: the neighbour, unless it is a special token. same: the token itself, the other pieces of its word and the same
word elsewhere. first: the special token that opens the text ([CLS]), or else the first token, which models without one use in
its place (Xiao et al. 2024). separator: every other special token ([SEP]). punctuation: tokens of signs only.
"""
TARGETED_KINDS: tuple[PatternKind, ...] = tuple(TARGETS)
PATTERN_KINDS: tuple[PatternKind, ...] = (*TARGETED_KINDS, "broad", "mixed")
MIN_SCORE = 0.3
"""The least score with which a head is named; below it, it is "mixed"."""


@dataclass(frozen=True)
class PatternSums:
    """Attention on the targets of each kind, summed over queries; the sums of several texts can be added.

    given: the attention on the targets; the kinds are TARGETED_KINDS and "broad" (normalised entropy). chance: the same for a
    head with uniform attention. queries: how many queries have a target of the kind. votes: in how many texts each of KINDS was
    the head's strongest kind.
    """

    given: Float[np.ndarray, "layer head kind"]
    chance: Float[np.ndarray, "kind"]
    queries: Float[np.ndarray, "kind"]
    votes: Float[np.ndarray, "layer head name"]
    texts: int

    def __add__(self, other: "PatternSums") -> "PatternSums":
        return PatternSums(**{name: part + getattr(other, name) for name, part in vars(self).items()})

    @property
    def kinds(self) -> tuple[PatternKind, ...]:
        """The kinds of the last axis, in its order."""
        return PATTERN_KINDS[: self.given.shape[-1]]

    @property
    def shares(self) -> Float[np.ndarray, "layer head kind"]:
        """The mean attention on the targets of each kind, over all own tokens, whether they have such a target or not."""
        return self.given / np.maximum(self.queries[-1], 1)  # all tokens but special ones are queries of "broad"

    def share_of(self, pattern: "HeadPattern") -> float:
        """Return the share of a head on the targets of its own kind, over all own tokens; 0 for a kind without targets."""
        if pattern.kind not in TARGETED_KINDS:
            return 0.0
        return float(self.shares[pattern.layer, pattern.head, TARGETED_KINDS.index(pattern.kind)])

    @property
    def scores(self) -> Float[np.ndarray, "layer head kind"]:
        """The shares relative to chance: 0 = no more than even attention, 1 = all attention (as Cohen's kappa, 1960)."""
        return score_above_chance(self.given, self.chance[None, None], self.queries[None, None])


def empty_sums(layers: int, heads: int) -> PatternSums:
    """Return the sums of no text."""
    kinds = len(TARGETED_KINDS) + 1
    given, votes = np.zeros((layers, heads, kinds)), np.zeros((layers, heads, len(PATTERN_KINDS)))
    return PatternSums(given, np.zeros(kinds), np.zeros(kinds), votes, 0)


@dataclass(frozen=True)
class HeadPattern:
    """The kind of a head.

    layer, head: counted from 0. confidence: the score of its kind (`PatternSums.scores`), 0 to 1. second: the kind with the next
    best score. agreement: the share of texts in which the head, classified on that text alone, is of the same kind.
    """

    layer: int
    head: int
    kind: PatternKind
    confidence: float
    second: PatternKind
    second_score: float
    agreement: float


def pattern_sums(weights: Float[np.ndarray, "layer head query key"], encoding: Encoding) -> PatternSums:
    """Sum the attention of every head on the targets of each kind in one text.

    Only the text's own tokens count as queries, not special tokens. If no head attends to later tokens, the model is taken to be
    causal, and chance counts earlier tokens only.
    """
    asked = ~np.array(encoding.special)
    every = np.ones(weights.shape[-2:], dtype=bool)
    reachable = (every if np.triu(weights, 1).any() else np.tril(every))[asked]
    targets = kind_targets(encoding)[:, asked] & reachable
    widths = np.maximum(reachable.sum(axis=-1), 1)
    given = np.stack([_given(layer[:, asked].astype(np.float64), targets, widths) for layer in weights])
    chance = np.append((targets.sum(axis=-1) / widths).sum(axis=-1), 0.0)  # "broad" is uniform attention itself
    counted = np.append(targets.any(axis=-1).sum(axis=-1), asked.sum()).astype(np.float64)
    votes = np.eye(len(PATTERN_KINDS))[winning_kinds(score_above_chance(given, chance[None, None], counted[None, None]))]
    return PatternSums(given, chance, counted, votes, 1)


def _given(
    rows: Float[np.ndarray, "head query key"], targets: Bool[np.ndarray, "kind query key"], widths: Int[np.ndarray, "query"]
) -> Float[np.ndarray, "head kind_and_broad"]:
    aimed = rows.reshape(len(rows), -1) @ targets.reshape(len(targets), -1).T.astype(np.float64)
    evenly = ((np.exp(entropy(rows)) - 1) / np.maximum(widths - 1, 1)).sum(axis=-1)
    return np.concatenate([aimed, evenly[:, None]], axis=-1)


def kind_targets(encoding: Encoding) -> Bool[np.ndarray, "kind query key"]:
    """Return masks of the targets of TARGETED_KINDS for each query. A key may be a target of several kinds."""
    return padded_targets([encoding])[0]


def padded_targets(encodings: Sequence[Encoding]) -> Bool[np.ndarray, "text kind query key"]:
    """Return `kind_targets` of several texts, padded; padding neither has nor is a target."""
    marks = mark_tokens(encodings)
    real = marks.real[:, :, None] & marks.real[:, None]
    return np.stack([find(marks) & real for find in TARGETS.values()], axis=1)


def mark_tokens(encodings: Sequence[Encoding]) -> TokenMarks:
    """Return the marks from which the targets follow: padding, special tokens, punctuation and equal words."""
    longest = max(map(len, encodings))
    real, own, signs = (np.zeros((len(encodings), longest), dtype=bool) for _ in range(3))
    words = np.zeros((len(encodings), longest), dtype=np.int64)
    for place, encoding in enumerate(encodings):
        tokens = len(encoding)
        real[place, :tokens] = True
        own[place, :tokens] = ~np.array(encoding.special)
        signs[place, :tokens] = [is_punctuation(token) for token in encoding.tokens]
        names = [
            token if word is None else encoding.word_texts[word].casefold()
            for token, word in zip(encoding.tokens, encoding.words, strict=True)
        ]
        numbers = {name: number for number, name in enumerate(names)}
        words[place, :tokens] = [numbers[name] for name in names]
    return TokenMarks(real, own, signs, words)


@lru_cache(maxsize=4096)
def is_punctuation(token: str) -> bool:
    """Return whether a token consists of punctuation and symbols only, the marks of subwords (##, ␣) aside."""
    bare = token.removeprefix("##").replace("␣", "")
    return bool(bare) and all(unicodedata.category(character)[0] in "PS" for character in bare)


def name_heads(sums: PatternSums) -> tuple[HeadPattern, ...]:
    """Classify every head by the kind with the highest score, layer by layer; below MIN_SCORE it is "mixed"."""
    scores, winners = sums.scores, winning_kinds(sums.scores)
    layers, heads, _ = scores.shape
    return tuple(
        _named(sums, scores[layer, head], int(winners[layer, head]), layer, head)
        for layer in range(layers)
        for head in range(heads)
    )


def _named(sums: PatternSums, scores: Float[np.ndarray, "kind"], winner: int, layer: int, head: int) -> HeadPattern:
    order = np.argsort(-scores, kind="stable")
    best, second = int(order[0]), int(order[1])
    return HeadPattern(
        layer,
        head,
        PATTERN_KINDS[winner],
        float(scores[best]),
        PATTERN_KINDS[second],
        float(scores[second]),
        float(sums.votes[layer, head, winner] / sums.texts),
    )


def score_above_chance(
    given: Float[np.ndarray, "*many layer head kind"],
    chance: Float[np.ndarray, "*many #layer #head kind"],
    queries: Float[np.ndarray, "*many #layer #head kind"],
) -> Float[np.ndarray, "*many layer head kind"]:
    """Return how far attention on the targets exceeds that of an even head: 0 = no more, 1 = all attention (as Cohen's kappa)."""
    most = queries - chance
    return np.where(most > 0, np.clip(given - chance, 0, None) / np.where(most > 0, most, 1), 0.0)


def winning_kinds(scores: Float[np.ndarray, "*many layer head kind"]) -> Int[np.ndarray, "*many layer head"]:
    """Return the index in KINDS of each head's kind."""
    return np.where(scores.max(axis=-1) >= MIN_SCORE, scores.argmax(axis=-1), PATTERN_KINDS.index("mixed"))
