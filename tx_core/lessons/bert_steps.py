"""The embeddings, blocks, norms and feed-forward layers of a BERT on a sentence, every tensor on the way kept.

What is shown is what runs: each part is computed by the model's own modules.
"""

import copy
from dataclasses import dataclass
from typing import Literal, NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from tx_core.engine.bert_engine import BertEngine
from tx_core.engine.engine import batch_tensors
from tx_core.transformer.attention import merge_heads
from tx_core.transformer.bert import Bert
from tx_core.transformer.layers import ACTIVATION, FeedForward, LayerNorm, MultiHeadAttention


def tensor_bytes(record: object) -> int:
    """Count the bytes of a record's tensors."""
    return sum(part.nbytes for part in vars(record).values() if isinstance(part, Tensor))


def on_cpu(norm: LayerNorm) -> LayerNorm:
    """Give a norm with its numbers in ordinary memory; one that is elsewhere is left there."""
    return norm if norm.weight.device.type == "cpu" else copy.deepcopy(norm).cpu()


class Affine(NamedTuple):
    """A linear layer's numbers as a reader multiplies them: x · matrix + bias."""

    matrix: Float[Tensor, "into out"]
    bias: Float[Tensor, "out"]


def matrix_and_bias(linear: nn.Linear) -> Affine:
    """Give a layer's matrix, a column for each number that comes out, and its bias, in ordinary memory."""
    return Affine(linear.weight.detach().cpu().T, linear.bias.detach().cpu())


def feed_forward_as_convolution(
    feed_forward: FeedForward, hidden: Float[Tensor, "batch token hidden"]
) -> Float[Tensor, "batch token hidden"]:
    """Run a feed-forward layer's weights as two convolutions of width 1: the same at every position."""
    channels = hidden.transpose(1, 2)
    for linear, bend in ((feed_forward.widen, feed_forward.activation), (feed_forward.narrow, None)):
        channels = nn.functional.conv1d(channels, linear.weight[:, :, None], linear.bias)
        channels = channels if bend is None else bend(channels)
    return channels.transpose(1, 2)


@dataclass(frozen=True)
class ComparedResults:
    """The same result computed in two ways."""

    ours: Float[Tensor, "..."]
    theirs: Float[Tensor, "..."]

    @property
    def greatest_difference(self) -> float:
        """How far the two are apart at their worst number."""
        return float((self.ours - self.theirs).abs().max())


@torch.no_grad()
def compare_with_convolution(feed_forward: FeedForward, hidden: Float[Tensor, "batch token hidden"]) -> ComparedResults:
    """Show that feed-forward is a 1×1 convolution (Vaswani et al. 2017, section 3.3)."""
    return ComparedResults(feed_forward(hidden), feed_forward_as_convolution(feed_forward, hidden))


@dataclass(frozen=True)
class NormSteps:
    """A layer norm written out for every token, and PyTorch's answer beside it."""

    before: Float[Tensor, "token hidden"]
    mean: Float[Tensor, "token"]
    variance: Float[Tensor, "token"]
    normed: Float[Tensor, "token hidden"]
    result: ComparedResults


@torch.no_grad()
def norm_steps(norm: LayerNorm, hidden: Float[Tensor, "token hidden"]) -> NormSteps:
    """Take each vector's mean away, divide by √(variance + ε), stretch and shift (Ba et al. 2016, equation 4)."""
    mean = hidden.mean(dim=-1)
    variance = (hidden - mean[:, None]).square().mean(dim=-1)
    normed = (hidden - mean[:, None]) / (variance[:, None] + norm.eps).sqrt()
    theirs = nn.functional.layer_norm(hidden, hidden.shape[-1:], norm.weight, norm.bias, norm.eps)
    return NormSteps(hidden, mean, variance, normed, ComparedResults(norm(hidden), theirs))


@torch.no_grad()
def head_outputs(
    attention: MultiHeadAttention, context: Float[Tensor, "batch head token head_dim"]
) -> Float[Tensor, "batch head token hidden"]:
    """Split the output projection by heads: what each adds; their sum plus the bias is the layer's output."""
    pieces = attention.output.weight.view(-1, *(context.shape[1], context.shape[3]))
    return torch.einsum("bhtd,ohd->bhto", context, pieces)


