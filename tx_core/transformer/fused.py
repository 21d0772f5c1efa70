"""The same BERT with PyTorch's fused functions, where only little of a run is kept: its weights alone, or, in training, its loss.

Begin with `all_weights`, for a map or for many sentences, and `fused_loss`, for training. Both use the modules of bert.py; these
write out every step, as the Build pages show it, so that each step passes through memory on its own: GELU on a batch takes four
times as long as PyTorch's. Tests hold both implementations equal.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import torch
import torch.nn.functional as functional
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from tx_core.transformer.attention import attend, attention_scores, merge_heads, softmax, split_heads
from tx_core.transformer.bert import Bert, BertEmbeddings, rows_with_positions
from tx_core.transformer.changed_weights import weigh_at
from tx_core.transformer.interventions import Intervention
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
    interventions: Sequence[Sequence[Intervention]] = (),
) -> list[Float[Tensor, "batch head query key"]]:
    """Compute the attention weights of every layer, and nothing beyond those of the last layer.

    mask: True = may be attended to. interventions: those of each row; empty for none.
    """
    *blocks, last = model.encoder.blocks
    with_positions = rows_with_positions(interventions, ids.device)
    rows, layers = pad_rows(fused_embeddings(model.embeddings, ids, segments, with_positions).flatten(0, 1)), []
    for number, block in enumerate(blocks):
        attention, weigh = block.attention, weigh_at(interventions, number)
        projected = project_to_heads(attention, rows, ids.shape, attention.query, attention.key, attention.value)
        context, weights, _ = attend(*projected, mask, normalise=fused_softmax, weigh=weigh)
        mixed = merge_heads(context).flatten(0, 1).to(rows.dtype)
        rows = after_attention(block, rows, pad_rows(mixed))
        layers.append(weights)
    projected = project_to_heads(last.attention, rows, ids.shape, last.attention.query, last.attention.key)
    return [*layers, weigh_at(interventions, len(blocks))(attention_scores(*projected), mask, fused_softmax)]


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
    embeddings: BertEmbeddings,
    ids: Int[Tensor, "batch token"],
    segments: Int[Tensor, "batch token"],
    with_positions: Bool[Tensor, "batch"] | None = None,
) -> Float[Tensor, "batch token hidden"]:
    """Embed the tokens, as `BertEmbeddings` does."""
    positions = embeddings.positions.weight[: ids.shape[1]]
    if with_positions is not None:
        positions = positions * with_positions[:, None, None]
    summed = embeddings.words(ids) + embeddings.segments(segments) + positions
    return embeddings.dropout(fused_norm(embeddings.norm, summed))


def project_to_heads(
    attention: MultiHeadAttention, rows: Float[Tensor, "padded_row hidden"], shape: torch.Size, *projections: nn.Linear
) -> Iterator[Float[Tensor, "batch head token head_dim"]]:
    """Yield each projection of the vectors of a batch, split into heads.

    shape: batch and token; the rows beyond are padding. bfloat16 becomes single precision: scores are more exact, and no
    kernel is compiled for every length of text. Results of a batch are contiguous, else keys would be copied transposed; of one
    text they need not be, and the copies would take a tenth of its run.
    """
    for projection in projections:
        projected = linear(projection, rows)
        if len(rows) > shape.numel():
            projected = projected[: shape.numel()]
        part = split_heads(projected.view(*shape, -1), attention.num_heads)
        if part.dtype == torch.bfloat16:
            yield part.to(torch.float32, memory_format=torch.contiguous_format)
        else:
            yield part if shape[0] == 1 else part.contiguous()


def after_attention(
    block: EncoderBlock, hidden: Float[Tensor, "*token hidden"], mixed: Float[Tensor, "*token hidden"]
) -> Float[Tensor, "*token hidden"]:
    """Run the rest of a post-norm block. hidden: the block's input. mixed: the context of all heads, concatenated."""
    feed_forward, drop = block.feed_forward, block.dropout if block.training else _keep
    hidden = fused_norm(block.attention_norm, hidden + drop(linear(block.attention.output, mixed)))
    wide = fused_activation(feed_forward.activation)(linear(feed_forward.up, hidden))
    return fused_norm(block.feed_forward_norm, hidden + drop(linear(feed_forward.down, wide)))


def linear(layer: nn.Linear, x: Float[Tensor, "... inputs"]) -> Float[Tensor, "... outputs"]:
    """Apply a linear layer. Calling the module itself looks for hooks first: a tenth of the run of a short text."""
    return functional.linear(x, layer.weight, layer.bias)


def _keep(x: Tensor) -> Tensor:
    """Drop nothing."""
    return x


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
    hidden = fused_embeddings(model.embeddings, ids, segments)
    for block in model.encoder.blocks:
        attention = block.attention
        context = _mixed(*in_heads_together(attention, hidden), mask, attention.dropout if block.training else 0.0)
        hidden = after_attention(block, hidden, merge_heads(context))
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
    made = fused_norm(head.norm, fused_activation(head.activation)(head.dense(asked)))
    made = made.to(torch.bfloat16 if half else torch.float32)
    return VocabularyLoss.apply(made, head.vocabulary.weight, head.vocabulary.bias, wanted)
