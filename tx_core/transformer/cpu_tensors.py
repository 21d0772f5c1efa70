"""A model's numbers in ordinary memory, as a reader multiplies them, and how much of it a record takes."""

import copy
from typing import NamedTuple

from jaxtyping import Float
from torch import Tensor, nn

from tx_core.transformer.layers import LayerNorm


def memory(record: object) -> int:
    """Count the bytes of a record's tensors."""
    return sum(part.nbytes for part in vars(record).values() if isinstance(part, Tensor))


def on_cpu(norm: LayerNorm) -> LayerNorm:
    """Give a norm with its numbers in ordinary memory; one that is elsewhere is left there."""
    return norm if norm.weight.device.type == "cpu" else copy.deepcopy(norm).cpu()


class Affine(NamedTuple):
    """A linear layer's numbers as a reader multiplies them: x · matrix + bias."""

    matrix: Float[Tensor, "into out"]
    bias: Float[Tensor, "out"]


def matrix_and_bias(linear: nn.Linear) -> Affine:
    """Give a layer's matrix, a column for each number that comes out, and its bias, in ordinary memory."""
    return Affine(linear.weight.detach().cpu().T, linear.bias.detach().cpu())