@dataclass(frozen=True)
class EmbeddingRun:
    """Three look-ups for every token, their sum, and the norm of it: what enters the first block."""

    tokens: tuple[str, ...]
    ids: Int[Tensor, "token"]
    words: Float[Tensor, "token hidden"]
    positions: Float[Tensor, "token hidden"]
    segments: Float[Tensor, "token hidden"]
    summed: Float[Tensor, "token hidden"]
    normed: Float[Tensor, "token hidden"]

    @property
    def nbytes(self) -> int:
        """The memory of all tensors, in bytes."""
        return tensor_bytes(self)


def embedding_run(engine: BertEngine, text: str, pair: str | None = None) -> EmbeddingRun:
    """Look a text up as BERT does (Devlin et al. 2019, figure 2). Raises TextProblem when it cannot be read."""
    encoding = engine.encode(text, pair)

    def compute(model: Bert, device: str) -> EmbeddingRun:
        ids, segments, _ = batch_tensors([encoding], engine.tokenizer.padding_id, device)
        parts = model.embeddings
        looked_up = parts.words(ids), parts.positions(torch.arange(len(encoding), device=device)[None]), parts.segments(segments)
        summed = looked_up[0] + looked_up[2] + looked_up[1]
        rows = (part[0].cpu() for part in (ids, *looked_up, summed, parts.norm(summed)))
        return EmbeddingRun(encoding.tokens, *rows)

    return engine.placement.run(compute)[0]


def repeated_word(run: EmbeddingRun) -> tuple[int, int, float] | None:
    """Find the first word that stands twice: its two places, and how far its two sums are apart; None for no such word."""
    ids = run.ids.tolist()
    for place, number in enumerate(ids):
        if number in ids[place + 1 :]:
            again = ids.index(number, place + 1)
            return place, again, float((run.summed[place] - run.summed[again]).abs().max())
    return None


@dataclass(frozen=True)
class BlockRun:
    """What enters a post-norm block, what each of its parts makes of it, and what leaves.

    joined: the heads' contexts laid end to end. by_head: what each head adds to `attended` through the output
    projection; their sum and the bias are `attended`. The sums are those with the skip connection, before the norm.
    """

    tokens: tuple[str, ...]
    entering: Float[Tensor, "token hidden"]
    context: Float[Tensor, "head token head_dim"]
    joined: Float[Tensor, "token hidden"]
    by_head: Float[Tensor, "head token hidden"]
    attended: Float[Tensor, "token hidden"]
    attention_sum: Float[Tensor, "token hidden"]
    attention_normed: Float[Tensor, "token hidden"]
    fed: Float[Tensor, "token hidden"]
    feed_forward_sum: Float[Tensor, "token hidden"]
    leaving: Float[Tensor, "token hidden"]

    @property
    def nbytes(self) -> int:
        """The memory of all tensors, in bytes."""
        return tensor_bytes(self)

    def joined_of(self, heads: tuple[int, ...]) -> Float[Tensor, "token hidden"]:
        """Give the contexts laid end to end with zeros for every head but some, counted from 0."""
        kept = torch.zeros_like(self.context)
        kept[list(heads)] = self.context[list(heads)]
        return merge_heads(kept[None])[0]

    def of_heads(self, heads: tuple[int, ...], bias: Float[Tensor, "hidden"]) -> Float[Tensor, "token hidden"]:
        """Give the attention's output as if only some heads, counted from 0, were there."""
        return self.by_head[list(heads)].sum(dim=0) + bias

    @property
    def head_lengths(self) -> Float[Tensor, "head token"]:
        """How long the vector is that each head adds to each token."""
        return self.by_head.norm(dim=-1)


def mean_token_cosine(one: Float[Tensor, "token hidden"], other: Float[Tensor, "token hidden"]) -> float:
    """Tell how alike two results are: the mean cosine between a token's vector in the one and in the other."""
    return float(torch.cosine_similarity(one, other, dim=-1).mean())


