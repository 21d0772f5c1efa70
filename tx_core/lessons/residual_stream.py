"""What many blocks do to vectors: with and without residual connections, and token by token."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor, nn

from tx_core.engine.bert_engine import BertEngine
from tx_core.engine.engine import batch_tensors
from tx_core.transformer.bert import Bert
from tx_core.transformer.layers import EncoderBlock
from tx_core.transformer.trace import Trace


def run_without_skips(block: EncoderBlock, hidden: Float[Tensor, "batch token hidden"]) -> Tensor:
    """Run a block whose parts replace what they read instead of adding to it."""
    if block.norm_first:
        attended = block.attention(block.attention_norm(hidden)).output
        return block.feed_forward(block.feed_forward_norm(attended))
    attended = block.attention_norm(block.attention(hidden).output)
    return block.feed_forward_norm(block.feed_forward(attended))


@dataclass(frozen=True)
class StackRun:
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


def run_random_blocks(
    *,
    norm_first: bool,
    skips: bool = True,
    blocks: int = 24,
    tokens: int = 10,
    hidden: int = 64,
    heads: int = 4,
    seed: int = 0,
) -> StackRun:
    """Send random vectors through untrained blocks (pre-norm: Xiong et al. 2020; no skips: Dong et al. 2021).

    hidden, heads, seed: of blocks drawn as Glorot & Bengio 2010 do; feed-forward is four times as wide.
    """
    generator = torch.Generator().manual_seed(seed)
    vectors = torch.randn(1, tokens, hidden, generator=generator).requires_grad_()
    goal = torch.randn(1, tokens, hidden, generator=generator)
    states = [vectors]
    for _ in range(blocks):
        block = _random_block(hidden, heads, norm_first, generator)
        after = block(states[-1])[0] if skips else run_without_skips(block, states[-1])
        after.retain_grad()
        states.append(after)
    (states[-1] * goal).sum().backward()
    sent = float(goal.norm())
    return StackRun(
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
class TokenPath:
    """How one token's vector changes through the layers of a model, entry 0 being the embeddings.

    length: of the vector. stay: cosine with the embedding. step: cosine with the layer before (first entry 1).
    """

    token: str
    length: tuple[float, ...]
    stay: tuple[float, ...]
    step: tuple[float, ...]


def token_path(token: str, hidden: Float[Tensor, "layer hidden"]) -> TokenPath:
    """Follow a token through the blocks; hidden: its vector after the embeddings and after each layer."""
    cosine = nn.functional.cosine_similarity
    step = torch.cat((torch.ones(1), cosine(hidden[1:], hidden[:-1])))
    return TokenPath(
        token,
        tuple(hidden.norm(dim=-1).tolist()),
        tuple(cosine(hidden, hidden[:1]).tolist()),
        tuple(step.tolist()),
    )


@dataclass(frozen=True)
class SkipEffect:
    """How alike a sentence's tokens are after the embeddings (entry 0) and after each block: their mean cosine.

    kept: in the model as it is. lost: in the same model with its skip connections cut.
    """

    kept: tuple[float, ...]
    lost: tuple[float, ...]

    @property
    def nbytes(self) -> int:
        """The memory of the numbers, in bytes."""
        return 8 * (len(self.kept) + len(self.lost))


def skip_effect(engine: BertEngine, text: str, pair: str | None = None) -> SkipEffect:
    """Cut the skip connections of a trained model and see its words become the same (Dong et al. 2021).

    Raises TextProblem when the text cannot be read.
    """
    encoding = engine.encode(text, pair)

    def compute(model: Bert, device: str) -> SkipEffect:
        ids, segments, _ = batch_tensors([encoding], engine.tokenizer.padding_id, device)
        kept = model(ids, segments, keep=("hidden",)).hidden
        lost = [kept[0]]
        for block in model.encoder.blocks:
            lost.append(run_without_skips(block, lost[-1]))
        return SkipEffect(*(tuple(mean_cosine(state[0]) for state in states) for states in (kept, lost)))

    return engine.placement.run(compute)[0]


def token_paths(trace: Trace, places: Sequence[int]) -> tuple[TokenPath, ...]:
    """Follow the tokens at some places through the layers of a run that kept "hidden"; ValueError without it."""
    if trace.hidden is None:
        raise ValueError('the trace must keep "hidden"')
    tokens = trace.attention.query_tokens.tokens
    return tuple(token_path(tokens[place], torch.tensor(trace.hidden[:, place])) for place in places)


@dataclass(frozen=True)
class LayerWords:
    """The word that the masked-word head reads off each token's vector at each depth, and how sure it is (0 to 1)."""

    words: tuple[tuple[str, ...], ...]
    shares: Float[np.ndarray, "layer_and_embeddings token"]

    @property
    def nbytes(self) -> int:
        """The memory of the shares and the words, in bytes."""
        return self.shares.nbytes + 100 * self.shares.size


def layer_words(engine: BertEngine, trace: Trace) -> LayerWords:
    """Ask the head for a word at every depth, though it learned to read the last one only (nostalgebraist 2020).

    trace: a run of the same engine that kept "hidden". Raises ValueError without it, or without a head.
    """
    if trace.hidden is None:
        raise ValueError('the trace must keep "hidden"')

    def compute(model: Bert, device: str) -> tuple[Tensor, Tensor]:
        best = [
            model.predict(torch.tensor(states, device=device)).softmax(dim=-1).max(dim=-1) for states in trace.hidden
        ]  # one layer at a time: every token has a score for the whole vocabulary
        return tuple(torch.stack(parts).cpu() for parts in zip(*best, strict=True))

    (shares, ids), _, _ = engine.placement.run(compute)
    words = tuple(tuple(engine.tokenizer.readable(number) for number in row) for row in ids.tolist())
    return LayerWords(words, shares.numpy())
