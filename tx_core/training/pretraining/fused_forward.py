"""The same BERT computed with PyTorch's fused functions: for speed in training only.

The weights are those of our own modules; `Bert.forward` writes every step out and keeps the attention weights, which
a training step has no use for. A test holds outputs and gradients of the two together.
"""

import torch.nn.functional as functional
from jaxtyping import Bool, Float, Int
from torch import Tensor

from tx_core.attention import merge_heads, split_heads
from tx_core.bert import Bert
from tx_core.layers import EncoderBlock, LayerNorm


def fused_forward(
    model: Bert,
    ids: Int[Tensor, "batch token"],
    segments: Int[Tensor, "batch token"],
    mask: Bool[Tensor, "batch 1 1 key"] | None,
) -> Float[Tensor, "batch token hidden"]:
    """Give the last vectors of a BERT with GELU; mask: True = may be attended to, at least one key a row."""
    embeddings = model.embeddings
    summed = embeddings.words(ids) + embeddings.segments(segments) + embeddings.positions.weight[: ids.shape[1]]
    hidden = embeddings.dropout(_norm(embeddings.norm, summed))
    for block in model.encoder.blocks:
        hidden = _block(block, hidden, mask)
    return hidden


def fused_predict(model: Bert, hidden: Float[Tensor, "place hidden"]) -> Float[Tensor, "place vocab"]:
    """Score the vocabulary at the given vectors."""
    head = model.head
    return head.vocabulary(_norm(head.norm, functional.gelu(head.dense(hidden))))


def _block(
    block: EncoderBlock, hidden: Float[Tensor, "batch token hidden"], mask: Bool[Tensor, "batch 1 1 key"] | None
) -> Float[Tensor, "batch token hidden"]:
    attention, feed_forward = block.attention, block.feed_forward
    heads = attention.num_heads
    query, key, value = (split_heads(part(hidden), heads) for part in (attention.query, attention.key, attention.value))
    dropout = attention.dropout if block.training else 0.0
    context = functional.scaled_dot_product_attention(query, key, value, attn_mask=mask, dropout_p=dropout)
    hidden = _norm(block.attention_norm, hidden + block.dropout(attention.output(merge_heads(context))))
    wide = functional.gelu(feed_forward.widen(hidden))
    return _norm(block.feed_forward_norm, hidden + block.dropout(feed_forward.narrow(wide)))


def _norm(norm: LayerNorm, x: Float[Tensor, "... hidden"]) -> Float[Tensor, "... hidden"]:
    return functional.layer_norm(x, (x.shape[-1],), norm.weight, norm.bias, norm.eps)
