"""BERT with fused attention, too: for training, which has no use for the attention weights.

A test holds outputs and gradients against `Bert.forward`, which writes every step out.
"""

import torch
import torch.nn.functional as functional
from jaxtyping import Bool, Float, Int
from torch import Tensor

from tx_core.attention import attend
from tx_core.bert import Bert
from tx_core.fused import after_attention, fused_activation, fused_embeddings, fused_norm, in_heads
from tx_core.training.pretraining.vocabulary_loss import VocabularyLoss

TOGETHER = 128
"""Blanks are filled up to a multiple of this: for products of a new size, a processor's library makes and keeps new code,
9 GB of it in 200 updates."""


def fused_forward(
    model: Bert,
    ids: Int[Tensor, "batch token"],
    segments: Int[Tensor, "batch token"],
    mask: Bool[Tensor, "batch 1 1 key"] | None,
) -> Float[Tensor, "batch token hidden"]:
    """Give the last vectors; mask: True = may be attended to, at least one key a row."""
    hidden = fused_embeddings(model.embeddings, ids, segments)
    for block in model.encoder.blocks:
        attention = block.attention
        projected = in_heads(attention, hidden, attention.query, attention.key, attention.value)
        context = _mixed(*projected, mask, attention.dropout if block.training else 0.0)
        hidden = after_attention(block, hidden, context)
    return hidden


def _mixed(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None, dropout: float) -> Tensor:
    """Mix the values; step by step on a processor, where PyTorch's fused attention is six times as slow on the way back.

    In bfloat16 the weights are rounded so, too: gradients are 1.25 % off those in single precision, with PyTorch's 1.0 %.
    """
    if query.device.type == "cpu" and not torch.compiler.is_compiling():
        return attend(query.contiguous(), key.contiguous(), value.contiguous(), mask, dropout=dropout).context
    return functional.scaled_dot_product_attention(query, key, value, attn_mask=mask, dropout_p=dropout)


def fused_loss(
    model: Bert, hidden: Float[Tensor, "token hidden"], places: Int[Tensor, "place"], wanted: Int[Tensor, "place"], half: bool
) -> Float[Tensor, ""]:
    """Sum the nats of the wanted pieces at some of the vectors; half: the vocabulary is scored in bfloat16."""
    head = model.head
    asked = hidden[functional.pad(places, (0, -len(places) % TOGETHER))]
    made = fused_norm(head.norm, fused_activation(head.activation)(head.dense(asked)))
    made = made.to(torch.bfloat16 if half else torch.float32)
    return VocabularyLoss.apply(made, head.vocabulary.weight, head.vocabulary.bias, wanted)
