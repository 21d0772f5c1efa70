"""Scaled dot-product attention: the one definition that everything here runs on.

The page that builds it step by step, our own transformer, and the pretrained models of the
transformers library (see hub.py) all call `attend`. Nothing is stored: the weights are returned.
"""

import math
from collections.abc import Callable
from typing import Literal, NamedTuple

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

Kind = Literal["self", "decoder", "cross"]
"""Within a text, within what a decoder reads, and from that to the text."""
Normalise = Callable[[Float[Tensor, "... query key"]], Float[Tensor, "... query key"]]
Weigh = Callable[[Float[Tensor, "... query key"], Bool[Tensor, "..."] | None, Normalise], Float[Tensor, "... query key"]]
"""What turns scores, mask and normaliser into weights: `attention_weights`, or an intervention in its place."""


class Attention(NamedTuple):
    """What one attention computed, from the scores to the mixed values.

    scores are those after scaling and bias, before the mask.
    """

    context: Float[Tensor, "... query value_dim"]
    weights: Float[Tensor, "... query key"]
    scores: Float[Tensor, "... query key"]


def softmax(scores: Float[Tensor, "... key"]) -> Float[Tensor, "... key"]:
    """Turn scores into positive shares that sum to 1."""
    return torch.softmax(scores, dim=-1)


def attention_scores(
    query: Float[Tensor, "... query head_dim"],
    key: Float[Tensor, "... key head_dim"],
    scale: float | None = None,
    bias: Float[Tensor, "..."] | None = None,
) -> Float[Tensor, "... query key"]:
    """Measure how well every query matches every key: QKᵀ × scale + bias.

    scale is 1/√head_dim unless given (Vaswani et al. 2017, equation 1).
    """
    scale = 1 / math.sqrt(query.shape[-1]) if scale is None else scale
    scores = query @ key.transpose(-1, -2) * scale
    return scores if bias is None else scores + bias


def attention_weights(
    scores: Float[Tensor, "... query key"],
    mask: Bool[Tensor, "..."] | None = None,
    normalise: Normalise = softmax,
) -> Float[Tensor, "... query key"]:
    """Share out each query's attention over the keys that it may attend to.

    A masked key gets exactly 0. A query that may attend nowhere gets zeros.
    """
    if mask is None:
        return normalise(scores)
    scores = scores.masked_fill(~mask, -torch.inf)
    nowhere = ~mask.any(dim=-1, keepdim=True)
    if not nowhere.any():
        return normalise(scores)
    # A row of nothing but −∞ would give NaN here and in the gradient, so it is emptied afterwards.
    return normalise(scores.masked_fill(nowhere, 0.0)).masked_fill(nowhere, 0.0)


def attend(
    query: Float[Tensor, "... query head_dim"],
    key: Float[Tensor, "... key head_dim"],
    value: Float[Tensor, "... key value_dim"],
    mask: Bool[Tensor, "..."] | None = None,
    *,
    scale: float | None = None,
    bias: Float[Tensor, "..."] | None = None,
    normalise: Normalise = softmax,
    weigh: Weigh = attention_weights,
    dropout: float = 0.0,
) -> Attention:
    """Mix the values by how well their keys match each query (Vaswani et al. 2017, section 3.2.1).

    mask: True = may attend, broadcast over the scores. bias is added to the scores (ALiBi, T5).
    normalise: scores to weights, masked scores being −∞. weigh: an intervention on the way from scores to weights
    (`interventions.weigh_at`); the scores handed back are those before it. dropout: the share of weights dropped while training.
    """
    scores = attention_scores(query, key, scale, bias)
    weights = weigh(scores, mask, normalise)
    mixing = nn.functional.dropout(weights, dropout) if dropout else weights
    return Attention(mixing @ value, weights, scores)


def split_heads(hidden: Float[Tensor, "batch token hidden"], heads: int) -> Float[Tensor, "batch head token head_dim"]:
    """Cut each token's vector into one piece a head."""
    batch, tokens, size = hidden.shape
    return hidden.view(batch, tokens, heads, size // heads).transpose(1, 2)


def merge_heads(context: Float[Tensor, "batch head token head_dim"]) -> Float[Tensor, "batch token hidden"]:
    """Put the pieces of all heads side by side again."""
    batch, heads, tokens, head_dim = context.shape
    return context.transpose(1, 2).reshape(batch, tokens, heads * head_dim)
