"""Attention rollout and attention flow: how much of each input token reaches a token in a higher layer (Abnar & Zuidema 2020).

Both average the heads and give half of the weight to the residual connection. Feed-forward layers, values and layer norms
are left out.
"""

import numpy as np
from jaxtyping import Float

from tx_core.errors import TextProblem

MAX_FLOW_EDGES = 12_000_000
"""The most edges that all the networks of one question may have together: some six seconds on one core."""
UNITS = 2_000_000_000
"""Parts of 1 in which capacities are counted: scipy computes maximum flow (Dinitz 1970) in whole numbers of 32 bits."""


def add_residual(weights: Float[np.ndarray, "layer head query key"]) -> Float[np.ndarray, "layer query key"]:
    """Average the heads and mix the result with the residual connection, half and half; rows sum to 1 (section 3).

    A query that attends to nothing keeps the residual connection alone.
    """
    mean = weights.mean(axis=1, dtype=np.float64)
    mixed = 0.5 * mean + 0.5 * np.eye(weights.shape[-1])
    return mixed / mixed.sum(axis=-1, keepdims=True)


def rollout(weights: Float[np.ndarray, "layer head query key"]) -> Float[np.ndarray, "layer query key"]:
    """Return attention rollout: the product of the attention maps up to each layer (equation 1); rows sum to 1."""
    mixed = add_residual(weights)
    reached = [mixed[0]]
    for layer in mixed[1:]:
        reached.append(layer @ reached[-1])
    return np.stack(reached)


def flow(weights: Float[np.ndarray, "layer head query key"], query: int) -> Float[np.ndarray, "layer key"]:
    """Return attention flow: the maximum flow from one token in each layer to every input token (section 3), 0 to 1.

    The capacity of each edge is its weight.

    Raises TextProblem if the networks would be too large.
    """
    layers, _, tokens, _ = weights.shape
    depths = layers * (layers + 1) // 2
    if depths * tokens**3 > MAX_FLOW_EDGES:
        most = int((MAX_FLOW_EDGES / depths) ** (1 / 3))
        raise TextProblem(
            f"Attention flow solves a network of up to {layers * tokens**2:,} edges for every token and layer. With {layers} "
            f"layers it is computed for at most {most:,} tokens, and this text has {tokens:,}: shorten it by "
            f"{tokens - most:,} tokens."
        )
    from scipy.sparse import csr_array  # here: it takes 40 MB, and few ask for flow
    from scipy.sparse.csgraph import maximum_flow

    capacities = np.zeros(((layers + 1) * tokens,) * 2, np.int32)  # node: layer * tokens + token, the input being layer 0
    for depth, mixed in enumerate(add_residual(weights)):
        capacities[(depth + 1) * tokens :, depth * tokens :][:tokens, :tokens] = np.rint(mixed * UNITS)
    network = csr_array(capacities)
    queries = [layer * tokens + query for layer in range(1, layers + 1)]
    found = np.array([[maximum_flow(network, upper, key).flow_value for key in range(tokens)] for upper in queries]) / UNITS
    return np.minimum(found, 1.0)  # capacities are rounded, and those of a token may add up to more
