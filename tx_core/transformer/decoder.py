"""The decoder: each block looks back at its own words, then over at the source, then thinks for itself."""

from collections.abc import Collection
from typing import NamedTuple

from jaxtyping import Bool, Float
from torch import Tensor, nn

from tx_core.transformer.encoder import kept_parts
from tx_core.transformer.layers import FeedForward, LayerAttention, LayerNorm, MultiHeadAttention


class DecoderStep(NamedTuple):
    """What one decoder block hands back: the new vectors and what its two attentions computed."""

    hidden: Float[Tensor, "batch token hidden"]
    own: LayerAttention
    cross: LayerAttention


class DecoderBlock(nn.Module):
    """Self-attention, attention over the source, feed-forward (Vaswani et al. 2017, section 3.1).

    norm_first: norm before each part (pre-norm) instead of after it (post-norm, as in the paper).
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
        """Read `source`, the encoder's output. mask: over the own words; source_mask: over the source."""
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
    """The last vectors, and per layer what was kept of either attention: a mapping from part to tensor.

    hidden holds the input and the output of every block when it was asked for.
    """

    output: Float[Tensor, "batch token hidden"]
    layers: list[dict[str, Tensor]]
    cross_layers: list[dict[str, Tensor]]
    hidden: list[Float[Tensor, "batch token hidden"]]


class Decoder(nn.Module):
    """Decoder blocks in a row, all of them reading the same source."""

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
        """Run every block; keep names parts of `trace.PARTS`."""
        layers, cross_layers, states = [], [], [hidden]
        for block in self.blocks:
            hidden, own, cross = block(hidden, source, mask, source_mask)
            layers.append(kept_parts(own, keep))
            cross_layers.append(kept_parts(cross, keep))
            if "hidden" in keep:
                states.append(hidden)
        return DecoderRun(hidden, layers, cross_layers, states if "hidden" in keep else [])
