"""The same BERT with PyTorch's fused functions, where only little of a run is kept: in training, and for many sentences.

It uses the modules of bert.py. Those write out every step, as the Build pages show it, so that each step passes through
memory on its own: GELU on a batch takes four times as long as PyTorch's. Tests hold both implementations equal.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import partial

import torch
import torch.nn.functional as functional
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from tx_core.transformer.attention import attend, attention_scores, attention_weights, merge_heads, softmax, split_heads
from tx_core.transformer.bert import Bert, BertEmbeddings
from tx_core.transformer.layers import EncoderBlock, LayerNorm, MultiHeadAttention, gelu, gelu_new

PAD_MULTIPLE = 128
"""In bfloat16 on a CPU, rows are padded to a multiple of this: oneDNN compiles and caches one kernel per shape, which takes
gigabytes where there are many shapes."""
REGISTER = 16 if "AVX512" in torch.backends.cpu.get_cpu_capability() else 8
"""Single-precision numbers in a vector register of the CPU: PyTorch's softmax does not vectorise shorter rows."""
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
    """Compute the attention weights of every layer, and nothing beyond those of the last layer.

    mask: True = may be attended to.
    """
    *blocks, last = model.encoder.blocks
    rows, layers = pad_rows(fused_embeddings(model.embeddings, ids, segments).flatten(0, 1)), []
    for block in blocks:
        attention = block.attention
        projected = project_to_heads(attention, rows, ids.shape, attention.query, attention.key, attention.value)
        context, weights, _ = attend(*projected, mask, normalise=fused_softmax)
        mixed = merge_heads(context).flatten(0, 1).to(rows.dtype)
        rows = after_attention(block, rows, pad_rows(mixed))
        layers.append(weights)
    projected = project_to_heads(last.attention, rows, ids.shape, last.attention.query, last.attention.key)
    return [*layers, attention_weights(attention_scores(*projected), mask, fused_softmax)]


def without_each_head(
    model: Bert,
    ids: Int[Tensor, "1 token"],
    segments: Int[Tensor, "1 token"],
    heads: Sequence[tuple[int, int]],
    places: Sequence[int],
) -> Float[Tensor, "run place hidden"]:
    """Run a text once as it is, and once without each head; give the last vectors at some places.

    heads: (layer, head), counted from 0, by layer. A run without a head differs from the first run only from that head's
    layer on, so that it begins there; of the last layer, only the places are computed.
    """
    runs = fused_embeddings(model.embeddings, ids, segments)  # the first row is the text as it is
    *_, last = model.encoder.blocks
    for number, block in enumerate(model.encoder.blocks):
        attention, asked = block.attention, runs[:, list(places)] if block is last else runs
        query = split_heads(attention.query(asked), attention.num_heads)
        key, value = (split_heads(part(runs), attention.num_heads) for part in (attention.key, attention.value))
        context = attend(query, key, value, normalise=fused_softmax).context
        off = [head for layer, head in heads if layer == number]
        begun = context[:1].repeat(len(off), 1, 1, 1)
        begun[range(len(off)), off] = 0.0
        asked = torch.cat([asked, asked[:1].expand(len(off), -1, -1)])
        runs = after_attention(block, asked, merge_heads(torch.cat([context, begun])))
    return runs


def pad_rows(rows: Float[Tensor, "row hidden"]) -> Float[Tensor, "padded_row hidden"]:
    """Pad with rows of zeros to a multiple of PAD_MULTIPLE, in bfloat16 on a CPU only."""
    padded = rows.dtype == torch.bfloat16 and rows.device.type == "cpu"
    return functional.pad(rows, (0, 0, 0, -len(rows) % PAD_MULTIPLE)) if padded else rows


def fused_embeddings(
    embeddings: BertEmbeddings, ids: Int[Tensor, "batch token"], segments: Int[Tensor, "batch token"]
) -> Float[Tensor, "batch token hidden"]:
    """Embed the tokens, as `BertEmbeddings` does."""
    summed = embeddings.words(ids) + embeddings.segments(segments) + embeddings.positions.weight[: ids.shape[1]]
    return embeddings.dropout(fused_norm(embeddings.norm, summed))


def project_to_heads(
    attention: MultiHeadAttention, rows: Float[Tensor, "padded_row hidden"], shape: torch.Size, *projections: nn.Linear
) -> Iterator[Float[Tensor, "batch head token head_dim"]]:
    """Yield each projection of the vectors of a batch, split into heads.

    shape: batch and token; the rows beyond are padding. bfloat16 becomes single precision: scores are more exact, and no
    kernel is compiled for every length of text. Results are contiguous, else keys would be copied transposed.
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
    """Run the rest of a post-norm block. hidden: the block's input. mixed: the context of all heads, concatenated."""
    feed_forward = block.feed_forward
    hidden = fused_norm(block.attention_norm, hidden + block.dropout(block.attention.output(mixed)))
    wide = fused_activation(feed_forward.activation)(feed_forward.up(hidden))
    return fused_norm(block.feed_forward_norm, hidden + block.dropout(feed_forward.down(wide)))


def fused_softmax(scores: Float[Tensor, "... key"]) -> Float[Tensor, "... key"]:
    """Compute `attention.softmax` without a gradient, several times as fast for many rows of few keys on a CPU."""
    if scores.device.type != "cpu" or scores.shape[-1] >= REGISTER:
        return softmax(scores)
    exponentials = (scores - scores.amax(dim=-1, keepdim=True)).exp_()
    return exponentials.div_(exponentials.sum(dim=-1, keepdim=True))


def fused_norm(norm: LayerNorm, x: Float[Tensor, "... hidden"]) -> Float[Tensor, "... hidden"]:
    """Compute `layers.layer_norm` by PyTorch's fused function."""
    return functional.layer_norm(x, (x.shape[-1],), norm.weight, norm.bias, norm.eps)


def fused_activation(activation: Callable[[Tensor], Tensor]) -> Callable[[Tensor], Tensor]:
    """Return PyTorch's fused function for one of `layers.ACTIVATION`."""
    return FUSED.get(activation, activation)
