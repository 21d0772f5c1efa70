"""Value-weighted attention: the norms of the vectors that attention adds up (Kobayashi et al. 2020).

A head adds α f(x): f(x) is the value of the key's token after the head's part of the output projection. A large weight on a
token whose f(x) has a small norm adds little.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from tx_core.engine.engine import Engine
from tx_core.transformer.trace import AttentionStack


@dataclass(frozen=True)
class ValueWeighted:
    """Norms of the vectors that the heads of one layer add up.

    Attributes:
        values: ‖f(x)‖ of each key.
        mixed: ‖α f(x)‖ of each query and key, per head (section 3.2).
        together: ‖Σ α f(x)‖ over the heads, which may cancel each other (section 3.3).
    """

    values: Float[np.ndarray, "head key"]
    mixed: Float[np.ndarray, "head query key"]
    together: Float[np.ndarray, "query key"]


def value_weighted(engine: Engine, stack: AttentionStack, layer: int) -> ValueWeighted:
    """Compute value-weighted attention in one layer, counted from 0.

    Args:
        engine: The engine of the run.
        stack: The first stack of a run that kept "weights" and "value".
        layer: The layer.

    Raises:
        ValueError: If the run did not keep them.
        ModelUnavailable: If the output projections of the model are not known.
    """
    if stack.weights is None or stack.value is None:
        raise ValueError('the trace must keep "weights" and "value"')
    weights = stack.weights[layer].astype(np.float64)
    brought = stack.value[layer].astype(np.float64) @ engine.output_projection(layer)
    # ‖Σ αₕ fₕ‖² is computed from the products of pairs of heads, since a vector for every query and key would fill the memory.
    products = np.einsum("hko,jko->khj", brought, brought, optimize=True)
    squares = np.einsum("hqk,khj,jqk->qk", weights, products, weights, optimize=True)
    values = np.linalg.norm(brought, axis=-1)
    return ValueWeighted(values, weights * values[:, None], np.sqrt(np.clip(squares, 0, None)))


def row_shares(lengths: Float[np.ndarray, "... query key"]) -> Float[np.ndarray, "... query key"]:
    """Scale each row to sum to 1, for comparison with attention weights; a row of zeros stays."""
    total = lengths.sum(axis=-1, keepdims=True)
    return lengths / np.where(total > 0, total, 1)


def total_shares(lengths: Float[np.ndarray, "... query key"]) -> Float[np.ndarray, "... key"]:
    """Return each key's share of the lengths of all rows together; zeros where every length is 0.

    Unlike the mean of `row_shares`, this weights each row by its total length.
    """
    summed = lengths.sum(axis=-2)
    total = summed.sum(axis=-1, keepdims=True)
    return summed / np.where(total > 0, total, 1)
