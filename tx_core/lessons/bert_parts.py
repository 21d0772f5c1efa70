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
from tx_core.engine.device import sole_use
from tx_core.engine.tensors import batch_tensors
from tx_core.transformer.attention import merge_heads
from tx_core.transformer.bert import Bert
from tx_core.transformer.layers import ACTIVATION, FeedForward, LayerNorm, layer_norm


def on_cpu(norm: LayerNorm) -> LayerNorm:
    """Return a norm with its parameters on the CPU: itself, or a copy."""
    with sole_use(norm.weight.device.type):
        return norm if norm.weight.device.type == "cpu" else copy.deepcopy(norm).cpu()


class Affine(NamedTuple):
    """The parameters of a linear layer, for x · matrix + bias."""

    matrix: Float[Tensor, "into out"]
    bias: Float[Tensor, "out"]


def matrix_and_bias(linear: nn.Linear) -> Affine:
    """Return a layer's matrix, transposed to (in, out), and its bias, on the CPU."""
    with sole_use(linear.weight.device.type):
        return Affine(linear.weight.detach().cpu().T, linear.bias.detach().cpu())


def feed_forward_as_convolution(
    feed_forward: FeedForward, hidden: Float[Tensor, "batch token hidden"]
) -> Float[Tensor, "batch token hidden"]:
    """Run the weights of a feed-forward layer as two convolutions of width 1."""
    channels = hidden.transpose(1, 2)
    for linear, activation in ((feed_forward.up, feed_forward.activation), (feed_forward.down, None)):
        channels = nn.functional.conv1d(channels, linear.weight[:, :, None], linear.bias)
        channels = channels if activation is None else activation(channels)
    return channels.transpose(1, 2)


def tensor_shapes(model: nn.Module) -> tuple[tuple[str, tuple[int, ...], int], ...]:
    """List every tensor of a model: its name, its shape, and how many numbers it holds; one that is used twice stands once."""
    return tuple((name, tuple(tensor.shape), tensor.numel()) for name, tensor in model.named_parameters())


@dataclass(frozen=True)
class ComparedResults:
    """The same result computed in two ways."""

    ours: Float[Tensor, "..."]
    theirs: Float[Tensor, "..."]

    @property
    def greatest_difference(self) -> float:
        return float((self.ours - self.theirs).abs().max())


@dataclass(frozen=True)
class NormTensors:
    """A layer norm step by step, and PyTorch's result."""

    before: Float[Tensor, "token hidden"]
    mean: Float[Tensor, "token"]
    variance: Float[Tensor, "token"]
    normed: Float[Tensor, "token hidden"]
    result: ComparedResults


@torch.no_grad()
def norm_tensors(norm: LayerNorm, hidden: Float[Tensor, "token hidden"]) -> NormTensors:
    """Compute a layer norm step by step: subtract the mean, divide by √(variance + ε), scale, shift (Ba et al. 2016, eq. 4)."""
    mean = hidden.mean(dim=-1)
    variance = (hidden - mean[:, None]).square().mean(dim=-1)
    normed = (hidden - mean[:, None]) / (variance[:, None] + norm.eps).sqrt()
    theirs = nn.functional.layer_norm(hidden, hidden.shape[-1:], norm.weight, norm.bias, norm.eps)
    return NormTensors(
        hidden, mean, variance, normed, ComparedResults(layer_norm(hidden, norm.weight, norm.bias, norm.eps), theirs)
    )


@dataclass(frozen=True)
class EmbeddingRun:
    """The three embeddings of every token, their sum, and its layer norm, which enters the first block."""

    tokens: tuple[str, ...]
    ids: Int[Tensor, "token"]
    words: Float[Tensor, "token hidden"]
    positions: Float[Tensor, "token hidden"]
    segments: Float[Tensor, "token hidden"]
    summed: Float[Tensor, "token hidden"]
    normed: Float[Tensor, "token hidden"]


def embedding_run(engine: BertEngine, text: str, pair: str | None = None) -> EmbeddingRun:
    """Embed a text as BERT does (Devlin et al. 2019, figure 2). Raises TextProblem when it cannot be read."""
    encoding = engine.encode(text, pair)

    def compute(model: Bert, device: str) -> EmbeddingRun:
        ids, segments, _ = batch_tensors([encoding], engine.tokenizer.padding_id, device)
        parts = model.embeddings
        looked_up = parts.words(ids), parts.positions(torch.arange(len(encoding), device=device)[None]), parts.segments(segments)
        summed = looked_up[0] + looked_up[2] + looked_up[1]
        rows = (part[0].cpu() for part in (ids, *looked_up, summed, parts.norm(summed)))
        return EmbeddingRun(encoding.tokens, *rows)

    return engine.runner.run(compute).value


def repeated_word(run: EmbeddingRun) -> tuple[int, int, float] | None:
    """Return the two positions of the first repeated token and the largest difference of its two sums; None without one."""
    ids = run.ids.tolist()
    for place, number in enumerate(ids):
        if number in ids[place + 1 :]:
            again = ids.index(number, place + 1)
            return place, again, float((run.summed[place] - run.summed[again]).abs().max())
    return None


