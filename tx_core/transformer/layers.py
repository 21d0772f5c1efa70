"""The encoder: activations, layer norm, feed-forward and multi-head attention, a block of them, and the stack of blocks."""

import math
from collections.abc import Callable, Collection, Sequence
from typing import NamedTuple

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from tx_core.transformer.attention import Normalise, Weigh, attend, attention_weights, merge_heads, softmax, split_heads
from tx_core.transformer.changed_weights import weigh_at
from tx_core.transformer.interventions import Intervention


def gelu(x: Float[Tensor, "..."]) -> Float[Tensor, "..."]:
    """Multiply x by the standard normal distribution function at x (Hendrycks & Gimpel 2016)."""
    return x * 0.5 * (1 + torch.erf(x / math.sqrt(2)))


def gelu_new(x: Float[Tensor, "..."]) -> Float[Tensor, "..."]:
    """Approximate `gelu` by tanh, as GPT-2 and some BERTs do."""
    return 0.5 * x * (1 + torch.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))


ACTIVATION: dict[str, Callable[[Tensor], Tensor]] = {"gelu": gelu, "gelu_new": gelu_new, "relu": torch.relu}


def layer_norm(
    x: Float[Tensor, "... hidden"], weight: Float[Tensor, "hidden"], bias: Float[Tensor, "hidden"], eps: float
) -> Float[Tensor, "... hidden"]:
    """Normalise each token's vector to mean 0 and variance 1, then apply a learned scale and shift (Ba et al. 2016)."""
    centred = x - x.mean(dim=-1, keepdim=True)
    variance = centred.pow(2).mean(dim=-1, keepdim=True)
    return centred * torch.rsqrt(variance + eps) * weight + bias


class LayerNorm(nn.Module):
    """`layer_norm` with its learned weight and bias."""

    def __init__(self, hidden_size: int, eps: float = 1e-12):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(hidden_size))
        self.bias = nn.Parameter(torch.zeros(hidden_size))
        self.eps = eps

    def forward(self, x: Float[Tensor, "... hidden"]) -> Float[Tensor, "... hidden"]:
        return layer_norm(x, self.weight, self.bias, self.eps)


class FeedForward(nn.Module):
    """Up projection, activation and down projection of each token's vector (Vaswani et al. 2017, section 3.3)."""

    def __init__(self, hidden_size: int, intermediate_size: int, activation: str = "gelu"):
        super().__init__()
        self.up = nn.Linear(hidden_size, intermediate_size)
        self.down = nn.Linear(intermediate_size, hidden_size)
        self.activation = ACTIVATION[activation]

    def forward(self, x: Float[Tensor, "... hidden"]) -> Float[Tensor, "... hidden"]:
        return self.down(self.activation(self.up(x)))


class LayerAttention(NamedTuple):
    """The output and all intermediate results of one layer's attention.

    Attributes:
        output: the result of the output projection, before residual connection and layer norm.
        query, key, value: the projections of each head.
        scores: scores after scaling and bias, before mask and intervention.
        weights: attention weights.
        context: the sum of each head's values, weighted by `weights`.
    """

    output: Float[Tensor, "batch query hidden"]
    query: Float[Tensor, "batch head query head_dim"]
    key: Float[Tensor, "batch head key head_dim"]
    value: Float[Tensor, "batch head key head_dim"]
    scores: Float[Tensor, "batch head query key"]
    weights: Float[Tensor, "batch head query key"]
    context: Float[Tensor, "batch head query head_dim"]


class MultiHeadAttention(nn.Module):
    """Several attentions in parallel, each on its own projections (Vaswani et al. 2017, section 3.2.2)."""

    def __init__(self, hidden_size: int, num_heads: int, dropout: float = 0.0):
        super().__init__()
        self.num_heads = num_heads
        self.query = nn.Linear(hidden_size, hidden_size)
        self.key = nn.Linear(hidden_size, hidden_size)
        self.value = nn.Linear(hidden_size, hidden_size)
        self.output = nn.Linear(hidden_size, hidden_size)
        self.dropout = dropout

    def forward(
        self,
        hidden: Float[Tensor, "batch query hidden"],
        source: Float[Tensor, "batch key hidden"] | None = None,
        mask: Bool[Tensor, "..."] | None = None,
        *,
        bias: Float[Tensor, "..."] | None = None,
        normalise: Normalise = softmax,
        weigh: Weigh = attention_weights,
    ) -> LayerAttention:
        """Attend from `hidden` to `source`, or to `hidden` itself without a source. For the rest see `attention.attend`."""
        source = hidden if source is None else source
        query = split_heads(self.query(hidden), self.num_heads)
        key = split_heads(self.key(source), self.num_heads)
        value = split_heads(self.value(source), self.num_heads)
        dropout = self.dropout if self.training else 0.0
        context, weights, scores = attend(query, key, value, mask, bias=bias, normalise=normalise, weigh=weigh, dropout=dropout)
        return LayerAttention(self.output(merge_heads(context)), query, key, value, scores, weights, context)


class EncoderBlock(nn.Module):
    """Self-attention, then feed-forward, each with a residual connection and a layer norm.

    norm_first: normalise before each sublayer (pre-norm, Xiong et al. 2020) instead of after it (post-norm, as BERT does).
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
        self.feed_forward = FeedForward(hidden_size, intermediate_size, activation)
        self.feed_forward_norm = LayerNorm(hidden_size, eps)
        self.dropout = nn.Dropout(dropout)
        self.norm_first = norm_first

    def forward(
        self,
        hidden: Float[Tensor, "batch token hidden"],
        mask: Bool[Tensor, "..."] | None = None,
        *,
        weigh: Weigh = attention_weights,
    ) -> tuple[Float[Tensor, "batch token hidden"], LayerAttention]:
        """Return the new vectors and the results of the attention."""
        if self.norm_first:
            attention = self.attention(self.attention_norm(hidden), mask=mask, weigh=weigh)
            hidden = hidden + self.dropout(attention.output)
            return hidden + self.dropout(self.feed_forward(self.feed_forward_norm(hidden))), attention
        attention = self.attention(hidden, mask=mask, weigh=weigh)
        hidden = self.attention_norm(hidden + self.dropout(attention.output))
        return self.feed_forward_norm(hidden + self.dropout(self.feed_forward(hidden))), attention


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

        keep: the parts to keep, see `trace.ALL_PARTS`. interventions: those of each row of the batch; empty for none.
        """
        layers, states = [], [hidden]
        for number, block in enumerate(self.blocks):
            hidden, attention = block(hidden, mask, weigh=weigh_at(interventions, number))
            layers.append(select_parts(attention, keep))
            if "hidden" in keep:
                states.append(hidden)
        return EncoderRun(hidden, layers, states if "hidden" in keep else [])
