"""The same BERT by PyTorch's fused functions, for work that looks at little of a run: training, and many sentences.

The weights are those of our own modules. Those write every step out, as the Build pages show it, and each step then goes
through memory by itself: in a batch, GELU so takes four times as long as PyTorch's. Tests hold the two ways together.
"""

from collections.abc import Callable, Iterator
from functools import partial

import torch.nn.functional as functional
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from tx_core.attention import attend, attention_scores, attention_weights, merge_heads, split_heads
from tx_core.bert import Bert, BertEmbeddings
from tx_core.layers import EncoderBlock, LayerNorm, MultiHeadAttention, gelu, gelu_new

FUSED: dict[Callable[[Tensor], Tensor], Callable[[Tensor], Tensor]] = {
    gelu: functional.gelu,
    gelu_new: partial(functional.gelu, approximate="tanh"),
}


def all_weights(
    model: Bert,
    ids: Int[Tensor, "batch token"],
    segments: Int[Tensor, "batch token"],
    mask: Bool[Tensor, "batch 1 1 key"] | None,
) -> list[Float[Tensor, "batch head query key"]]:
    """Give the attention weights of every layer and nothing else: what comes after the last ones is not computed.

    mask: True = may be attended to.
    """
    *blocks, last = model.encoder.blocks
    hidden, layers = fused_embeddings(model.embeddings, ids, segments), []
    for block in blocks:
        attention = block.attention
        projected = in_heads(attention, hidden, attention.query, attention.key, attention.value)
        context, weights, _ = attend(*(part.contiguous() for part in projected), mask)  # else keys are copied crosswise
        hidden = after_attention(block, hidden, context)
        layers.append(weights)
    projected = in_heads(last.attention, hidden, last.attention.query, last.attention.key)
    return [*layers, attention_weights(attention_scores(*(part.contiguous() for part in projected)), mask)]


def fused_embeddings(
    embeddings: BertEmbeddings, ids: Int[Tensor, "batch token"], segments: Int[Tensor, "batch token"]
) -> Float[Tensor, "batch token hidden"]:
    """Look the tokens up."""
    summed = embeddings.words(ids) + embeddings.segments(segments) + embeddings.positions.weight[: ids.shape[1]]
    return embeddings.dropout(fused_norm(embeddings.norm, summed))


def in_heads(
    attention: MultiHeadAttention, hidden: Float[Tensor, "batch token hidden"], *projections: nn.Linear
) -> Iterator[Float[Tensor, "batch head token head_dim"]]:
    """Give what each of an attention's projections makes of the vectors, cut into heads."""
    return (split_heads(project(hidden), attention.num_heads) for project in projections)


def after_attention(
    block: EncoderBlock, hidden: Float[Tensor, "batch token hidden"], context: Float[Tensor, "batch head token head_dim"]
) -> Float[Tensor, "batch token hidden"]:
    """Do what a post-norm block does with the vectors that it read and what its heads mixed of them."""
    attention, feed_forward = block.attention, block.feed_forward
    hidden = fused_norm(block.attention_norm, hidden + block.dropout(attention.output(merge_heads(context))))
    wide = fused_activation(feed_forward.activation)(feed_forward.widen(hidden))
    return fused_norm(block.feed_forward_norm, hidden + block.dropout(feed_forward.narrow(wide)))


def fused_norm(norm: LayerNorm, x: Float[Tensor, "... hidden"]) -> Float[Tensor, "... hidden"]:
    """Compute `layers.layer_norm` in one pass."""
    return functional.layer_norm(x, (x.shape[-1],), norm.weight, norm.bias, norm.eps)


def fused_activation(activation: Callable[[Tensor], Tensor]) -> Callable[[Tensor], Tensor]:
    """Give PyTorch's own function for one of `layers.ACTIVATION`, in one pass."""
    return FUSED.get(activation, activation)
