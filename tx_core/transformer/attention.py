"""Scaled dot-product attention, its masks and its normalisers: the one definition that everything here runs on.

The page that builds it step by step, our own transformer, and the pretrained models of the transformers library
(see engine/hub) all call `attend`. It stores nothing: the weights are returned. Masks are boolean, True where a query may
attend to a key, as in PyTorch: they broadcast, so that they combine with `&`, and `attend` turns them into −∞ in one place.
"""

import math
from collections.abc import Callable, Sequence
from functools import reduce
from typing import NamedTuple

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

Normalise = Callable[[Float[Tensor, "... query key"]], Float[Tensor, "... query key"]]
Weigh = Callable[[Float[Tensor, "... query key"], Bool[Tensor, "..."] | None, Normalise], Float[Tensor, "... query key"]]
"""A function of scores, mask and normaliser that returns weights: `attention_weights`, or one with interventions."""


class Attention(NamedTuple):
    """The result of one attention.

    weights: each row sums to 1, or to 0 where a query may attend nowhere. scores: after scaling and bias, before the mask.
    """

    context: Float[Tensor, "... query value_dim"]
    weights: Float[Tensor, "... query key"]
    scores: Float[Tensor, "... query key"]


def softmax(scores: Float[Tensor, "... key"]) -> Float[Tensor, "... key"]:
    """Return the softmax of scores over the keys: positive weights that sum to 1."""
    return torch.softmax(scores, dim=-1)


def attention_scores(
    query: Float[Tensor, "... query head_dim"],
    key: Float[Tensor, "... key head_dim"],
    scale: float | None = None,
    bias: Float[Tensor, "..."] | None = None,
) -> Float[Tensor, "... query key"]:
    """Return the score of every query and key: QKᵀ × scale + bias (Vaswani et al. 2017, equation 1).

    scale: 1/√head_dim by default.
    """
    scale = 1 / math.sqrt(query.shape[-1]) if scale is None else scale
    scores = query @ key.transpose(-1, -2) * scale
    return scores if bias is None else scores + bias


def attention_weights(
    scores: Float[Tensor, "... query key"],
    mask: Bool[Tensor, "..."] | None = None,
    normalise: Normalise = softmax,
) -> Float[Tensor, "... query key"]:
    """Normalise each query's scores over the keys that it may attend to.

    A masked key gets a weight of exactly 0. A query that may attend nowhere gets zeros.
    """
    if mask is None:
        return normalise(scores)
    scores = scores.masked_fill(~mask, -torch.inf)
    nowhere = ~mask.any(dim=-1, keepdim=True)
    if nowhere.device.type == "cpu" and not nowhere.any():  # on a graphics card, reading it would synchronise every layer
        return normalise(scores)
    # A row of −∞ alone would give NaN here and in the gradient, so its scores are set to 0 and its weights zeroed afterwards.
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
    """Average the values, weighted by how well their keys match each query (Vaswani et al. 2017, section 3.2.1).

    Args:
        mask: True = may attend; broadcast over the scores.
        scale: the factor of the scores, 1/√head_dim by default.
        bias: added to the scores (ALiBi, T5).
        normalise: turns scores into weights; masked scores are −∞.
        weigh: replaces `attention_weights`, for an intervention (`changed_run.weigh_at`).
        dropout: the share of weights dropped from the average, for training.

    Returns:
        Context, weights without dropout, and scores before mask and intervention.
    """
    scores = attention_scores(query, key, scale, bias)
    weights = weigh(scores, mask, normalise)
    mixing = nn.functional.dropout(weights, dropout) if dropout else weights
    return Attention(mixing @ value, weights, scores)


def split_heads(hidden: Float[Tensor, "batch token hidden"], heads: int) -> Float[Tensor, "batch head token head_dim"]:
    """Split each token's vector into one vector per head."""
    batch, tokens, size = hidden.shape
    return hidden.view(batch, tokens, heads, size // heads).transpose(1, 2)


def merge_heads(context: Float[Tensor, "batch head token head_dim"]) -> Float[Tensor, "batch token hidden"]:
    """Concatenate the vectors of all heads."""
    batch, heads, tokens, head_dim = context.shape
    return context.transpose(1, 2).reshape(batch, tokens, heads * head_dim)


def padding_mask(lengths: Sequence[int], tokens: int | None = None) -> Bool[Tensor, "batch 1 1 key"]:
    """Return a mask of the padding after each sentence of a batch; True = a token of the sentence.

    lengths: the number of tokens of each sentence. tokens: the padded length, by default that of the longest sentence.
    """
    key = torch.arange(max(lengths) if tokens is None else tokens)
    return (key[None, :] < torch.tensor(list(lengths))[:, None])[:, None, None, :]


def causal_mask(tokens: int) -> Bool[Tensor, "query key"]:
    """Return a mask that allows each token itself and earlier tokens (Vaswani et al. 2017, section 3.2.3)."""
    return torch.ones(tokens, tokens, dtype=torch.bool).tril()


def window_mask(tokens: int, width: int) -> Bool[Tensor, "query key"]:
    """Return a mask that allows each token itself and `width` neighbours on either side (Beltagy et al. 2020, section 3.1)."""
    position = torch.arange(tokens)
    return (position[:, None] - position[None, :]).abs() <= width


def combine(*masks: Bool[Tensor, "..."] | None) -> Bool[Tensor, "..."] | None:
    """Return the intersection of masks; None allows every key."""
    present = [mask for mask in masks if mask is not None]
    return reduce(torch.logical_and, present) if present else None


def hardmax(scores: Float[Tensor, "... key"]) -> Float[Tensor, "... key"]:
    """Return weight 1 for the highest score (the first if tied) and 0 elsewhere.

    The hard attention of Xu et al. 2015, section 4.1, draws a key from the softmax instead.
    """
    best = scores.argmax(dim=-1, keepdim=True)
    return torch.zeros_like(scores).scatter(-1, best, 1.0)


def sparsemax(scores: Float[Tensor, "... key"]) -> Float[Tensor, "... key"]:
    """Return the projection of scores onto the simplex: sparse weights that sum to 1 (Martins & Astudillo 2016, algorithm 1)."""
    # Subtracting a constant from all scores changes no weight; near 0 the sums below have the least rounding error.
    scores = scores - scores.amax(dim=-1, keepdim=True).detach()
    ordered = scores.sort(dim=-1, descending=True).values
    sums = ordered.cumsum(dim=-1)
    rank = torch.arange(1, scores.shape[-1] + 1, dtype=scores.dtype, device=scores.device)
    supported = (1 + rank * ordered > sums).sum(dim=-1, keepdim=True)
    threshold = (sums.gather(-1, supported - 1) - 1) / supported
    return (scores - threshold).clamp(min=0)


def with_temperature(normalise: Normalise, temperature: float) -> Normalise:
    """Return `normalise` of the scores divided by a temperature: sharper below 1, flatter above 1."""
    return lambda scores: normalise(scores / temperature)


def support(weights: Float[Tensor, "... key"]) -> Int[Tensor, "..."]:
    """Count the keys with a weight above 0 (the L0 norm of each row)."""
    return (weights != 0).sum(dim=-1)


NORMALISE: dict[str, Normalise] = {"softmax": softmax, "sparsemax": sparsemax, "hardmax": hardmax}
