"""Syntax: the relations of a treebank that heads follow (Clark et al. 2019)."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from tx_core.analysis.grammar import MIN_GAIN, Direction, HeadRelation
from tx_core.training.evaluation.masked_words import Probe

OFFSETS = tuple(offset for offset in range(-6, 7) if offset)
DIRECTIONS: tuple[Direction, ...] = ("to head", "to dependent")
MIN_OCCURRENCES = 50
"""Occurrences in either half below which a relation is left out."""


class Tree(NamedTuple):
    """A sentence: its words, the position of each word's head (None for the root), and its relation to it."""

    words: tuple[str, ...]
    heads: tuple[int | None, ...]
    relations: tuple[str, ...]


def read_trees(file: Path) -> list[Tree]:
    """Read the sentences of two words or more; subtypes such as nmod:poss count as nmod."""
    trees: list[Tree] = []
    for block in file.read_text(encoding="utf-8").split("\n\n"):
        fields = [line.split("\t") for line in block.splitlines() if line and not line.startswith("#")]
        rows = [row for row in fields if row[0].isdigit()]
        if len(rows) > 1:
            heads = tuple(int(row[6]) - 1 if row[6] != "0" else None for row in rows)
            trees.append(Tree(tuple(row[1] for row in rows), heads, tuple(row[7].split(":")[0] for row in rows)))
    return trees


def word_attention(
    probe: Probe, words: Sequence[str]
) -> tuple[Float[np.ndarray, "layer head query key"], Float[np.ndarray, "layer head word word"]] | None:
    """Return the attention between pieces, [CLS] and [SEP] included, and between words.

    Attention to a split word is the sum over its pieces, from it the mean (Clark et al. 2019, section 4.1). None for a sentence
    that is too long, or with words that the tokenizer drops.
    """
    read = probe.tokenizer.backend.encode(list(words), is_pretokenized=True)
    places = [[place for place, word in enumerate(read.word_ids) if word == number] for number in range(len(words))]
    if len(read.ids) > probe.max_tokens or not all(places):
        return None
    pieces = probe.weights(read.ids).numpy()
    joined = np.zeros((len(words), len(read.ids)), dtype=pieces.dtype)
    for number, own in enumerate(places):
        joined[number, own] = 1.0
    mean = joined / joined.sum(axis=1, keepdims=True)
    return pieces, mean @ pieces @ joined.T


class AttentionSummary(NamedTuple):
    """Means over heads and tokens, per layer: attention on [CLS] and [SEP], and entropy in nats.

    previous, following: the head with most attention on the previous or next token, as (layer, head, share).
    """

    cls_share: tuple[float, ...]
    sep_share: tuple[float, ...]
    entropy: tuple[float, ...]
    previous: tuple[int, int, float]
    following: tuple[int, int, float]


class HeadsMeasured(NamedTuple):
    """What heads do on a treebank.

    Attributes:
        best: For each relation its best head, with the best fixed offset as its baseline (Clark et al. 2019, table 1); both
            were chosen on one half of the sentences and measured on the other.
        followed: The relations that each head follows.
        summary: Where heads look without regard to grammar.
    """

    best: tuple[HeadRelation, ...]
    followed: tuple[HeadRelation, ...]
    summary: AttentionSummary


def measure_heads(probe: Probe, trees: Sequence[Tree]) -> HeadsMeasured:
    """Measure all heads in one pass over the sentences that the model can read."""
    halves: tuple[dict[str, _Counts], dict[str, _Counts]] = ({}, {})
    sums, tokens, number = 0, 0, 0
    for tree in trees:
        if found := word_attention(probe, tree.words):
            pieces, words = found
            _count(halves[number % 2], tree, words)
            sums, tokens, number = sums + _attention_sums(pieces), tokens + pieces.shape[-1], number + 1
    if not number:
        raise ValueError("the model can read none of the sentences")
    both = {name: (halves[0][name], halves[1][name]) for name in sorted(set(halves[0]) & set(halves[1]))}
    both = {name: found for name, found in both.items() if min(half.occurrences for half in found) >= MIN_OCCURRENCES}
    best = tuple(_relation(name, *found, *_best_head(found[0])) for name, found in both.items())
    followed = tuple(one for name, found in both.items() for one in _followed_relations(name, *found))
    return HeadsMeasured(best, followed, _summary(sums / tokens))


