"""How widely and how far a head looks: pure functions of weights, one number for each looking token."""

import numpy as np
from jaxtyping import Float


def entropy(weights: Float[np.ndarray, "... query key"]) -> Float[np.ndarray, "... query"]:
    """Measure how widely each token spreads its attention, in nats (Shannon 1948; Clark et al. 2019, section 3.3).

    0 = all on one token; log of the number of keys = the same to all. A query that attends nowhere has 0.
    """
    logs = np.log(np.where(weights > 0, weights, 1.0))
    return -(weights * logs).sum(axis=-1) + 0.0  # + 0.0: no minus zero


def normalised_entropy(weights: Float[np.ndarray, "... query key"]) -> Float[np.ndarray, "... query"]:
    """Measure the spread on a scale that texts of any length share: 0 = all on one token, 1 = the same to all.

    A lone key leaves nothing to choose: 0.
    """
    keys = weights.shape[-1]
    return entropy(weights) / np.log(keys) if keys > 1 else entropy(weights)


def mean_distance(weights: Float[np.ndarray, "... query key"]) -> Float[np.ndarray, "... query"]:
    """Measure how far each token looks on average, in tokens (Vig & Belinkov 2019, section 4.3).

    Both axes must be the tokens of one text. A query that attends nowhere has 0.
    """
    queries, keys = weights.shape[-2:]
    apart = np.abs(np.arange(queries)[:, None] - np.arange(keys)).astype(weights.dtype)
    return np.einsum("...qk,qk->...q", weights, apart)


def uniform_distance(tokens: int) -> float:
    """Tell how far a head looks on average that looks at all tokens alike, to hold others against."""
    return (tokens**2 - 1) / (3 * tokens)
