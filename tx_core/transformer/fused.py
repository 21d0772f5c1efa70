"""The same BERT by PyTorch's fused functions, for work that looks at little of a run: training, and many sentences.

The weights are those of our own modules. Those write every step out, as the Build pages show it, and each step then goes
through memory by itself: in a batch, GELU so takes four times as long as PyTorch's. Tests hold the two ways together.
"""

from collections.abc import Callable, Iterator
from functools import partial

import torch
import torch.nn.functional as functional
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from tx_core.transformer.attention import attend, attention_scores, attention_weights, merge_heads, softmax, split_heads
from tx_core.transformer.bert import Bert, BertEmbeddings
from tx_core.transformer.layers import EncoderBlock, LayerNorm, MultiHeadAttention, gelu, gelu_new

STEP = 128
"""Rows are filled up to a multiple of this where a processor multiplies in bfloat16: for products of a new size its library
makes new code, and keeps it: gigabytes of it for what has many sizes."""
REGISTER = 16 if "AVX512" in torch.backends.cpu.get_cpu_capability() else 8
"""Numbers that most processors compute at once: PyTorch's softmax goes through shorter rows number by number."""
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
    rows, layers = filled_up(fused_embeddings(model.embeddings, ids, segments).flatten(0, 1)), []
    for block in blocks:
        attention = block.attention
        projected = in_heads(attention, rows, ids.shape, attention.query, attention.key, attention.value)
        context, weights, _ = attend(*projected, mask, normalise=fused_softmax)
        mixed = merge_heads(context).flatten(0, 1).to(rows.dtype)
        rows = after_attention(block, rows, filled_up(mixed))
        layers.append(weights)
    projected = in_heads(last.attention, rows, ids.shape, last.attention.query, last.attention.key)
    return [*layers, attention_weights(attention_scores(*projected), mask, fused_softmax)]


def filled_up(rows: Float[Tensor, "row hidden"]) -> Float[Tensor, "filled hidden"]:
    """Add rows of zeros up to a multiple of STEP, in bfloat16 on a processor."""
    filling = rows.dtype == torch.bfloat16 and rows.device.type == "cpu"
    return functional.pad(rows, (0, 0, 0, -len(rows) % STEP)) if filling else rows


def fused_embeddings(
    embeddings: BertEmbeddings, ids: Int[Tensor, "batch token"], segments: Int[Tensor, "batch token"]
) -> Float[Tensor, "batch token hidden"]:
    """Look the tokens up."""
    summed = embeddings.words(ids) + embeddings.segments(segments) + embeddings.positions.weight[: ids.shape[1]]
    return embeddings.dropout(fused_norm(embeddings.norm, summed))


def in_heads(
    attention: MultiHeadAttention, rows: Float[Tensor, "filled hidden"], shape: torch.Size, *projections: nn.Linear
) -> Iterator[Float[Tensor, "batch head token head_dim"]]:
    """Give what each of an attention's projections makes of the vectors of a batch, cut into heads.

    shape: batch and token; rows beyond are what they were filled up with. bfloat16 becomes single precision: scores are then
    more exact, and products of as many sizes as texts have lengths need no new code for each. Each is laid out in a row, else
    keys are copied crosswise.
    """
    for projection in projections:
        part = split_heads(projection(rows)[: shape.numel()].unflatten(0, shape), attention.num_heads)
        if part.dtype == torch.bfloat16:
            yield part.to(torch.float32, memory_format=torch.contiguous_format)
        else:
            yield part.contiguous()


def after_attention(
    block: EncoderBlock, hidden: Float[Tensor, "*token hidden"], mixed: Float[Tensor, "*token hidden"]
) -> Float[Tensor, "*token hidden"]:
    """Do what a post-norm block does with the vectors that it read and what its heads mixed of them, side by side."""
    feed_forward = block.feed_forward
    hidden = fused_norm(block.attention_norm, hidden + block.dropout(block.attention.output(mixed)))
    wide = fused_activation(feed_forward.activation)(feed_forward.widen(hidden))
    return fused_norm(block.feed_forward_norm, hidden + block.dropout(feed_forward.narrow(wide)))


def fused_softmax(scores: Float[Tensor, "... key"]) -> Float[Tensor, "... key"]:
    """Compute `attention.softmax` without a gradient; on a processor, of a few keys, many rows at once: several times as fast."""
    if scores.device.type != "cpu" or scores.shape[-1] >= REGISTER:
        return softmax(scores)
    grown = (scores - scores.amax(dim=-1, keepdim=True)).exp_()
    return grown.div_(grown.sum(dim=-1, keepdim=True))


def fused_norm(norm: LayerNorm, x: Float[Tensor, "... hidden"]) -> Float[Tensor, "... hidden"]:
    """Compute `layers.layer_norm` in one pass."""
    return functional.layer_norm(x, (x.shape[-1],), norm.weight, norm.bias, norm.eps)


def fused_activation(activation: Callable[[Tensor], Tensor]) -> Callable[[Tensor], Tensor]:
    """Give PyTorch's own function for one of `layers.ACTIVATION`, in one pass."""
    return FUSED.get(activation, activation)
