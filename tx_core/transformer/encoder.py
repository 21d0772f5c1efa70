"""The encoder: a stack of blocks that keeps the parts of each layer which the caller names."""

from collections.abc import Collection, Sequence
from typing import NamedTuple

from jaxtyping import Bool, Float
from torch import Tensor, nn

from tx_core.transformer.interventions import Intervention, weigh_at
from tx_core.transformer.layers import EncoderBlock, LayerAttention


class EncoderRun(NamedTuple):
    """The result of a stack of encoder blocks.

    Attributes:
        output: the vectors after the last block.
        layers: for each layer, the parts that were kept, by name.
        hidden: the input and the output of every block, where "hidden" was kept; else empty.
    """

    output: Float[Tensor, "batch token hidden"]
    layers: list[dict[str, Tensor]]
    hidden: list[Float[Tensor, "batch token hidden"]]


def select_parts(attention: LayerAttention, keep: Collection[str]) -> dict[str, Tensor]:
    """Select the parts of a layer's attention that are to be kept."""
    return {part: getattr(attention, part) for part in LayerAttention._fields if part in keep}


class Encoder(nn.Module):
    """A stack of encoder blocks, each reading the output of the one before (Vaswani et al. 2017, section 3.1)."""

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

        keep: the parts to keep, see `trace.PARTS`. interventions: those of each row of the batch; empty for none.
        """
        layers, states = [], [hidden]
        for number, block in enumerate(self.blocks):
            hidden, attention = block(hidden, mask, weigh=weigh_at(interventions, number))
            layers.append(select_parts(attention, keep))
            if "hidden" in keep:
                states.append(hidden)
        return EncoderRun(hidden, layers, states if "hidden" in keep else [])