@dataclass
class _Counts:
    """Hits of every head in both directions, and of every offset."""

    heads: np.ndarray
    offsets: np.ndarray
    occurrences: int = 0


def _count(counts: dict[str, _Counts], tree: Tree, words: Float[np.ndarray, "layer head word word"]) -> None:
    """Count which heads, and which offsets, find the head of each word; attention to the word itself is ignored."""
    itself = np.eye(len(tree.words), dtype=bool)
    looked_at = np.where(itself, -1.0, words).argmax(axis=-1)
    for place, (head, relation) in enumerate(zip(tree.heads, tree.relations, strict=True)):
        if head is None or relation == "punct":
            continue
        known = counts.setdefault(relation, _Counts(np.zeros((2, *words.shape[:2])), np.zeros(len(OFFSETS))))
        known.heads += np.stack((looked_at[..., place] == head, looked_at[..., head] == place))
        known.offsets += np.array(OFFSETS) == head - place
        known.occurrences += 1


def _best_head(counts: _Counts) -> tuple[int, ...]:
    return tuple(map(int, np.unravel_index(counts.heads.argmax(), counts.heads.shape)))


def _followed_relations(name: str, chosen_on: _Counts, measured_on: _Counts) -> Iterator[HeadRelation]:
    """List the heads that find the other end MIN_GAIN more often than the best offset, in both halves."""
    offset = chosen_on.offsets.argmax()
    gains = [(half.heads - half.offsets[offset]) / half.occurrences for half in (chosen_on, measured_on)]
    for place in np.argwhere(np.minimum(*gains) >= MIN_GAIN).tolist():
        found = _relation(name, chosen_on, measured_on, *place)
        yield replace(found, accuracy=round(found.accuracy, 4), baseline=round(found.baseline, 4))


def _relation(name: str, chosen_on: _Counts, measured_on: _Counts, direction: int, layer: int, head: int) -> HeadRelation:
    offset, total = int(chosen_on.offsets.argmax()), measured_on.occurrences
    accuracy, baseline = measured_on.heads[direction, layer, head] / total, measured_on.offsets[offset] / total
    found = DIRECTIONS[direction], float(accuracy), float(baseline), OFFSETS[offset], total
    return HeadRelation(int(layer), int(head), name, *found)


def _attention_sums(weights: Float[np.ndarray, "layer head query key"]) -> Float[np.ndarray, "habit layer head"]:
    """Sum over queries: weight on [CLS], on [SEP], entropy, weight on the token before and after."""
    entropy = -(weights * np.log(np.maximum(weights, 1e-12))).sum(axis=(-2, -1))
    before = np.trace(weights, offset=-1, axis1=-2, axis2=-1)
    after = np.trace(weights, offset=1, axis1=-2, axis2=-1)
    return np.stack((weights[..., 0].sum(-1), weights[..., -1].sum(-1), entropy, before, after))


def _summary(means: Float[np.ndarray, "habit layer head"]) -> AttentionSummary:
    def best(shares: Float[np.ndarray, "layer head"]) -> tuple[int, int, float]:
        layer, head = np.unravel_index(shares.argmax(), shares.shape)
        return int(layer), int(head), float(shares[layer, head])

    cls_share, sep_share, entropy = (tuple(map(float, means[number].mean(axis=1))) for number in range(3))
    return AttentionSummary(cls_share, sep_share, entropy, best(means[3]), best(means[4]))
