"""Two attention maps compared: of two texts, word by word, and of one text before and after an intervention."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int

from tx_core.analysis.views import View
from tx_core.analysis.word_comparison import PositionPair, Spelling, align, pair_rows


@dataclass(frozen=True)
class Comparison:
    """The words of both sides in one order, and the difference B − A wherever both sides have both words.

    Attributes:
        rows: For each word its position in A and in B; None where it has no partner.
        labels: The words, as A writes them.
        special: Which of them are special tokens.
        one: Weights of A.
        other: Weights of B.
        difference: Weights of B minus those of A, −1 to 1; 0 where `comparable` is False.
        comparable: Where both sides have both words.
    """

    rows: tuple[PositionPair, ...]
    labels: tuple[str, ...]
    special: tuple[bool, ...]
    one: Float[np.ndarray, "word word"]
    other: Float[np.ndarray, "other_word other_word"]
    difference: Float[np.ndarray, "row row"]
    comparable: Bool[np.ndarray, "row row"]


def compare_attention(
    one: View,
    other: View,
    spelled: Sequence[Spelling],
    spelled_other: Sequence[Spelling],
    weights: Float[np.ndarray, "word word"],
    other_weights: Float[np.ndarray, "other_word other_word"],
) -> Comparison:
    """Align two attention maps word by word and subtract them.

    Args:
        one: The view of A, of self-attention.
        other: The view of B, of self-attention.
        spelled: The spelling of each word of A, as `spell_words` returns it.
        spelled_other: The spelling of each word of B.
        weights: The map of A.
        other_weights: The map of B.

    Raises:
        ValueError: If a map does not have one row and one column per word.
    """
    for view, spelling, shown in ((one, spelled, weights), (other, spelled_other, other_weights)):
        if not shown.shape == (len(view.queries), len(view.keys)) == (len(spelling), len(spelling)):
            raise ValueError(f"weights must be word × word, got {shown.shape} for {len(spelling)} words")
    rows = pair_rows(align(spelled, spelled_other), len(spelled), len(spelled_other))
    labels = tuple(other.queries[yours] if mine is None else one.queries[mine] for mine, yours in rows)
    special = tuple(other.query_special[yours] if mine is None else one.query_special[mine] for mine, yours in rows)
    difference, there = subtract_maps(rows, weights, other_weights)
    return Comparison(rows, labels, special, weights, other_weights, difference, there)


def subtract_maps(
    rows: Sequence[PositionPair], weights: Float[np.ndarray, "word word"], other: Float[np.ndarray, "other_word other_word"]
) -> tuple[Float[np.ndarray, "row row"], Bool[np.ndarray, "row row"]]:
    """Return B − A, 0 where a word has no partner, and a mask of the cells where both sides have both words."""
    common = [(row, mine, yours) for row, (mine, yours) in enumerate(rows) if mine is not None and yours is not None]
    difference, there = np.zeros((len(rows), len(rows)), np.float32), np.zeros((len(rows), len(rows)), bool)
    if common:
        shared, mine, yours = (list(column) for column in zip(*common, strict=True))
        difference[np.ix_(shared, shared)] = other[np.ix_(yours, yours)] - weights[np.ix_(mine, mine)]
        there[np.ix_(shared, shared)] = True
    return difference, there


def list_links(comparison: Comparison) -> Int[np.ndarray, "link 2"]:
    """List every link that A or B has, as (query row, key row), row by row."""
    of_one, of_other = (np.array([place is not None for place in side]) for side in zip(*comparison.rows, strict=True))
    return np.argwhere((of_one[:, None] & of_one) | (of_other[:, None] & of_other))


def largest_links(comparison: Comparison, listed: Int[np.ndarray, "link 2"], most: int) -> Int[np.ndarray, "most 2"]:
    """Return the `most` links of a list that differ most between A and B, the largest difference first."""
    order = np.argsort(-np.abs(comparison.difference[tuple(listed.T)]), kind="stable")
    return listed[order[:most]]


def moved_attention(
    before: Float[np.ndarray, "*axes query key"], after: Float[np.ndarray, "*axes query key"]
) -> Float[np.ndarray, "*axes query"]:
    """Return the share of each query's attention that went elsewhere or was lost, 0 to 1.

    For rows that sum to 1 this is the total variation distance; a row that becomes zeros lost everything: 1.
    """
    change = after.astype(np.float64) - before
    return np.clip(np.maximum(np.clip(change, 0, None).sum(-1), np.clip(-change, 0, None).sum(-1)), 0, 1)


def most_changed_heads(
    before: Float[np.ndarray, "layer head query key"], after: Float[np.ndarray, "layer head query key"], count: int
) -> tuple[tuple[tuple[int, int], float], ...]:
    """List the `count` heads whose attention changed most, as ((layer, head), share averaged over queries).

    Heads that did not change and heads that are switched off afterwards are left out.
    """
    shares = moved_attention(before, after).mean(-1) * after.any(axis=(-1, -2))
    order = np.argsort(-shares, axis=None, kind="stable")[:count]
    heads = (divmod(int(index), shares.shape[1]) for index in order)
    return tuple((head, float(shares[head])) for head in heads if shares[head] >= 0.0005)
