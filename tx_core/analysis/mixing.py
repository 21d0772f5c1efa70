"""What attention mixes into a token, with what it keeps of itself (Kobayashi et al. 2021)."""

import numpy as np
from jaxtyping import Float

from tx_core.engine.engine import head_parts
from tx_core.transformer.bert import Bert
from tx_core.transformer.trace import Trace


def mixed_in(model: Bert, trace: Trace) -> Float[np.ndarray, "layer query key"]:
    """Return how much of each token enters each other one in a layer: norms with residual and layer norm (Kobayashi et al. 2021).

    The vector that the layer norm after attention receives is a sum over the keys, the residual among that of the token itself.
    The norm centres, scales and divides it by one number for each query, so it can be applied to each summand (section 3).
    The biases of the output projection and the norm are left out: they come from no token.

    Args:
        model: A BERT with the layer norm behind its attention.
        trace: A run of it that kept "weights", "value" and "hidden".

    Raises:
        ValueError: If the run did not keep them.
    """
    stack = trace.attention
    if stack.weights is None or stack.value is None or trace.hidden is None:
        raise ValueError('the trace must keep "weights", "value" and "hidden"')
    found = []
    for layer, block in enumerate(model.encoder.blocks):
        weights, hidden = stack.weights[layer].astype(np.float64), trace.hidden[layer].astype(np.float64)
        projection = block.attention.output
        heads = head_parts(projection.weight.detach().cpu().numpy(), len(weights)).astype(np.float64)
        summands = np.einsum("hqk,hkd,hdo->qko", weights, stack.value[layer].astype(np.float64), heads, optimize=True)
        summands[np.arange(len(hidden)), np.arange(len(hidden))] += hidden
        received = summands.sum(axis=1) + projection.bias.detach().cpu().numpy()
        centred = summands - summands.mean(axis=-1, keepdims=True)
        spread = np.sqrt(received.var(axis=-1) + block.attention_norm.eps)
        scale = block.attention_norm.weight.detach().cpu().numpy()
        found.append(np.linalg.norm(centred * scale, axis=-1) / spread[:, None])
    return np.array(found)
