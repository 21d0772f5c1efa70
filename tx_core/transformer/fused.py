"""Faster training, where nothing of a run is looked at but its loss: `fused_forward` for a BERT, `causal_forward` for a causal
language model, and `fused_loss` for both.

Tests hold both equal to the runs that keep what they compute, `bert.Bert` and `causal_lm.CausalLM`.
"""

import math
from collections.abc import Iterator
from typing import Any

import torch
import torch.nn.functional as functional
from jaxtyping import Bool, Float, Int
from torch import Tensor

from tx_core.transformer.attention import attend, merge_heads
from tx_core.transformer.bert import Bert
from tx_core.transformer.causal_lm import CausalLM
from tx_core.transformer.layers import PAD_MULTIPLE, MultiHeadAttention, linear
from tx_core.transformer.positions import rotate


def fused_forward(
    model: Bert,
    ids: Int[Tensor, "batch token"],
    segments: Int[Tensor, "batch token"],
    mask: Bool[Tensor, "batch 1 1 key"] | None,
) -> Float[Tensor, "batch token hidden"]:
    """Return the last hidden states; mask: True = may be attended to, at least one key per row."""
    hidden = model.embeddings(ids, segments)
    for block in model.encoder.blocks:
        attention = block.attention
        context = _mixed(*in_heads_together(attention, hidden), mask, attention.dropout if block.training else 0.0)
        hidden = block.after_attention(hidden, linear(attention.output, merge_heads(context)))
    return hidden


def in_heads_together(
    attention: MultiHeadAttention, hidden: Float[Tensor, "batch token hidden"]
) -> tuple[Float[Tensor, "batch head token head_dim"], ...]:
    """Compute query, key and value of every head in one product, which rounds the vectors to bfloat16 once, not three times."""
    parts = (attention.query, attention.key, attention.value)
    weight, bias = (torch.cat([getattr(part, name) for part in parts]) for name in ("weight", "bias"))
    projected = functional.linear(hidden, weight, bias).unflatten(-1, (len(parts), attention.num_heads, -1))
    return projected.permute(2, 0, 3, 1, 4).contiguous().unbind()


def _mixed(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None, dropout: float) -> Tensor:
    """Compute attention; step by step on a CPU, where the backward pass of PyTorch's fused attention is six times as slow.

    In bfloat16 the weights are rounded, too: gradients deviate by 1.25 % from single precision, with PyTorch's by 1.0 %.
    """
    if query.device.type == "cpu" and not torch.compiler.is_compiling():
        return attend(query, key, value, mask, dropout=dropout).context
    return functional.scaled_dot_product_attention(query, key, value, attn_mask=mask, dropout_p=dropout)


def fused_loss(
    model: Bert | CausalLM, hidden: Float[Tensor, "token hidden"], places: Int[Tensor, "place"], wanted: Int[Tensor, "place"]
) -> Float[Tensor, ""]:
    """Sum the cross-entropy, in nats, at some positions.

    Rows are padded to a multiple of PAD_MULTIPLE: oneDNN compiles and caches one kernel per shape, without padding 9 GB after
    200 updates.
    """
    scores = model.predict(hidden[functional.pad(places, (0, -len(places) % PAD_MULTIPLE))])
    return functional.cross_entropy(scores[: len(wanted)].float(), wanted, reduction="sum")


class CausalAttention(torch.autograd.Function):
    """Causal attention with rotary positions, a few rows of the batch at a time.

    `apply(query, key, value, angles)` returns the context. The weights of these rows stay in the processor's cache while they are
    computed and used, in the forward pass and in the backward pass. On one core, in bfloat16, at 128 tokens: a quarter of the
    time of `attend` and of PyTorch's fused attention.
    """

    @staticmethod
    def forward(
        ctx: Any,
        query: Float[Tensor, "batch head token head_dim"],
        key: Float[Tensor, "batch head token head_dim"],
        value: Float[Tensor, "batch head token head_dim"],
        angles: Float[Tensor, "token pair"],
    ) -> Float[Tensor, "batch head token head_dim"]:
        """Compute the context, and keep rotated queries and keys, values and weights."""
        query, key, value = query.contiguous(), key.contiguous(), value.contiguous()
        tokens, scale = query.shape[-2], 1 / math.sqrt(query.shape[-1])
        rows = _rows_together(query)
        later = torch.full((tokens, tokens), -torch.inf, dtype=query.dtype, device=query.device).triu_(1)
        rotated, context = [torch.empty_like(query), torch.empty_like(key)], torch.empty_like(value)
        weights = query.new_empty(*query.shape[:-1], tokens)
        for q, k, v, turned_q, turned_k, share, out in _split(rows, query, key, value, *rotated, weights, context):
            turned_q.copy_(rotate(q.float(), angles).mul_(scale))
            turned_k.copy_(rotate(k.float(), angles))
            torch.softmax(torch.baddbmm(later, turned_q, turned_k.transpose(-1, -2)), dim=-1, out=share)
            torch.bmm(share, v, out=out)
        ctx.save_for_backward(*rotated, value, weights, angles)
        return context

    @staticmethod
    def backward(ctx: Any, outer: Float[Tensor, "batch head token head_dim"]) -> tuple[Tensor, Tensor, Tensor, None]:
        """Propagate the gradient to queries, keys and values; rotating back is rotating by the opposite angle."""
        query, key, value, weights, angles = ctx.saved_tensors
        rows, scale = _rows_together(query), 1 / math.sqrt(query.shape[-1])
        gradients = [torch.empty_like(part) for part in (query, key, value)]
        for q, k, v, share, out, by_q, by_k, by_v in _split(rows, query, key, value, weights, outer.contiguous(), *gradients):
            torch.bmm(share.transpose(-1, -2), out, out=by_v)
            by_scores = torch._softmax_backward_data(torch.bmm(out, v.transpose(-1, -2)), share, -1, share.dtype)
            by_q.copy_(rotate(torch.bmm(by_scores, k).float().mul_(scale), -angles))
            by_k.copy_(rotate(torch.bmm(by_scores.transpose(-1, -2), q).float(), -angles))
        return *gradients, None


TOKENS_TOGETHER = 256


def _rows_together(part: Float[Tensor, "batch head token head_dim"]) -> int:
    """Return how many pairs of row and head are computed together."""
    return part.shape[1] * max(1, TOKENS_TOGETHER // part.shape[2])


def _split(rows: int, *parts: Float[Tensor, "batch head ..."]) -> Iterator[tuple[Tensor, ...]]:
    """Go through tensors together, so many pairs of row and head at a time."""
    return zip(*(part.flatten(0, 1).split(rows) for part in parts), strict=True)


def causal_forward(model: CausalLM, ids: Int[Tensor, "batch token"]) -> Float[Tensor, "batch token hidden"]:
    """Return the output of the last norm. Padding must follow the text, where no token attends to it."""
    hidden, angles = model.words(ids), model.angles(ids.shape[1]).to(ids.device)
    for block in model.encoder.blocks:
        attention = block.attention
        query, key, value = in_heads_together(attention, block.attention_norm(hidden))
        context = CausalAttention.apply(query, key, value, angles)
        hidden = block.after_attention(hidden, linear(attention.output, merge_heads(context)))
    return model.norm(hidden)
