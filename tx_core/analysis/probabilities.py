"""Probabilities from logits, in double precision: numbers that a page lists, ranks and multiplies."""

import numpy as np
from jaxtyping import Float, Int


def probabilities(logits: Float[np.ndarray, "... vocab"]) -> Float[np.ndarray, "... vocab"]:
    """Return the softmax of logits."""
    shares = logits.astype(np.float64)
    shares -= shares.max(axis=-1, keepdims=True)
    np.exp(shares, out=shares)
    shares /= shares.sum(axis=-1, keepdims=True)
    return shares


def log_probabilities(logits: Float[np.ndarray, "... vocab"]) -> Float[np.ndarray, "... vocab"]:
    """Return the natural logarithm of the softmax; it stays finite where the probability would underflow to 0."""
    logs = logits.astype(np.float64)
    logs -= logs.max(axis=-1, keepdims=True)
    return logs - np.log(np.exp(logs).sum(axis=-1, keepdims=True))


def largest(values: Float[np.ndarray, "... vocab"], count: int) -> Int[np.ndarray, "... rank"]:
    """Return the indices of the largest values, largest first; ties are in order of index."""
    found = np.sort(np.argpartition(-values, count - 1, axis=-1)[..., :count], axis=-1)
    order = np.argsort(-np.take_along_axis(values, found, axis=-1), axis=-1, kind="stable")
    return np.take_along_axis(found, order, axis=-1)


def rank_of(values: Float[np.ndarray, "vocab"], entry: int) -> int:
    """Return the rank of an entry among all values, counted from 1."""
    return int((values > values[entry]).sum()) + 1


def total_variation(one: Float[np.ndarray, "... vocab"], other: Float[np.ndarray, "vocab"]) -> Float[np.ndarray, "..."] | float:
    """Return the total variation distance of a distribution to others, 0 to 1 (Levin & Peres 2017, section 4.1)."""
    return np.abs(one - other).sum(axis=-1) / 2
