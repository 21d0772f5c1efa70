"""Syntax and word senses: the relations of a treebank that heads follow (Clark et al. 2019), and the layers in which the uses
of "flies" as a verb and as a noun separate.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from tx_core.analysis.grammar import MIN_GAIN, Direction, HeadRelation
from tx_core.training.evaluation.probe import Probe


@dataclass(frozen=True)
class Tree:
    """A sentence: its words, the position of each word's head (None for the root), and its relation to it."""

    words: tuple[str, ...]
    heads: tuple[int | None, ...]
    relations: tuple[str, ...]


def read_trees(file: Path, most: int) -> list[Tree]:
    """Read the first `most` sentences (0: all) of two words or more; subtypes such as nmod:poss count as nmod."""
    trees: list[Tree] = []
    for block in file.read_text(encoding="utf-8").split("\n\n"):
        fields = [line.split("\t") for line in block.splitlines() if line and not line.startswith("#")]
        rows = [row for row in fields if row[0].isdigit()]
        if len(rows) < 2:
            continue
        trees.append(
            Tree(
                tuple(row[1] for row in rows),
                tuple(int(row[6]) - 1 if row[6] != "0" else None for row in rows),
                tuple(row[7].split(":")[0] for row in rows),
            )
        )
        if most and len(trees) == most:
            break
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


def attention_over_words(probe: Probe, trees: Sequence[Tree]) -> Iterator[tuple[Tree, np.ndarray, np.ndarray]]:
    """Run the model on every sentence that it can read; yield the tree, attention of pieces, attention of words."""
    for tree in trees:
        found = word_attention(probe, tree.words)
        if found is not None:
            yield tree, *found


OFFSETS = tuple(offset for offset in range(-6, 7) if offset)

DIRECTIONS: tuple[Direction, ...] = ("to head", "to dependent")

MIN_OCCURRENCES = 50
"""Occurrences in either half below which a relation is left out."""


@dataclass(frozen=True)
class Relation:
    """The accuracy of the best head for a relation, and of the best fixed offset (Clark et al. 2019, table 1).

    Both were chosen on one half of the sentences and measured on the other. direction: "to head" if the dependent attends to its
    head, "to dependent" the other way round.
    """

    head_accuracy: float
    offset_accuracy: float
    layer: int
    head: int
    direction: str
    offset: int
    occurrences: int


@dataclass(frozen=True)
class AttentionSummary:
    """Means over heads and tokens, per layer: attention on [CLS] and [SEP], and entropy in nats.

    previous, following: the head with most attention on the previous or next token, as (layer, head, share).
    """

    cls_share: tuple[float, ...]
    sep_share: tuple[float, ...]
    entropy: tuple[float, ...]
    previous: tuple[int, int, float]
    following: tuple[int, int, float]


def measure_attention(
    probe: Probe, trees: Sequence[Tree]
) -> tuple[dict[str, Relation], AttentionSummary, tuple[HeadRelation, ...]]:
    """Measure relations, summary and the relations that each head follows in one pass over the sentences."""
    counts = ({}, {})
    habits: list[np.ndarray] = []
    tokens = 0
    for number, (tree, pieces, words) in enumerate(attention_over_words(probe, trees)):
        _count(counts[number % 2], tree, words)
        habits.append(_attention_sums(pieces))
        tokens += pieces.shape[-1]
    if not habits:
        raise ValueError("the model can read none of the sentences")
    names = sorted(set(counts[0]) & set(counts[1]))
    names = [name for name in names if min(half[name].occurrences for half in counts) >= MIN_OCCURRENCES]
    relations = {name: _relation(*(half[name] for half in counts)) for name in names}
    followed = tuple(one for name in names for one in _followed_relations(name, *(half[name] for half in counts)))
    return relations, _summed(np.sum(habits, axis=0) / tokens), followed


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


def _followed_relations(name: str, chosen_on: _Counts, measured_on: _Counts) -> Iterator[HeadRelation]:
    """List the heads that find the other end MIN_GAIN more often than the best offset, in both halves."""
    offset = int(chosen_on.offsets.argmax())
    gains = [(half.heads - half.offsets[offset]) / half.occurrences for half in (chosen_on, measured_on)]
    baseline = float(measured_on.offsets[offset] / measured_on.occurrences)
    for direction, layer, head in np.argwhere(np.minimum(*gains) >= MIN_GAIN).tolist():
        accuracy = float(measured_on.heads[direction, layer, head] / measured_on.occurrences)
        yield HeadRelation(
            layer,
            head,
            name,
            DIRECTIONS[direction],
            round(accuracy, 4),
            round(baseline, 4),
            OFFSETS[offset],
            measured_on.occurrences,
        )


