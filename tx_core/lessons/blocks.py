"""Experiments on the parts of a block: the equality with a convolution, the norm by hand, 24 blocks deep."""

from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor, nn

from tx_core.transformer.layers import EncoderBlock, FeedForward, LayerNorm, MultiHeadAttention


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
class TwoWays:
    """The same result computed in two ways."""

    ours: Float[Tensor, "..."]
    theirs: Float[Tensor, "..."]

    @property
    def greatest_difference(self) -> float:
        """How far the two are apart at their worst number."""
        return float((self.ours - self.theirs).abs().max())


@torch.no_grad()
def compare_with_convolution(feed_forward: FeedForward, hidden: Float[Tensor, "batch token hidden"]) -> TwoWays:
    """Show that feed-forward is a 1×1 convolution (Vaswani et al. 2017, section 3.3)."""
    return TwoWays(feed_forward(hidden), feed_forward_as_convolution(feed_forward, hidden))


@dataclass(frozen=True)
class NormSteps:
    """A layer norm written out for every token, and PyTorch's answer beside it."""

    before: Float[Tensor, "token hidden"]
    mean: Float[Tensor, "token"]
    variance: Float[Tensor, "token"]
    normed: Float[Tensor, "token hidden"]
    result: TwoWays


@torch.no_grad()
def norm_steps(norm: LayerNorm, hidden: Float[Tensor, "token hidden"]) -> NormSteps:
    """Take each vector's mean away, divide by √(variance + ε), stretch and shift (Ba et al. 2016, equation 4)."""
    mean = hidden.mean(dim=-1)
    variance = (hidden - mean[:, None]).square().mean(dim=-1)
    normed = (hidden - mean[:, None]) / (variance[:, None] + norm.eps).sqrt()
    theirs = nn.functional.layer_norm(hidden, hidden.shape[-1:], norm.weight, norm.bias, norm.eps)
    return NormSteps(hidden, mean, variance, normed, TwoWays(norm(hidden), theirs))


@torch.no_grad()
def head_outputs(
    attention: MultiHeadAttention, context: Float[Tensor, "batch head token head_dim"]
) -> Float[Tensor, "batch head token hidden"]:
    """Split the output projection by heads: what each adds; their sum plus the bias is the layer's output."""
    pieces = attention.output.weight.view(-1, *(context.shape[1], context.shape[3]))
    return torch.einsum("bhtd,ohd->bhto", context, pieces)


def without_skips(block: EncoderBlock, hidden: Float[Tensor, "batch token hidden"]) -> Tensor:
    """Run a block whose parts replace what they read instead of adding to it."""
    if block.norm_first:
        attended = block.attention(block.attention_norm(hidden)).output
        return block.feed_forward(block.feed_forward_norm(attended))
    attended = block.attention_norm(block.attention(hidden).output)
    return block.feed_forward_norm(block.feed_forward(attended))


@dataclass(frozen=True)
class Depth:
    """How vectors fare on their way through many blocks, from the input (entry 0) to the last output.

    length: their mean length. alike: the mean cosine between different tokens (1: all the same, and the words
    are lost). gradient: the length of what learning sends back to this depth, as a share of what left the end.
    """

    norm_first: bool
    skips: bool
    length: tuple[float, ...]
    alike: tuple[float, ...]
    gradient: tuple[float, ...]

    @property
    def nbytes(self) -> int:
        """The memory of the numbers, in bytes."""
        return 24 * len(self.length)


def through_depth(
    *,
    norm_first: bool,
    skips: bool = True,
    blocks: int = 24,
    tokens: int = 10,
    hidden: int = 64,
    heads: int = 4,
    seed: int = 0,
) -> Depth:
    """Send random vectors through untrained blocks (pre-norm: Xiong et al. 2020; no skips: Dong et al. 2021).

    hidden, heads, seed: of blocks drawn as Glorot & Bengio 2010 do; feed-forward is four times as wide.
    """
    generator = torch.Generator().manual_seed(seed)
    vectors = torch.randn(1, tokens, hidden, generator=generator).requires_grad_()
    goal = torch.randn(1, tokens, hidden, generator=generator)
    states = [vectors]
    for _ in range(blocks):
        block = _random_block(hidden, heads, norm_first, generator)
        after = block(states[-1])[0] if skips else without_skips(block, states[-1])
        after.retain_grad()
        states.append(after)
    (states[-1] * goal).sum().backward()
    sent = float(goal.norm())
    return Depth(
        norm_first,
        skips,
        tuple(float(state.detach().norm(dim=-1).mean()) for state in states),
        tuple(mean_cosine(state.detach()[0]) for state in states),
        tuple(float(state.grad.norm()) / sent for state in states),
    )


def _random_block(hidden: int, heads: int, norm_first: bool, generator: torch.Generator) -> EncoderBlock:
    block = EncoderBlock(hidden, heads, 4 * hidden, norm_first=norm_first)
    for name, parameter in block.named_parameters():
        parameter.requires_grad_(False)
        if parameter.dim() > 1:
            nn.init.xavier_uniform_(parameter, generator=generator)
        elif name.endswith("bias"):
            nn.init.zeros_(parameter)
    return block


def mean_cosine(vectors: Float[Tensor, "token hidden"]) -> float:
    """Say how alike the tokens of a sentence are: the mean cosine of all pairs of different tokens, 1 for one token."""
    tokens = len(vectors)
    if tokens < 2:
        return 1.0
    unit = nn.functional.normalize(vectors, dim=-1)
    return float(((unit @ unit.T).sum() - tokens) / (tokens * (tokens - 1)))


@dataclass(frozen=True)
class WordJourney:
    """How one token's vector changes through the layers of a model, entry 0 being the embeddings.

    length: of the vector. stay: cosine with the embedding. step: cosine with the layer before (first entry 1).
    """

    token: str
    length: tuple[float, ...]
    stay: tuple[float, ...]
    step: tuple[float, ...]


def word_journey(token: str, hidden: Float[Tensor, "layer hidden"]) -> WordJourney:
    """Follow a token through the blocks; hidden: its vector after the embeddings and after each layer."""
    cosine = nn.functional.cosine_similarity
    step = torch.cat((torch.ones(1), cosine(hidden[1:], hidden[:-1])))
    return WordJourney(
        token,
        tuple(hidden.norm(dim=-1).tolist()),
        tuple(cosine(hidden, hidden[:1]).tolist()),
        tuple(step.tolist()),
    )
