"""Views of a run: subword tokens merged into words, special tokens hidden, heads averaged."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np
from jaxtyping import Float

from tx_core.transformer.config import AttentionKind
from tx_core.transformer.trace import AttentionStack, Encoding

Label = TypeVar("Label")


@dataclass(frozen=True)
class View:
    """The weights of one stack as shown, with the labels of both axes.

    queries: labels of the rows. keys: labels of the columns. query_places: the positions of the tokens that each row stands for.
    hides_special: whether special tokens are left out, and rows sum to 1 without them; a text of nothing else keeps them.
    """

    kind: AttentionKind
    queries: tuple[str, ...]
    keys: tuple[str, ...]
    query_places: tuple[tuple[int, ...], ...]
    query_special: tuple[bool, ...]
    key_special: tuple[bool, ...]
    weights: Float[np.ndarray, "layer head query key"]
    hides_special: bool


def view(stack: AttentionStack, *, merge_words: bool = False, hide_special: bool = False) -> View:
    """Prepare a stack for display: first merge tokens into words, then hide special tokens."""
    queries, keys, weights = stack.query_tokens, stack.key_tokens, stack.weights
    query_special, key_special = queries.special, keys.special
    query_labels, key_labels = queries.tokens, keys.tokens
    query_groups = tuple((place,) for place in range(len(queries)))
    if merge_words:
        query_groups, key_groups = word_groups(queries), word_groups(keys)
        weights = merge_pieces(weights, query_groups, key_groups)
        query_special, key_special = _special(queries, query_groups), _special(keys, key_groups)
        query_labels, key_labels = _word_labels(queries, query_groups), _word_labels(keys, key_groups)
    hides = hide_special and not (all(query_special) or all(key_special))
    if hides:
        weights = leave_out(weights, query_special, key_special)
        query_labels, key_labels = _without(query_labels, query_special), _without(key_labels, key_special)
        query_groups = _without(query_groups, query_special)
        query_special, key_special = (False,) * len(query_labels), (False,) * len(key_labels)
    weights.setflags(write=False)
    return View(stack.kind, query_labels, key_labels, query_groups, query_special, key_special, weights, hides)


def with_padding(view: View, padding: int) -> View:
    """Add a last column for unmasked padding, whose weights a trace does not keep: 1 minus the sum of each row.

    padding: the number of its tokens, which the column's label names.
    """
    taken = (1 - view.weights.sum(axis=-1, keepdims=True)).clip(min=0)
    weights = np.concatenate([view.weights, taken], axis=-1)
    weights.setflags(write=False)
    return replace(view, keys=(*view.keys, f"[PAD] × {padding}"), key_special=(*view.key_special, True), weights=weights)


def word_groups(encoding: Encoding) -> tuple[tuple[int, ...], ...]:
    """Return the positions of the tokens of each word, in order; a special token is a group of its own."""
    groups: list[tuple[int, ...]] = []
    previous = None
    for place, word in enumerate(encoding.words):
        if word is not None and word == previous:
            groups[-1] = (*groups[-1], place)
        else:
            groups.append((place,))
        previous = word
    return tuple(groups)


def merge_pieces(
    weights: Float[np.ndarray, "layer head query key"],
    query_groups: Sequence[tuple[int, ...]],
    key_groups: Sequence[tuple[int, ...]],
) -> Float[np.ndarray, "layer head query_word key_word"]:
    """Convert attention between tokens to attention between words (Clark et al. 2019, section 4.1).

    Attention to a word is the sum over its tokens, attention from it the mean.
    """
    to_words = np.add.reduceat(weights, [group[0] for group in key_groups], axis=-1)
    from_words = np.add.reduceat(to_words, [group[0] for group in query_groups], axis=-2)
    return from_words / np.array([len(group) for group in query_groups], weights.dtype)[:, None]


def leave_out(
    weights: Float[np.ndarray, "layer head query key"], query_hidden: Sequence[bool], key_hidden: Sequence[bool]
) -> Float[np.ndarray, "layer head shown_query shown_key"]:
    """Drop rows and columns and rescale each row to sum to 1; a row that attended to hidden tokens only becomes zeros."""
    shown = weights[..., ~np.array(query_hidden), :][..., ~np.array(key_hidden)]
    left = shown.sum(-1, keepdims=True)
    return np.divide(shown, left, out=np.zeros_like(shown), where=left > 0)


def mean_of_heads(weights: Float[np.ndarray, "layer head *axes"], heads: Sequence[tuple[int, int]]) -> Float[np.ndarray, "*axes"]:
    """Average heads, given as (layer, head) counted from 0, of which there is one or more."""
    if len(heads) == 1:
        return weights[heads[0]]
    return np.mean([weights[head] for head in heads], axis=0, dtype=np.float64).astype(weights.dtype)


def _special(encoding: Encoding, groups: Sequence[tuple[int, ...]]) -> tuple[bool, ...]:
    return tuple(encoding.special[group[0]] for group in groups)


def _word_labels(encoding: Encoding, groups: Sequence[tuple[int, ...]]) -> tuple[str, ...]:
    """Label words as they were typed, special tokens as they are."""
    words = [encoding.words[group[0]] for group in groups]
    typed = [None if word is None else encoding.word_texts[word] for word in words]
    return tuple(text or encoding.tokens[group[0]] for text, group in zip(typed, groups, strict=True))


def _without(labels: Sequence[Label], hidden: Sequence[bool]) -> tuple[Label, ...]:
    return tuple(label for label, gone in zip(labels, hidden, strict=True) if not gone)