def _relation(chosen_on: _Counts, measured_on: _Counts) -> Relation:
    direction, layer, head = np.unravel_index(chosen_on.heads.argmax(), chosen_on.heads.shape)
    offset = int(chosen_on.offsets.argmax())
    total = measured_on.occurrences
    return Relation(
        float(measured_on.heads[direction, layer, head] / total),
        float(measured_on.offsets[offset] / total),
        int(layer),
        int(head),
        DIRECTIONS[direction],
        OFFSETS[offset],
        total + chosen_on.occurrences,
    )


def _attention_sums(weights: Float[np.ndarray, "layer head query key"]) -> Float[np.ndarray, "habit layer head"]:
    """Sum over queries: weight on [CLS], on [SEP], entropy, weight on the token before and after."""
    entropy = -(weights * np.log(np.maximum(weights, 1e-12))).sum(axis=(-2, -1))
    before = np.trace(weights, offset=-1, axis1=-2, axis2=-1)
    after = np.trace(weights, offset=1, axis1=-2, axis2=-1)
    return np.stack((weights[..., 0].sum(-1), weights[..., -1].sum(-1), entropy, before, after))


def _summed(habits: Float[np.ndarray, "habit layer head"]) -> AttentionSummary:
    def best(shares: Float[np.ndarray, "layer head"]) -> tuple[int, int, float]:
        layer, head = np.unravel_index(shares.argmax(), shares.shape)
        return int(layer), int(head), float(shares[layer, head])

    cls_share, sep_share, entropy = (tuple(map(float, habits[number].mean(axis=1))) for number in range(3))
    return AttentionSummary(cls_share, sep_share, entropy, best(habits[3]), best(habits[4]))


WORD = "flies"
VERB = (
    "Time flies like an arrow.",
    "The bird flies over the house.",
    "He flies to London every week.",
    "The pilot flies a small plane.",
    "She flies home for Christmas.",
    "An eagle flies very high.",
)
INSECT = (
    "Fruit flies like a banana.",
    "The flies sat on the meat.",
    "I hate flies in my soup.",
    "There were many flies in the kitchen.",
    "Frogs eat flies and worms.",
    "Two flies walked across the window.",
)


@dataclass(frozen=True)
class SenseSeparation:
    """Per layer, the embeddings first.

    Attributes:
        gap: Mean cosine similarity of uses of one sense minus that of uses of different senses.
        told_apart: The share of uses whose nearest other use has the same sense; chance is 5 of 11.
    """

    gap: tuple[float, ...]
    told_apart: tuple[float, ...]


def measure_senses(
    probe: Probe, word: str = WORD, first: Sequence[str] = VERB, second: Sequence[str] = INSECT
) -> SenseSeparation:
    """Compare the word's vectors in sentences of its two senses, after every layer."""
    states = torch.stack([_vectors(probe, sentence, word) for sentence in (*first, *second)], dim=1)
    meaning = torch.tensor([0] * len(first) + [1] * len(second))
    same = meaning[:, None] == meaning[None, :]
    itself = torch.eye(len(meaning), dtype=torch.bool)
    gaps, apart = [], []
    for layer in states:
        unit = torch.nn.functional.normalize(layer, dim=-1)
        alike = unit @ unit.T
        gaps.append(float(alike[same & ~itself].mean() - alike[~same].mean()))
        nearest = alike.masked_fill(itself, -torch.inf).argmax(dim=1)
        apart.append(float((meaning[nearest] == meaning).float().mean()))
    return SenseSeparation(tuple(gaps), tuple(apart))


def _vectors(probe: Probe, sentence: str, word: str) -> Float[Tensor, "layer_and_embeddings hidden"]:
    """Return the mean vector of the word's pieces after every layer."""
    read = probe.tokenizer.backend.encode(sentence)
    start = sentence.lower().index(word)
    inside = range(start, start + len(word))
    places = [p for p, (a, b) in enumerate(read.offsets) if a < b and a in inside and b - 1 in inside]
    return probe.hidden(read.ids)[:, places].mean(dim=1)
