"""Positional encodings in one table: vectors and biases to draw, and their effect on attention scores.

To add an encoding, add an entry to `ENCODINGS` and the functions that it names.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from tx_core.engine.bert_engine import BertEngine
from tx_core.engine.device import sole_use
from tx_core.transformer.attention import attention_scores, softmax
from tx_core.transformer.positions import (
    Criterion,
    alibi_bias,
    check_criteria,
    clipped_distances,
    rotary_angles,
    rotate,
    shaw_bias,
    sinusoids,
    t5_bias,
    t5_buckets,
)

BIAS_HEADS = 8
SHAW_LIMIT = 16
T5_BUCKETS = 32

Table = Float[Tensor, "token hidden"]
EncodePositions = Callable[[int], Table]
AddsTo = Literal["nothing", "word vectors", "queries and keys", "scores"]


@dataclass(frozen=True)
class ScoreParts:
    """Queries and equal keys with their positions in them, what is added to the scores, and their factor if not 1/√head_dim."""

    query: Float[Tensor, "token head_dim"]
    bias: Float[Tensor, "query key"] | None = None
    scale: float | None = None


@dataclass(frozen=True)
class PositionEncoding:
    """One way to encode positions.

    adds_to: where positions enter. apply: encodes the positions of copies of one word, with the base of the frequencies of
    sinusoids and rotations and the head whose bias is used, from 0; tables that would be learned are drawn from the generator.
    None where the scores are those of a model. vectors: to draw, from the numbers of tokens and dimensions, the base and a model.
    biases: what each head adds to its scores. distances: the class of each distance, from the number of tokens; None where all
    distances differ.
    """

    adds_to: AddsTo
    apply: Callable[[Float[Tensor, "token head_dim"], float, int, torch.Generator], ScoreParts] | None
    vectors: Callable[[int, int, float, BertEngine], Table] | None = None
    biases: Callable[[int, int, torch.Generator], Float[Tensor, "head query key"]] | None = None
    distances: Callable[[int], Int[Tensor, "query key"]] | None = None


@dataclass(frozen=True)
class PositionScores:
    """Scores between copies of one word at different positions."""

    scores: Float[Tensor, "query key"]
    weights: Float[Tensor, "query key"]


def learned_table(engine: BertEngine) -> Float[Tensor, "token hidden"]:
    """Return a copy of the trained position vectors of a BERT."""
    with sole_use(engine.device):
        return engine.model.embeddings.positions.weight.detach().cpu().clone()


def rotary_cosines_and_sines(tokens: int, width: int, base: float) -> Float[Tensor, "token hidden"]:
    """Return the cosines of all rotary angles, then their sines (Su et al. 2021)."""
    angles = rotary_angles(tokens, width, base)
    return torch.cat((angles.cos(), angles.sin()), dim=-1)


def rotated_vector(tokens: int, width: int, base: float) -> Float[Tensor, "token hidden"]:
    """Rotate one random vector to every position."""
    word = torch.randn(width, generator=torch.Generator().manual_seed(0)).expand(tokens, width)
    return rotate(word, rotary_angles(tokens, width, base))


def _shaw(word: Tensor, base: float, head: int, generator: torch.Generator) -> ScoreParts:
    tokens, width = word.shape
    table = torch.randn(2 * min(SHAW_LIMIT, tokens) + 1, width, generator=generator)
    return ScoreParts(word, shaw_bias(word, table, tokens))


def _t5(word: Tensor, base: float, head: int, generator: torch.Generator) -> ScoreParts:
    table = torch.randn(T5_BUCKETS, BIAS_HEADS, generator=generator)
    return ScoreParts(word, t5_bias(table, len(word), len(word))[head], scale=1.0)


def _shaw_biases(tokens: int, width: int, generator: torch.Generator) -> Float[Tensor, "word query key"]:
    """Return one map per random word in place of heads, because Shaw's biases depend on the query."""
    words = torch.randn(BIAS_HEADS, 1, width, generator=generator).expand(BIAS_HEADS, tokens, width)
    return shaw_bias(words, torch.randn(2 * SHAW_LIMIT + 1, width, generator=generator), tokens)


