"""Spread (entropy) and distance of attention, one number per query: pure functions of attention weights."""

import numpy as np
from jaxtyping import Float


def entropy(weights: Float[np.ndarray, "... query key"]) -> Float[np.ndarray, "... query"]:
    """Return the entropy of each row, in nats (Shannon 1948; for heads, Clark et al. 2019, section 3.3).

    0 = all attention on one key; log(keys) = even attention. A row of zeros has 0.
    """
    logs = np.log(np.where(weights > 0, weights, 1.0))
    return -(weights * logs).sum(axis=-1) + 0.0  # + 0.0: no minus zero


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
