"""Kinds of positions as numbers to draw: the vectors or biases themselves, and what they do by distance."""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from tx_core.engine.bert_engine import BertEngine
from tx_core.lessons.position_scores import PositionScores, position_scores
from tx_core.transformer.positions import Criterion, check_criteria, sinusoids
from tx_core.transformer.relative import alibi_bias, clipped_distances, rotary_angles, rotate, shaw_bias, t5_bias, t5_buckets

VECTORS = ("sinusoidal", "learned", "rotary")
BIASES = ("shaw", "t5", "alibi")
HEADS = 8
SHAW_LIMIT = 16
Table = Float[Tensor, "token hidden"]
Encode = Callable[[int], Table]


def learned_table(engine: BertEngine) -> Float[Tensor, "token hidden"]:
    """Copy the trained position vectors out of a BERT."""
    return engine.model.embeddings.positions.weight.detach().cpu().clone()


def rotary_waves(tokens: int, width: int, base: float = 10000.0) -> Float[Tensor, "token hidden"]:
    """Give the cosines of all rotary angles, then their sines: what every query and key is turned by."""
    angles = rotary_angles(tokens, width, base)
    return torch.cat((angles.cos(), angles.sin()), dim=-1)


def turned_word(tokens: int, width: int, base: float = 10000.0, seed: int = 0) -> Float[Tensor, "token hidden"]:
    """Turn one random word to every position."""
    word = torch.randn(width, generator=torch.Generator().manual_seed(seed)).expand(tokens, width)
    return rotate(word, rotary_angles(tokens, width, base))


def distance_map(scheme: str, tokens: int) -> Int[Tensor, "query key"]:
    """Number what a relative scheme can tell apart: Shaw's clipped distances around 0, T5's buckets.

    Raises ValueError for a scheme that tells all distances apart.
    """
    if scheme == "shaw":
        return clipped_distances(tokens, tokens, SHAW_LIMIT) - SHAW_LIMIT
    if scheme == "t5":
        return t5_buckets(tokens, tokens)
    raise ValueError(f"scheme must be shaw or t5, got {scheme}")


def biases(scheme: str, tokens: int, width: int = 64, seed: int = 0) -> Float[Tensor, "head query key"]:
    """Give what each head adds to its scores; Shaw's and T5's tables are drawn at random, as before training.

    In place of heads, Shaw's has words: what it adds depends on who looks. Raises ValueError for another scheme.
    """
    generator = torch.Generator().manual_seed(seed)
    if scheme == "shaw":
        words = torch.randn(HEADS, 1, width, generator=generator).expand(HEADS, tokens, width)
        return shaw_bias(words, torch.randn(2 * SHAW_LIMIT + 1, width, generator=generator), tokens)
    if scheme == "t5":
        return t5_bias(torch.randn(32, HEADS, generator=generator), tokens, tokens)
    if scheme == "alibi":
        return alibi_bias(HEADS, tokens)
    raise ValueError(f"scheme must be one of {', '.join(BIASES)}, got {scheme}")


@dataclass(frozen=True)
class ByDistance:
    """A number for every distance from far before to far after: its mean over all pairs, and its range."""

    distance: tuple[int, ...]
    mean: tuple[float, ...]
    lowest: tuple[float, ...]
    highest: tuple[float, ...]

    @property
    def spread(self) -> float:
        """The greatest range at any distance: 0 where only the distance counts."""
        return max(high - low for low, high in zip(self.lowest, self.highest, strict=True))


def by_distance(scores: Float[Tensor, "query key"]) -> ByDistance:
    """Gather scores by how far the key stands after (positive) or before (negative) the query."""
    distances = range(1 - len(scores), len(scores))
    diagonals = [scores.diagonal(distance) for distance in distances]
    numbers = (tuple(float(pick(values)) for values in diagonals) for pick in (torch.mean, torch.min, torch.max))
    return ByDistance(tuple(distances), *numbers)


def same_word_scores(engine: BertEngine, tokens: int, head: int) -> PositionScores:
    """Let a BERT read nothing but copies of one token: what its first layer's head then sees is positions only."""
    blank = engine.tokenizer.mask_id or 0

    def compute(model: nn.Module, device: str) -> PositionScores:
        first = model(torch.full((1, tokens), blank, device=device), keep=("scores", "weights")).layers[0]
        return PositionScores("learned", False, first["scores"][0, head].cpu(), first["weights"][0, head].cpu())

    return engine.placement.run(compute)[0]


def scores_of(scheme: str, tokens: int, width: int, base: float, head: int, engine: BertEngine) -> PositionScores:
    """Give the scores between copies of one word under any scheme: the model's own for "learned"."""
    if scheme == "learned":
        return same_word_scores(engine, tokens, head)
    return position_scores(scheme, tokens, width, base=base, head=head, heads=HEADS)


def contestants(width: int, base: float, table: Float[Tensor, "place hidden"]) -> dict[str, Encode]:
    """Name ways to encode positions, good ones and naive ones, for `positions.check_criteria`."""
    return {
        "sinusoids": lambda tokens: sinusoids(tokens, width, base),
        "learned table": lambda tokens: table[:tokens],
        "rotary": lambda tokens: turned_word(tokens, width, base),
        "counting 0, 1, 2 …": lambda tokens: torch.arange(tokens)[:, None].float(),
        "share of the text": lambda tokens: torch.linspace(0, 1, tokens)[:, None],
        "a new random table": lambda tokens: torch.randn(tokens, width),
    }


def judge(width: int, base: float, table: Float[Tensor, "place hidden"], tokens: int) -> dict[str, tuple[Criterion, ...]]:
    """Check the four demands on every way of `contestants`."""
    return {name: check_criteria(encode, tokens) for name, encode in contestants(width, base, table).items()}
