"""A feed-forward layer of a BERT on a reader's sentence, its bend exchanged if wished, and as a convolution."""

import copy
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from tx_core.engine.bert_engine import BertEngine
from tx_core.lessons.blocks import TwoWays, compare_with_convolution
from tx_core.transformer.bert import Bert
from tx_core.transformer.cpu_tensors import memory
from tx_core.transformer.layers import ACTIVATION, FeedForward


@dataclass(frozen=True)
class FeedForwardRun:
    """A feed-forward layer step by step, and the same as a convolution of width 1.

    alone: the greatest difference of any number when every token is fed by itself.
    """

    widened: Float[Tensor, "token intermediate"]
    bent: Float[Tensor, "token intermediate"]
    both: TwoWays
    alone: float

    @property
    def below_zero(self) -> float:
        """The share of the widened numbers that the bend all but removes: those below zero."""
        return float((self.widened < 0).float().mean())

    @property
    def nbytes(self) -> int:
        """The memory of all tensors, in bytes."""
        return memory(self) + memory(self.both)


def feed_forward_run(engine: BertEngine, vectors: Float[Tensor, "token hidden"], layer: int, activation: str) -> FeedForwardRun:
    """Feed vectors to a layer of the model, its bend being any of `layers.ACTIVATION` (Vaswani et al. 2017, 3.3)."""

    def compute(model: Bert, device: str) -> FeedForwardRun:
        layer_here = with_activation(model.encoder.blocks[layer].feed_forward, activation)
        rows = vectors.to(device)
        widened = layer_here.widen(rows)
        both = compare_with_convolution(layer_here, rows[None])
        one_by_one = torch.cat([layer_here(row) for row in rows.split(1)])
        return FeedForwardRun(
            widened.cpu(),
            layer_here.activation(widened).cpu(),
            TwoWays(both.ours[0].cpu(), both.theirs[0].cpu()),
            float((one_by_one - both.ours[0]).abs().max()),
        )

    return engine.placement.run(compute)[0]


def with_activation(feed_forward: FeedForward, activation: str) -> FeedForward:
    """Give the same layer, on the same weights, with another bend; the layer itself is left as it is."""
    twin = copy.copy(feed_forward)
    twin.activation = ACTIVATION[activation]
    return twin
