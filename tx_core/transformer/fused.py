"""Training a BERT by PyTorch's fused attention, where nothing of a run is looked at but its loss: `fused_forward`, `fused_loss`.

Tests hold it equal to the run that keeps what it computes, `bert.Bert`.
"""

import torch
import torch.nn.functional as functional
from jaxtyping import Bool, Float, Int
from torch import Tensor

from tx_core.transformer.attention import attend, merge_heads
from tx_core.transformer.bert import Bert
from tx_core.transformer.layers import PAD_MULTIPLE, MultiHeadAttention, linear


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
    model: Bert, hidden: Float[Tensor, "token hidden"], places: Int[Tensor, "place"], wanted: Int[Tensor, "place"]
) -> Float[Tensor, ""]:
    """Sum the cross-entropy, in nats, at some positions.

    Rows are padded to a multiple of PAD_MULTIPLE: oneDNN compiles and caches one kernel per shape, without padding 9 GB after
    200 updates.
    """
    scores = model.predict(hidden[functional.pad(places, (0, -len(places) % PAD_MULTIPLE))])
    return functional.cross_entropy(scores[: len(wanted)].float(), wanted, reduction="sum")
