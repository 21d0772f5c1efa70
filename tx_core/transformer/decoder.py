"""The decoder: blocks of causal self-attention, cross-attention to the source, and feed-forward."""

from collections.abc import Collection
from typing import NamedTuple

from jaxtyping import Bool, Float
from torch import Tensor, nn

from tx_core.transformer.encoder import select_parts
from tx_core.transformer.layers import FeedForward, LayerAttention, LayerNorm, MultiHeadAttention


class DecoderStep(NamedTuple):
    """The result of one decoder block.

    Attributes:
        hidden: the new vectors.
        own: what the self-attention computed.
        cross: what the cross-attention computed.
    """

    hidden: Float[Tensor, "batch token hidden"]
    own: LayerAttention
    cross: LayerAttention


class DecoderBlock(nn.Module):
    """Self-attention, attention over the source, feed-forward (Vaswani et al. 2017, section 3.1).

    norm_first: normalise before each sublayer (pre-norm) instead of after it (post-norm, as in the paper).
    """

    def __init__(
        self,
        hidden_size: int,
        num_heads: int,
        intermediate_size: int,
        *,
        activation: str = "gelu",
        eps: float = 1e-12,
        dropout: float = 0.0,
        norm_first: bool = False,
    ):
        super().__init__()
        self.attention = MultiHeadAttention(hidden_size, num_heads, dropout)
        self.attention_norm = LayerNorm(hidden_size, eps)
        self.cross_attention = MultiHeadAttention(hidden_size, num_heads, dropout)
        self.cross_attention_norm = LayerNorm(hidden_size, eps)
        self.feed_forward = FeedForward(hidden_size, intermediate_size, activation)
        self.feed_forward_norm = LayerNorm(hidden_size, eps)
        self.dropout = nn.Dropout(dropout)
        self.norm_first = norm_first

    def forward(
        self,
        hidden: Float[Tensor, "batch token hidden"],
        source: Float[Tensor, "batch source_token hidden"],
        mask: Bool[Tensor, "..."] | None = None,
        source_mask: Bool[Tensor, "..."] | None = None,
    ) -> DecoderStep:
        """Run the block.

        source: the encoder's output. mask: for the self-attention. source_mask: for the cross-attention.
        """
        if self.norm_first:
            own = self.attention(self.attention_norm(hidden), mask=mask)
            hidden = hidden + self.dropout(own.output)
            cross = self.cross_attention(self.cross_attention_norm(hidden), source, source_mask)
            hidden = hidden + self.dropout(cross.output)
            return DecoderStep(hidden + self.dropout(self.feed_forward(self.feed_forward_norm(hidden))), own, cross)
        own = self.attention(hidden, mask=mask)
        hidden = self.attention_norm(hidden + self.dropout(own.output))
        cross = self.cross_attention(hidden, source, source_mask)
        hidden = self.cross_attention_norm(hidden + self.dropout(cross.output))
        return DecoderStep(self.feed_forward_norm(hidden + self.dropout(self.feed_forward(hidden))), own, cross)


class DecoderRun(NamedTuple):
    """The result of a stack of decoder blocks.

    Attributes:
        output: the vectors after the last block.
        layers: for each layer, the parts of its self-attention that were kept, by name.
        cross_layers: the same of its cross-attention.
        hidden: the input and the output of every block, where "hidden" was kept; else empty.
    """

    output: Float[Tensor, "batch token hidden"]
    layers: list[dict[str, Tensor]]
    cross_layers: list[dict[str, Tensor]]
    hidden: list[Float[Tensor, "batch token hidden"]]


class Decoder(nn.Module):
    """A stack of decoder blocks that all attend to the same source."""

    def __init__(self, blocks: list[DecoderBlock]):
        super().__init__()
        self.blocks = nn.ModuleList(blocks)

    def forward(
        self,
        hidden: Float[Tensor, "batch token hidden"],
        source: Float[Tensor, "batch source_token hidden"],
        mask: Bool[Tensor, "..."] | None = None,
        source_mask: Bool[Tensor, "..."] | None = None,
        *,
        keep: Collection[str] = (),
    ) -> DecoderRun:
        """Run every block. keep: the parts to keep, see `trace.PARTS`."""
        layers, cross_layers, states = [], [], [hidden]
        for block in self.blocks:
            hidden, own, cross = block(hidden, source, mask, source_mask)
            layers.append(select_parts(own, keep))
            cross_layers.append(select_parts(cross, keep))
            if "hidden" in keep:
                states.append(hidden)
        return DecoderRun(hidden, layers, cross_layers, states if "hidden" in keep else [])
