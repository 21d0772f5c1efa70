"""Probabilities from logits, in double precision: numbers that a page lists, ranks and multiplies."""

import math

import numpy as np
from jaxtyping import Float, Int, Shaped

NORMAL_97_5 = 1.959964
"""The 97.5th percentile of the normal distribution."""
BOOTSTRAP_RESAMPLES = 2000


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


def wilson_interval(share: float, total: int) -> tuple[float, float]:
    """Return the 95 % confidence interval of a share of `total` cases (Wilson 1927)."""
    z, middle = NORMAL_97_5, share + NORMAL_97_5**2 / (2 * total)
    reach, size = z * math.sqrt(share * (1 - share) / total + z**2 / (4 * total**2)), 1 + z**2 / total
    # Rounding alone puts the ends of shares of 0 and 1 beyond them, and 0 would be written as -0.
    return max(0.0, (middle - reach) / size), min(1.0, (middle + reach) / size)


def bootstrap_interval(
    sums: Float[np.ndarray, "case measure"], sizes: Shaped[np.ndarray, "case"]
) -> Float[np.ndarray, "end measure"]:
    """Return the 95 % interval of means over cases drawn again (Efron & Tibshirani 1993, section 13.3).

    sums: over what each case has, such as the words of a sentence; sizes: how many these are.
    """
    count = len(sizes)
    drawn = np.random.default_rng(0).multinomial(count, np.full(count, 1 / count), size=BOOTSTRAP_RESAMPLES)
    return np.quantile((drawn @ sums) / (drawn @ sizes)[:, None], [0.025, 0.975], axis=0)


def total_variation(one: Float[np.ndarray, "... vocab"], other: Float[np.ndarray, "vocab"]) -> Float[np.ndarray, "..."] | float:
    """Return the total variation distance of a distribution to others, 0 to 1 (Levin & Peres 2017, section 4.1)."""
    return np.abs(one - other).sum(axis=-1) / 2
