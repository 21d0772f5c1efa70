"""A stack of encoder blocks, run layer by layer, keeping what the caller asked for."""

from collections.abc import Collection, Sequence
from typing import NamedTuple

from jaxtyping import Bool, Float
from torch import Tensor, nn

from tx_core.transformer.interventions import Intervention, weigh_at
from tx_core.transformer.layers import EncoderBlock, LayerAttention


class EncoderRun(NamedTuple):
    """The last vectors, and per layer what was kept: a mapping from part to tensor.

    hidden holds the input and the output of every block when it was asked for.
    """

    output: Float[Tensor, "batch token hidden"]
    layers: list[dict[str, Tensor]]
    hidden: list[Float[Tensor, "batch token hidden"]]


def kept_parts(attention: LayerAttention, keep: Collection[str]) -> dict[str, Tensor]:
    """Pick the parts asked for out of what a layer computed."""
    return {part: getattr(attention, part) for part in LayerAttention._fields if part in keep}


class Encoder(nn.Module):
    """Blocks in a row, each reading what the one before wrote (Vaswani et al. 2017, section 3.1)."""

    def __init__(self, blocks: list[EncoderBlock]):
        super().__init__()
        self.blocks = nn.ModuleList(blocks)

    def forward(
        self,
        hidden: Float[Tensor, "batch token hidden"],
        mask: Bool[Tensor, "..."] | None = None,
        *,
        keep: Collection[str] = (),
        interventions: Sequence[Sequence[Intervention]] = (),
    ) -> EncoderRun:
        """Run every block.

        keep: names of `trace.PARTS`. interventions: those of each row of the batch; empty for none.
        """
        layers, states = [], [hidden]
        for number, block in enumerate(self.blocks):
            hidden, attention = block(hidden, mask, weigh=weigh_at(interventions, number))
            layers.append(kept_parts(attention, keep))
            if "hidden" in keep:
                states.append(hidden)
        return EncoderRun(hidden, layers, states if "hidden" in keep else [])
