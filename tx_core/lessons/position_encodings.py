"""Encodings of positions as numbers to draw: vectors, biases, and what they do to attention scores."""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from tx_core.engine.bert_engine import BertEngine
from tx_core.transformer.attention import attention_scores, softmax
from tx_core.transformer.positions import Criterion, check_criteria, random_table, sinusoids
from tx_core.transformer.relative import alibi_bias, clipped_distances, rotary_angles, rotate, shaw_bias, t5_bias, t5_buckets

SCHEMES: dict[str, str] = {
    "none": "no positions",
    "sinusoidal": "sinusoids added to the word",
    "learned": "a learned vector added to the word",
    "shaw": "relative keys (Shaw)",
    "t5": "a learned number for each bucket of distances (T5)",
    "rotary": "queries and keys turned by their place",
    "alibi": "a penalty for distance (ALiBi)",
}


@dataclass(frozen=True)
class PositionScores:
    """Scores between copies of one word at different places, and the weights that follow from them.

    drawn: whether the pattern rests on tables drawn at random, as before training, and not on a formula alone.
    """

    scheme: str
    drawn: bool
    scores: Float[Tensor, "query key"]
    weights: Float[Tensor, "query key"]


def position_scores(
    scheme: str,
    tokens: int,
    head_dim: int,
    *,
    seed: int = 0,
    base: float = 10000.0,
    head: int = 0,
    heads: int = 8,
    table: Float[Tensor, "place head_dim"] | None = None,
) -> PositionScores:
    """Place one random word everywhere and see which places it attends to under a scheme of `SCHEMES`.

    table: trained vectors for "learned" in place of drawn ones. head of heads chooses the slope of ALiBi.
    Raises ValueError for an unknown scheme or a table of fewer rows than tokens.
    """
    if scheme not in SCHEMES:
        raise ValueError(f"scheme must be one of {', '.join(SCHEMES)}, got {scheme}")
    if table is not None and len(table) < tokens:
        raise ValueError(f"the table must have {tokens} rows or more, got {len(table)}")
    generator = torch.Generator().manual_seed(seed)
    word = torch.randn(head_dim, generator=generator).expand(tokens, head_dim)
    query, key, bias = word, word, None
    if scheme == "sinusoidal":
        query = key = word + sinusoids(tokens, head_dim, base)
    elif scheme == "learned":
        query = key = word + (random_table(tokens, head_dim, seed + 1, 1.0) if table is None else table[:tokens])
    elif scheme == "rotary":
        query = key = rotate(word, rotary_angles(tokens, head_dim, base))
    elif scheme == "shaw":
        bias = shaw_bias(query, torch.randn(2 * min(16, tokens) + 1, head_dim, generator=generator), tokens)
    elif scheme == "t5":
        bias = t5_bias(torch.randn(32, heads, generator=generator), tokens, tokens)[head]
    elif scheme == "alibi":
        bias = alibi_bias(heads, tokens)[head]
    scores = attention_scores(query, key, bias=bias)
    drawn = scheme in ("shaw", "t5") or (scheme == "learned" and table is None)
    return PositionScores(scheme, drawn, scores, softmax(scores))


VECTORS = ("sinusoidal", "learned", "rotary")

BIASES = ("shaw", "t5", "alibi")

BIAS_HEADS = 8

SHAW_LIMIT = 16

Table = Float[Tensor, "token hidden"]

Encode = Callable[[int], Table]


def learned_table(engine: BertEngine) -> Float[Tensor, "token hidden"]:
    """Copy the trained position vectors out of a BERT."""
    return engine.model.embeddings.positions.weight.detach().cpu().clone()


def rotary_cosines_and_sines(tokens: int, width: int, base: float = 10000.0) -> Float[Tensor, "token hidden"]:
    """Give the cosines of all rotary angles, then their sines: what every query and key is turned by."""
    angles = rotary_angles(tokens, width, base)
    return torch.cat((angles.cos(), angles.sin()), dim=-1)


def rotated_vector(tokens: int, width: int, base: float = 10000.0, seed: int = 0) -> Float[Tensor, "token hidden"]:
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
        words = torch.randn(BIAS_HEADS, 1, width, generator=generator).expand(BIAS_HEADS, tokens, width)
        return shaw_bias(words, torch.randn(2 * SHAW_LIMIT + 1, width, generator=generator), tokens)
    if scheme == "t5":
        return t5_bias(torch.randn(32, BIAS_HEADS, generator=generator), tokens, tokens)
    if scheme == "alibi":
        return alibi_bias(BIAS_HEADS, tokens)
    raise ValueError(f"scheme must be one of {', '.join(BIASES)}, got {scheme}")


@dataclass(frozen=True)
class DistanceProfile:
    """A number for every distance from far before to far after: its mean over all pairs, and its range."""

    distance: tuple[int, ...]
    mean: tuple[float, ...]
    lowest: tuple[float, ...]
    highest: tuple[float, ...]

    @property
    def spread(self) -> float:
        """The greatest range at any distance: 0 where only the distance counts."""
        return max(high - low for low, high in zip(self.lowest, self.highest, strict=True))


def distance_profile(scores: Float[Tensor, "query key"]) -> DistanceProfile:
    """Gather scores by how far the key stands after (positive) or before (negative) the query."""
    distances = range(1 - len(scores), len(scores))
    diagonals = [scores.diagonal(distance) for distance in distances]
    numbers = (tuple(float(pick(values)) for values in diagonals) for pick in (torch.mean, torch.min, torch.max))
    return DistanceProfile(tuple(distances), *numbers)


def same_word_scores(engine: BertEngine, tokens: int, head: int) -> PositionScores:
    """Let a BERT read nothing but copies of one token: what its first layer's head then sees is positions only."""
    blank = engine.tokenizer.mask_id or 0

    def compute(model: nn.Module, device: str) -> PositionScores:
        first = model(torch.full((1, tokens), blank, device=device), keep=("scores", "weights")).layers[0]
        return PositionScores("learned", False, first["scores"][0, head].cpu(), first["weights"][0, head].cpu())

    return engine.placement.run(compute)[0]


def encoding_scores(scheme: str, tokens: int, width: int, base: float, head: int, engine: BertEngine) -> PositionScores:
    """Give the scores between copies of one word under any scheme: the model's own for "learned"."""
    if scheme == "learned":
        return same_word_scores(engine, tokens, head)
    return position_scores(scheme, tokens, width, base=base, head=head, heads=BIAS_HEADS)


def compared_encodings(width: int, base: float, table: Float[Tensor, "place hidden"]) -> dict[str, Encode]:
    """Name ways to encode positions, good ones and naive ones, for `positions.check_criteria`."""
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
    """Check the four demands on every way of `contestants`."""
    return {name: check_criteria(encode, tokens) for name, encode in compared_encodings(width, base, table).items()}
