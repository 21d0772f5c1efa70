"""Training a BERT by PyTorch's fused attention, where nothing of a run is looked at but its loss: `fused_forward`, `fused_loss`.

Tests hold it equal to the run that keeps what it computes, `bert.Bert`.
"""

from typing import Any

import torch
import torch.nn.functional as functional
from jaxtyping import Bool, Float, Int
from torch import Tensor

from tx_core.transformer.attention import attend, merge_heads
from tx_core.transformer.bert import Bert
from tx_core.transformer.layers import PAD_MULTIPLE, MultiHeadAttention, linear

ROWS = {"cpu": 64}
"""Rows taken together: as many as stay in a processor's own cache. A graphics card takes more at a time."""

MANY_ROWS = 4096


class VocabularyLoss(torch.autograd.Function):
    """Sum of −log softmax(hidden · weightᵀ + bias) at the target pieces, computed in the precision of hidden.

    The sum is in single precision. `apply(hidden, weight, bias, wanted)` returns a scalar; rows of hidden beyond the length of
    wanted are ignored. The gradient is computed in the forward pass, in place of the scores, a few rows at a time: PyTorch's
    version passes over all scores, too large for any cache, seven times.
    """

    @staticmethod
    def forward(
        ctx: Any,
        hidden: Float[Tensor, "row hidden"],
        weight: Float[Tensor, "vocab hidden"],
        bias: Float[Tensor, "vocab"],
        wanted: Int[Tensor, "place"],
    ) -> Float[Tensor, ""]:
        """Return the sum in nats, and keep its gradient with respect to the scores."""
        weight = weight.to(hidden.dtype)
        scores = torch.addmm(bias.to(hidden.dtype), hidden, weight.T)
        loss = torch.zeros((), device=hidden.device)
        rows = ROWS.get(hidden.device.type, MANY_ROWS)
        for part, pieces in zip(scores[: len(wanted)].split(rows), wanted[:, None].split(rows), strict=True):
            exact = part.float()
            total = exact.logsumexp(dim=-1, keepdim=True)
            loss += (total - exact.gather(-1, pieces)).sum()
            shares = (exact - total).exp_()
            part.copy_(shares.scatter_add_(-1, pieces, torch.full_like(total, -1.0)))
        scores[len(wanted) :] = 0
        ctx.save_for_backward(hidden, weight, scores)
        return loss

    @staticmethod
    def backward(ctx: Any, outer: Float[Tensor, ""]) -> tuple[Tensor, Tensor, Tensor, None]:
        """Propagate the gradient to vectors, weights and biases."""
        hidden, weight, by_scores = ctx.saved_tensors
        by_weight = (by_scores.T @ hidden).float() * outer
        return (by_scores @ weight) * outer, by_weight, by_scores.sum(0).float() * outer, None


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
    model: Bert, hidden: Float[Tensor, "token hidden"], places: Int[Tensor, "place"], wanted: Int[Tensor, "place"], half: bool
) -> Float[Tensor, ""]:
    """Sum the cross-entropy, in nats, at some positions; half: the logits are computed in bfloat16.

    Rows are padded to a multiple of PAD_MULTIPLE: oneDNN compiles and caches one kernel per shape, without padding 9 GB after
    200 updates.
    """
    head = model.head
    asked = hidden[functional.pad(places, (0, -len(places) % PAD_MULTIPLE))]
    made = head.norm(head.activation(head.dense(asked)))
    made = made.to(torch.bfloat16 if half else torch.float32)
    return VocabularyLoss.apply(made, head.vocabulary.weight, head.vocabulary.bias, wanted)
