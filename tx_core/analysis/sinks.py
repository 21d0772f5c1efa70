"""Attention sinks: the tokens on which attention rests, and how little they pass on (Clark et al. 2019; Xiao et al. 2024)."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from tx_core.errors import TextProblem
from tx_core.transformer.trace import AttentionStack

NOTHING_BESIDE_SINKS = "This text has only tokens on which attention rests, and none that looks at them: type another word."


@dataclass(frozen=True)
class AttentionSinks:
    """How much attention rests on some tokens, and the vectors that are taken from them.

    positions: of these tokens: all special ones, or the first token of a text without any. shares: of the attention of the other
    tokens, the mean share on these. even: the same share if every token attended evenly to all that it may attend to.
    sink_lengths, other_lengths: mean length of the value vectors of these tokens, and of the others.
    """

    positions: tuple[int, ...]
    shares: Float[np.ndarray, "layer head"]
    even: float
    sink_lengths: Float[np.ndarray, "layer head"]
    other_lengths: Float[np.ndarray, "layer head"]


def attention_sinks(stack: AttentionStack) -> AttentionSinks:
    """Measure the attention on special tokens, or on the first token where there are none, and the values of both kinds.

    stack: self-attention of a run that kept "weights" and "value". Raises TextProblem if the text has no other token.
    """
    special = np.array(stack.key_tokens.special)
    sinks = special if special.any() else np.arange(len(special)) == 0
    if sinks.all():
        raise TextProblem(NOTHING_BESIDE_SINKS)
    reachable = (stack.weights.max(axis=(0, 1)) > 0)[~sinks]  # a causal model attends to no later token
    lengths = np.linalg.norm(stack.value.astype(np.float64), axis=-1)
    return AttentionSinks(
        tuple(np.flatnonzero(sinks).tolist()),
        stack.weights[..., sinks].sum(axis=-1, dtype=np.float64)[..., ~sinks].mean(axis=-1),
        float((reachable[:, sinks].sum(axis=-1) / reachable.sum(axis=-1)).mean()),
        lengths[..., sinks].mean(axis=-1),
        lengths[..., ~sinks].mean(axis=-1),
    )
