"""BERT with fused attention, too: for training, which has no use for the attention weights.

A test holds outputs and gradients against `Bert.forward`, which writes every step out.
"""

import torch.nn.functional as functional
from jaxtyping import Bool, Float, Int
from torch import Tensor

from tx_core.bert import Bert
from tx_core.fused import after_attention, fused_activation, fused_embeddings, fused_norm, in_heads


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
        query, key, value = in_heads(attention, hidden, attention.query, attention.key, attention.value)
        dropout = attention.dropout if block.training else 0.0
        context = functional.scaled_dot_product_attention(query, key, value, attn_mask=mask, dropout_p=dropout)
        hidden = after_attention(block, hidden, context)
    return hidden


def fused_predict(model: Bert, hidden: Float[Tensor, "place hidden"]) -> Float[Tensor, "place vocab"]:
    """Score the vocabulary at the given vectors."""
    head = model.head
    return head.vocabulary(fused_norm(head.norm, fused_activation(head.activation)(head.dense(hidden))))