ENCODINGS = {
    "none": PositionEncoding("nothing", lambda word, base, head, generator: ScoreParts(word)),
    "sinusoidal": PositionEncoding(
        "word vectors",
        lambda word, base, head, generator: ScoreParts(word + sinusoids(*word.shape, base)),
        vectors=lambda tokens, width, base, engine: sinusoids(tokens, width, base),
    ),
    "learned": PositionEncoding("word vectors", None, vectors=lambda tokens, width, base, engine: learned_table(engine)[:tokens]),
    "shaw": PositionEncoding(
        "scores", _shaw, biases=_shaw_biases, distances=lambda tokens: clipped_distances(tokens, tokens, SHAW_LIMIT) - SHAW_LIMIT
    ),
    "t5": PositionEncoding(
        "scores",
        _t5,
        biases=lambda tokens, width, generator: t5_bias(torch.randn(T5_BUCKETS, BIAS_HEADS, generator=generator), tokens, tokens),
        distances=lambda tokens: t5_buckets(tokens, tokens),
    ),
    "rotary": PositionEncoding(
        "queries and keys",
        lambda word, base, head, generator: ScoreParts(rotate(word, rotary_angles(*word.shape, base))),
        vectors=lambda tokens, width, base, engine: rotary_cosines_and_sines(tokens, width, base),
    ),
    "alibi": PositionEncoding(
        "scores",
        lambda word, base, head, generator: ScoreParts(word, alibi_bias(BIAS_HEADS, len(word))[head]),
        biases=lambda tokens, width, generator: alibi_bias(BIAS_HEADS, tokens),
    ),
}


def biases(scheme: str, tokens: int) -> Float[Tensor, "head query key"]:
    """Return the bias that each head adds to its scores, of a scheme with biases; learned tables are random, as untrained."""
    return ENCODINGS[scheme].biases(tokens, 64, torch.Generator().manual_seed(0))


@dataclass(frozen=True)
class DistanceProfile:
    """The mean, minimum and maximum of scores at each distance of key from query, from far before to far after."""

    distance: tuple[int, ...]
    mean: tuple[float, ...]
    lowest: tuple[float, ...]
    highest: tuple[float, ...]

    @property
    def spread(self) -> float:
        """The largest range at any distance: 0 where scores depend on the distance alone."""
        return max(high - low for low, high in zip(self.lowest, self.highest, strict=True))


def distance_profile(scores: Float[Tensor, "query key"]) -> DistanceProfile:
    """Group scores by the distance of the key, positive after the query and negative before it."""
    distances = range(1 - len(scores), len(scores))
    diagonals = [scores.diagonal(distance) for distance in distances]
    numbers = (tuple(float(pick(values)) for values in diagonals) for pick in (torch.mean, torch.min, torch.max))
    return DistanceProfile(tuple(distances), *numbers)


def same_word_scores(engine: BertEngine, tokens: int, head: int) -> PositionScores:
    """Run a BERT on copies of one token, so that the scores of its first layer depend on positions alone."""
    blank = engine.tokenizer.mask_id or 0

    def compute(model: nn.Module, device: str) -> PositionScores:
        first = model(torch.full((1, tokens), blank, device=device), keep=("scores", "weights")).layers[0]
        return PositionScores(first["scores"][0, head].cpu(), first["weights"][0, head].cpu())

    return engine.runner.run(compute).value


def encoding_scores(scheme: str, tokens: int, width: int, base: float, head: int, engine: BertEngine) -> PositionScores:
    """Compute the scores between copies of one random word of a width at every position; "learned" uses the model itself."""
    if scheme == "learned":
        return same_word_scores(engine, tokens, head)
    generator = torch.Generator().manual_seed(0)
    word = torch.randn(width, generator=generator).expand(tokens, width)
    parts = ENCODINGS[scheme].apply(word, base, head, generator)
    scores = attention_scores(parts.query, parts.query, parts.scale, parts.bias)
    return PositionScores(scores, softmax(scores))


def compared_encodings(width: int, base: float, table: Float[Tensor, "place hidden"]) -> dict[str, EncodePositions]:
    """Return good and naive encodings to compare with `positions.check_criteria`."""
    return {
        "sinusoids": lambda tokens: sinusoids(tokens, width, base),
        "learned table": lambda tokens: table[:tokens],
        "rotary": lambda tokens: rotated_vector(tokens, width, base),
        "counting 0, 1, 2 …": lambda tokens: torch.arange(tokens)[:, None].float(),
        "share of the text": lambda tokens: torch.linspace(0, 1, tokens)[:, None],
        "a new random table": lambda tokens: torch.randn(tokens, width),
    }


def check_encodings(
    width: int, base: float, table: Float[Tensor, "place hidden"], tokens: int
) -> dict[str, tuple[Criterion, ...]]:
    """Check the four criteria on every encoding of `compared_encodings`."""
    return {name: check_criteria(encode, tokens) for name, encode in compared_encodings(width, base, table).items()}
