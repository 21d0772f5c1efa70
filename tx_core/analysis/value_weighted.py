"""What attention adds, not only how it is shared out: the lengths of the vectors that are mixed (Kobayashi et al. 2020).

A head mixes α f(x): f(x) is the looked-at token's value behind the head's part of the output projection. A great
weight on a token whose f(x) is short adds little.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from tx_core.engine.engine import Engine
from tx_core.transformer.trace import AttentionStack


@dataclass(frozen=True)
class ValueWeighted:
    """The lengths of what the heads of one layer mix.

    values: ‖f(x)‖ of each looked-at token. mixed: ‖α f(x)‖ for each link of each head (section 3.2).
    together: ‖Σ α f(x)‖ over the heads, which may cancel each other (section 3.3).
    """

    values: Float[np.ndarray, "head key"]
    mixed: Float[np.ndarray, "head query key"]
    together: Float[np.ndarray, "query key"]

    @property
    def nbytes(self) -> int:
        """The memory of all arrays, in bytes."""
        return self.values.nbytes + self.mixed.nbytes + self.together.nbytes


def value_weighted(engine: Engine, stack: AttentionStack, layer: int) -> ValueWeighted:
    """Weigh each link in one layer of a run by the vector that it brings; the layer is counted from 0.

    stack: the first of a run of the same engine that kept "weights" and "value"; ValueError without them.
    Raises ModelUnavailable for a model whose output projections are not known here.
    """
    if stack.weights is None or stack.value is None:
        raise ValueError('the trace must keep "weights" and "value"')
    weights = stack.weights[layer].astype(np.float64)
    brought = stack.value[layer].astype(np.float64) @ engine.output_projection(layer)
    # ‖Σ αₕ fₕ‖² is a sum over pairs of heads: their products are few, while a vector for every link would fill the memory.
    products = np.einsum("hko,jko->khj", brought, brought, optimize=True)
    squares = np.einsum("hqk,khj,jqk->qk", weights, products, weights, optimize=True)
    values = np.linalg.norm(brought, axis=-1)
    return ValueWeighted(values, weights * values[:, None], np.sqrt(np.clip(squares, 0, None)))


def row_shares(lengths: Float[np.ndarray, "... query key"]) -> Float[np.ndarray, "... query key"]:
    """Scale each row to sum to 1, so that lengths can stand beside weights; a row of zeros stays."""
    total = lengths.sum(axis=-1, keepdims=True)
    return lengths / np.where(total > 0, total, 1)