def block_run(engine: BertEngine, text: str, pair: str | None = None, *, layer: int) -> BlockRun:
    """Walk through one block, counted from 0, with a text. Raises TextProblem when it cannot be read."""
    encoding = engine.encode(text, pair)

    def compute(model: Bert, device: str) -> BlockRun:
        ids, segments, _ = batch_tensors([encoding], engine.tokenizer.padding_id, device)
        hidden = model(ids, segments, keep=("hidden",)).hidden[layer]
        block = model.encoder.blocks[layer]
        attention = block.attention(hidden)
        attention_sum = hidden + attention.output
        normed = block.attention_norm(attention_sum)
        fed = block.feed_forward(normed)
        parts = (
            hidden,
            attention.context,
            merge_heads(attention.context),
            head_outputs(block.attention, attention.context),
            attention.output,
            attention_sum,
            normed,
            fed,
            normed + fed,
            block.feed_forward_norm(normed + fed),
        )
        return BlockRun(encoding.tokens, *(part[0].cpu() for part in parts))

    return engine.placement.run(compute)[0]


NormPlace = Literal["embeddings", "attention", "feed_forward"]


@dataclass(frozen=True)
class NormRun:
    """A norm of the model at work on a sentence, with what it learned."""

    tokens: tuple[str, ...]
    steps: NormSteps
    weight: Float[Tensor, "hidden"]
    bias: Float[Tensor, "hidden"]
    eps: float

    @property
    def nbytes(self) -> int:
        """The memory of all tensors, in bytes."""
        return tensor_bytes(self.steps) + tensor_bytes(self.steps.result)


def norm_run(engine: BertEngine, text: str, pair: str | None = None, *, place: NormPlace, layer: int) -> NormRun:
    """Write out one of the model's norms. layer, counted from 0, does not matter at the embeddings.

    Raises TextProblem when the text cannot be read.
    """
    if place == "embeddings":
        run = embedding_run(engine, text, pair)
        before, norm = run.summed, engine.model.embeddings.norm
    else:
        run = block_run(engine, text, pair, layer=layer)
        before = run.attention_sum if place == "attention" else run.feed_forward_sum
        norm = getattr(engine.model.encoder.blocks[layer], f"{place}_norm")
    norm = on_cpu(norm)
    return NormRun(run.tokens, norm_steps(norm, before), norm.weight, norm.bias, norm.eps)


@dataclass(frozen=True)
class FeedForwardRun:
    """A feed-forward layer step by step, and the same as a convolution of width 1.

    alone: the greatest difference of any number when every token is fed by itself.
    """

    widened: Float[Tensor, "token intermediate"]
    bent: Float[Tensor, "token intermediate"]
    both: ComparedResults
    alone: float

    @property
    def below_zero(self) -> float:
        """The share of the widened numbers that the bend all but removes: those below zero."""
        return float((self.widened < 0).float().mean())

    @property
    def nbytes(self) -> int:
        """The memory of all tensors, in bytes."""
        return tensor_bytes(self) + tensor_bytes(self.both)


def feed_forward_run(engine: BertEngine, vectors: Float[Tensor, "token hidden"], layer: int, activation: str) -> FeedForwardRun:
    """Feed vectors to a layer of the model, its bend being any of `layers.ACTIVATION` (Vaswani et al. 2017, 3.3)."""

    def compute(model: Bert, device: str) -> FeedForwardRun:
        layer_here = with_activation(model.encoder.blocks[layer].feed_forward, activation)
        rows = vectors.to(device)
        widened = layer_here.widen(rows)
        both = compare_with_convolution(layer_here, rows[None])
        one_by_one = torch.cat([layer_here(row) for row in rows.split(1)])
        return FeedForwardRun(
            widened.cpu(),
            layer_here.activation(widened).cpu(),
            ComparedResults(both.ours[0].cpu(), both.theirs[0].cpu()),
            float((one_by_one - both.ours[0]).abs().max()),
        )

    return engine.placement.run(compute)[0]


def with_activation(feed_forward: FeedForward, activation: str) -> FeedForward:
    """Give the same layer, on the same weights, with another bend; the layer itself is left as it is."""
    twin = copy.copy(feed_forward)
    twin.activation = ACTIVATION[activation]
    return twin
