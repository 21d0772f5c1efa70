"""What each kind of position does to attention scores, every word being the same but for its place."""

from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from tx_core.transformer.attention import attention_scores, softmax
from tx_core.transformer.positions import random_table, sinusoids
from tx_core.transformer.relative import alibi_bias, rotary_angles, rotate, shaw_bias, t5_bias

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
