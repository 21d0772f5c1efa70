"""The residual stream: the effect of many blocks on vectors, with and without residual connections, and per token."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor, nn

from tx_core.engine.bert_engine import BertEngine
from tx_core.engine.tensors import batch_tensors
from tx_core.transformer.bert import Bert
from tx_core.transformer.config import TransformerConfig
from tx_core.transformer.layers import EncoderBlock, draw_weights
from tx_core.transformer.trace import Trace


def run_without_skips(block: EncoderBlock, hidden: Float[Tensor, "batch token hidden"]) -> Tensor:
    """Run a block without its residual connections."""
    if block.norm_first:
        attended = block.attention(block.attention_norm(hidden)).output
        return block.feed_forward(block.feed_forward_norm(attended))
    attended = block.attention_norm(block.attention(hidden).output)
    return block.feed_forward_norm(block.feed_forward(attended))


@dataclass(frozen=True)
class StackRun:
    """Random vectors through many untrained blocks, from the input (entry 0) to the output of the last block.

    length: mean norm of the vectors. cosine: mean cosine similarity of different tokens; 1 where all have become the same.
    gradient: norm of the gradient at this depth, relative to that at the output.
    """

    length: tuple[float, ...]
    cosine: tuple[float, ...]
    gradient: tuple[float, ...]


def run_random_blocks(*, norm_first: bool, skips: bool = True, blocks: int = 24, seed: int = 0) -> StackRun:
    """Run ten random vectors of 64 through untrained blocks (pre-norm: Xiong et al. 2020; without skips: Dong et al. 2021).

    Matrices are initialised as in Glorot & Bengio 2010; the feed-forward part is four times as wide as the vectors.
    """
    tokens, hidden, heads = 10, 64, 4
    generator = torch.Generator().manual_seed(seed)
    vectors = torch.randn(1, tokens, hidden, generator=generator).requires_grad_()
    goal = torch.randn(1, tokens, hidden, generator=generator)
    sizes = TransformerConfig(1, hidden, blocks, heads, 4 * hidden, tokens, activation="gelu", layer_norm_eps=1e-12, dropout=0.0)
    states = [vectors]
    for _ in range(blocks):
        block = draw_weights(EncoderBlock(sizes, norm_first=norm_first), generator, lambda name: None)
        block.requires_grad_(False)
        after = block(states[-1])[0] if skips else run_without_skips(block, states[-1])
        after.retain_grad()
        states.append(after)
    (states[-1] * goal).sum().backward()
    sent = float(goal.norm())
    return StackRun(
        tuple(float(state.detach().norm(dim=-1).mean()) for state in states),
        tuple(mean_cosine(state.detach()[0]) for state in states),
        tuple(float(state.grad.norm()) / sent for state in states),
    )


def mean_cosine(vectors: Float[Tensor, "token hidden"]) -> float:
    """Return the mean cosine similarity of all pairs of different tokens; 1 for one token."""
    tokens = len(vectors)
    if tokens < 2:
        return 1.0
    unit = nn.functional.normalize(vectors, dim=-1)
    return float(((unit @ unit.T).sum() - tokens) / (tokens * (tokens - 1)))


@dataclass(frozen=True)
class TokenPath:
    """One token's vector through the layers of a model; entry 0 is the embedding, whose cosine to the previous is 1."""

    token: str
    length: tuple[float, ...]
    cosine_to_embedding: tuple[float, ...]
    cosine_to_previous: tuple[float, ...]


def token_path(token: str, hidden: Float[Tensor, "layer hidden"]) -> TokenPath:
    """Follow one token through the layers; `hidden` holds its vector after the embeddings and after each layer."""
    cosine = nn.functional.cosine_similarity
    step = torch.cat((torch.ones(1), cosine(hidden[1:], hidden[:-1])))
    return TokenPath(token, tuple(hidden.norm(dim=-1).tolist()), tuple(cosine(hidden, hidden[:1]).tolist()), tuple(step.tolist()))


@dataclass(frozen=True)
class SkipEffect:
    """Mean cosine similarity of a sentence's tokens after the embeddings (entry 0) and after each block."""

    with_skips: tuple[float, ...]
    without_skips: tuple[float, ...]


def skip_effect(engine: BertEngine, text: str, pair: str | None = None) -> SkipEffect:
    """Compare a trained model with and without its residual connections (Dong et al. 2021).

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

    return engine.runner.run(compute).value


def token_paths(trace: Trace, places: Sequence[int]) -> tuple[TokenPath, ...]:
    """Follow the tokens at some positions through the layers of a run that kept "hidden"."""
    tokens = trace.attention.query_tokens.tokens
    return tuple(token_path(tokens[place], torch.tensor(trace.hidden[:, place])) for place in places)