@dataclass(frozen=True)
class BlockRun:
    """A post-norm block on a sentence, part by part. by_head: what each head adds to `attention_output`, without its bias."""

    tokens: tuple[str, ...]
    input: Float[Tensor, "token hidden"]
    context: Float[Tensor, "head token head_dim"]
    by_head: Float[Tensor, "head token hidden"]
    attention_output: Float[Tensor, "token hidden"]
    attention_sum: Float[Tensor, "token hidden"]
    attention_normed: Float[Tensor, "token hidden"]
    feed_forward_sum: Float[Tensor, "token hidden"]
    output: Float[Tensor, "token hidden"]

    def concatenated_of(self, heads: tuple[int, ...]) -> Float[Tensor, "token hidden"]:
        """Return the concatenated contexts with zeros for all but some heads, counted from 0."""
        selected = torch.zeros_like(self.context)
        selected[list(heads)] = self.context[list(heads)]
        return merge_heads(selected[None])[0]

    def output_of(self, heads: tuple[int, ...], bias: Float[Tensor, "hidden"]) -> Float[Tensor, "token hidden"]:
        """Return the output of the attention part with some heads only, counted from 0."""
        return self.by_head[list(heads)].sum(dim=0) + bias

    @property
    def head_lengths(self) -> Float[Tensor, "head token"]:
        """The norm of the vector that each head adds to each token."""
        return self.by_head.norm(dim=-1)


def mean_token_cosine(one: Float[Tensor, "token hidden"], other: Float[Tensor, "token hidden"]) -> float:
    """Return the cosine similarity of each token's two vectors, averaged over tokens."""
    return float(torch.cosine_similarity(one, other, dim=-1).mean())


def block_run(engine: BertEngine, text: str, pair: str | None = None, *, layer: int) -> BlockRun:
    """Run one block, counted from 0, on a text. Raises TextProblem when it cannot be read."""
    encoding = engine.encode(text, pair)

    def compute(model: Bert, device: str) -> BlockRun:
        ids, segments, _ = batch_tensors([encoding], engine.tokenizer.padding_id, device)
        hidden = model(ids, segments, keep=("hidden",)).hidden[layer]
        block = model.encoder.blocks[layer]
        attention = block.attention(hidden)
        attention_sum = hidden + attention.output
        pieces = block.attention.output.weight.unflatten(1, (-1, attention.context.shape[-1]))
        normed = block.attention_norm(attention_sum)
        feed_forward_sum = normed + block.feed_forward(normed)
        parts = (
            hidden,
            attention.context,
            torch.einsum("bhtd,ohd->bhto", attention.context, pieces),
            attention.output,
            attention_sum,
            normed,
            feed_forward_sum,
            block.feed_forward_norm(feed_forward_sum),
        )
        return BlockRun(encoding.tokens, *(part[0].cpu() for part in parts))

    return engine.runner.run(compute).value


NormPlace = Literal["embeddings", "attention", "feed_forward"]


@dataclass(frozen=True)
class NormRun:
    """A layer norm of the model on a sentence, with its parameters."""

    tokens: tuple[str, ...]
    tensors: NormTensors
    weight: Float[Tensor, "hidden"]
    bias: Float[Tensor, "hidden"]
    eps: float


def norm_run(engine: BertEngine, text: str, pair: str | None = None, *, place: NormPlace, layer: int) -> NormRun:
    """Compute one of the model's layer norms step by step; `layer`, counted from 0, is ignored for the embeddings.

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
    return NormRun(run.tokens, norm_tensors(norm, before), norm.weight, norm.bias, norm.eps)


@dataclass(frozen=True)
class FeedForwardRun:
    """A feed-forward layer step by step, and as a convolution of width 1.

    difference_alone: the largest difference of any number when every token is computed on its own.
    """

    up_projected: Float[Tensor, "token intermediate"]
    activated: Float[Tensor, "token intermediate"]
    convolution: ComparedResults
    difference_alone: float

    @property
    def share_below_zero(self) -> float:
        """The share of numbers below zero before the activation function."""
        return float((self.up_projected < 0).float().mean())

    @property
    def share_passed_below_zero(self) -> float:
        """The absolute sum of these numbers after the activation function, as a share of that of all numbers."""
        passed = self.activated.abs()
        return float(passed[self.up_projected < 0].sum() / passed.sum().clamp(min=1e-12))


def feed_forward_run(engine: BertEngine, vectors: Float[Tensor, "token hidden"], layer: int, activation: str) -> FeedForwardRun:
    """Run a feed-forward layer with any activation function of `layers.ACTIVATION` (Vaswani et al. 2017, section 3.3)."""

    def compute(model: Bert, device: str) -> FeedForwardRun:
        layer_here, rows = copy.copy(model.encoder.blocks[layer].feed_forward), vectors.to(device)
        layer_here.activation = ACTIVATION[activation]  # of the copy, which shares the weights
        up_projected = layer_here.up(rows)
        output, convolved = layer_here(rows[None])[0], feed_forward_as_convolution(layer_here, rows[None])[0]
        one_by_one = torch.cat([layer_here(row) for row in rows.split(1)])
        return FeedForwardRun(
            up_projected.cpu(),
            layer_here.activation(up_projected).cpu(),
            ComparedResults(output.cpu(), convolved.cpu()),
            float((one_by_one - output).abs().max()),
        )

    return engine.runner.run(compute).value
