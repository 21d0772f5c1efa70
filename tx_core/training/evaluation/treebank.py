"""Sentences with their grammar: Universal Dependencies in CoNLL-U, and the model's attention between their words."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from jaxtyping import Float

from tx_core.training.evaluation.probe import Probe


@dataclass(frozen=True)
class Tree:
    """A sentence: its words, the place of each word's head (None for the root), and its relation to it."""

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
    """Give the attention between pieces, [CLS] and [SEP] included, and that between whole words.

    To a split word goes the sum over its pieces, from it the mean (Clark et al. 2019, section 4.1).
    None for a sentence that is too long, or with words that the tokenizer drops.
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


def attended(probe: Probe, trees: Sequence[Tree]) -> Iterator[tuple[Tree, np.ndarray, np.ndarray]]:
    """Run the model on every sentence that it can read: the tree, attention of pieces, attention of words."""
    for tree in trees:
        found = word_attention(probe, tree.words)
        if found is not None:
            yield tree, *found
