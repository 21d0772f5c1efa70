"""Syntax: the relations of a treebank that heads follow (Clark et al. 2019)."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Float

from tx_core.analysis.grammar import MIN_GAIN, Direction, HeadRelation
from tx_core.engine.engine import Engine
from tx_core.training.evaluation.predictions import text_row

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


def word_attention(engine: Engine, words: Sequence[str]) -> Float[np.ndarray, "layer head word word"] | None:
    """Return the attention between words: to one the sum over its pieces, from it the mean (Clark et al. 2019, section 4.1).

    None for a sentence that is too long, or with words that the tokenizer drops.
    """
    read = engine.tokenizer.backend.encode(list(words), is_pretokenized=True)
    places = [[place for place, word in enumerate(read.word_ids) if word == number] for number in range(len(words))]
    if len(read.ids) > engine.info.max_tokens or not all(places):
        return None
    pieces = engine.over_weights([text_row(read.ids)], lambda layers: torch.cat(layers).cpu().numpy())
    joined = np.zeros((len(words), len(read.ids)), dtype=pieces.dtype)
    for number, own in enumerate(places):
        joined[number, own] = 1.0
    mean = joined / joined.sum(axis=1, keepdims=True)
    return mean @ pieces @ joined.T


def measure_heads(engine: Engine, trees: Sequence[Tree]) -> tuple[tuple[HeadRelation, ...], tuple[HeadRelation, ...]]:
    """Measure all heads in one pass over the sentences that the model can read.

    Returns for each relation its best head, with the best fixed offset as its baseline (Clark et al. 2019, table 1), both chosen
    on one half of the sentences and measured on the other; and all relations that each head follows.
    """
    halves: tuple[dict[str, _Counts], dict[str, _Counts]] = ({}, {})
    number = 0
    for tree in trees:
        if (words := word_attention(engine, tree.words)) is not None:
            _count(halves[number % 2], tree, words)
            number += 1
    if not number:
        raise ValueError("the model can read none of the sentences")
    both = {name: (halves[0][name], halves[1][name]) for name in sorted(set(halves[0]) & set(halves[1]))}
    both = {name: found for name, found in both.items() if min(half.occurrences for half in found) >= MIN_OCCURRENCES}
    best = tuple(_relation(name, *found, *_best_head(found[0])) for name, found in both.items())
    return best, tuple(one for name, found in both.items() for one in _followed_relations(name, *found))


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
