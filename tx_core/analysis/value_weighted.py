"""Value-weighted attention: the norms of the vectors that attention adds up (Kobayashi et al. 2020, 2021).

A head adds α f(x): f(x) is the value of the key's token after the head's part of the output projection. A large weight on a
token whose f(x) has a small norm adds little. `value_weighted` measures each head, `mixed_in` a layer with its residual.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from tx_core.engine.engine import Engine
from tx_core.transformer.trace import AttentionStack, Trace


@dataclass(frozen=True)
class ValueWeighted:
    """Norms of the vectors that the heads of one layer add up.

    values: ‖f(x)‖ of each key. mixed: ‖α f(x)‖ of each query and key, per head (section 3.2). together: ‖Σ α f(x)‖ over the
    heads, which may cancel each other (section 3.3).
    """

    values: Float[np.ndarray, "head key"]
    mixed: Float[np.ndarray, "head query key"]
    together: Float[np.ndarray, "query key"]


def value_weighted(engine: Engine, stack: AttentionStack, layer: int) -> ValueWeighted:
    """Compute value-weighted attention in one layer, counted from 0.

    stack: the first stack of a run that kept "weights" and "value". Raises ModelUnavailable if the output projections of the
    model are not known.
    """
    weights, brought = _weights_and_brought(engine, stack, layer)
    # ‖Σ αₕ fₕ‖² is computed from the products of pairs of heads, since a vector for every query and key would fill the memory.
    products = np.einsum("hko,jko->khj", brought, brought, optimize=True)
    squares = np.einsum("hqk,khj,jqk->qk", weights, products, weights, optimize=True)
    values = np.linalg.norm(brought, axis=-1)
    return ValueWeighted(values, weights * values[:, None], np.sqrt(np.clip(squares, 0, None)))


def _weights_and_brought(
    engine: Engine, stack: AttentionStack, layer: int
) -> tuple[Float[np.ndarray, "head query key"], Float[np.ndarray, "head key hidden"]]:
    """Return the weights of a layer, and f(x) of each key."""
    return stack.weights[layer].astype(np.float64), stack.value[layer].astype(np.float64) @ engine.output_projection(layer)


def mixed_in(engine: Engine, trace: Trace) -> Float[np.ndarray, "layer query key"]:
    """Return how much of each token enters each other one in a layer: norms with residual and layer norm (Kobayashi et al. 2021).

    The vector that the layer norm after attention receives is a sum over the keys, the residual among that of the token itself.
    The norm centres, scales and divides it by one number for each query, so it can be applied to each summand (section 3).
    The biases of the output projection and the norm are left out: they come from no token.

    engine: one whose model is our own BERT, with the layer norm behind its attention. trace: a run of it that kept "weights",
    "value" and "hidden".
    """
    found = []
    for layer, block in enumerate(engine.model.encoder.blocks):
        weights, brought = _weights_and_brought(engine, trace.attention, layer)
        hidden, norm = trace.hidden[layer].astype(np.float64), block.attention_norm
        summands = np.einsum("hqk,hko->qko", weights, brought, optimize=True)
        summands[np.arange(len(hidden)), np.arange(len(hidden))] += hidden
        received = summands.sum(axis=1) + block.attention.output.bias.detach().cpu().numpy()
        centred = summands - summands.mean(axis=-1, keepdims=True)
        spread = np.sqrt(received.var(axis=-1) + norm.eps)
        found.append(np.linalg.norm(centred * norm.weight.detach().cpu().numpy(), axis=-1) / spread[:, None])
    return np.array(found)


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
