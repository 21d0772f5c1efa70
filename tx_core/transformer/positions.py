"""Positional encodings: a vector for each position, sinusoidal or learned, and those that act on the scores instead.

Of the relative ones, Shaw, T5 and ALiBi return a bias for `attend(bias=…)`; rotary (RoPE) rotates queries and keys before
they are multiplied. The criteria for good vectors of positions are here, too.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import torch
from jaxtyping import Float, Int
from torch import Tensor

SimilarityMeasure = Literal["dot", "cosine"]


def frequencies(hidden: int, base: float = 10000.0) -> Float[Tensor, "pair"]:
    """Return the frequency of each pair of dimensions in radians per position, in double precision: base^(−2i/hidden)."""
    return base ** (-torch.arange(0, hidden, 2, dtype=torch.float64) / hidden)


def sinusoids(tokens: int, hidden: int, base: float = 10000.0) -> Float[Tensor, "token hidden"]:
    """Encode positions by sines and cosines of many frequencies (Vaswani et al. 2017, section 3.5).

    Even dimensions are sines, odd ones the cosines of the same frequency. They are fixed, not learned.
    """
    angle = torch.arange(tokens, dtype=torch.float64)[:, None] * frequencies(hidden, base)
    return torch.stack((angle.sin(), angle.cos()), dim=-1).flatten(1).float()


def similarity(table: Float[Tensor, "token hidden"], measure: SimilarityMeasure = "cosine") -> Float[Tensor, "query key"]:
    """Compare every position with every other, by dot product or cosine similarity."""
    if measure == "cosine":
        table = torch.nn.functional.normalize(table, dim=-1)
    return table @ table.T


@dataclass(frozen=True)
class Criterion:
    """One criterion for positional encodings, the number that was measured, and whether it is within the limit."""

    name: str
    value: float
    holds: bool


MIN_APART, MAX_GROWTH, MAX_CHANGE, MAX_SPREAD = 1e-3, 1.2, 1e-6, 1e-3
"""The limits of `check_criteria`."""


def distance_spread(table: Float[Tensor, "token hidden"]) -> float:
    """Return how much the distance between positions equally far apart varies, as a share of the largest distance."""
    apart = _distances(table.double())
    ranges = [float(line.max() - line.min()) for line in (apart.diagonal(k) for k in range(1, len(table)))]
    return max(ranges) / float(apart.max().clamp(min=1e-12))


def _distances(table: Float[Tensor, "token hidden"]) -> Float[Tensor, "query key"]:
    return torch.cdist(table, table, compute_mode="donot_use_mm_for_euclid_dist")


def check_criteria(encode: Callable[[int], Float[Tensor, "token hidden"]], tokens: int) -> tuple[Criterion, ...]:
    """Measure whether positional encodings are unique, bounded, deterministic and consistent in distance.

    unique: the distance between the two nearest encodings. bounded: the factor by which the largest value grows when the text
    doubles. deterministic: the largest change when encodings are computed again, or for a shorter text. consistent: as
    `distance_spread`. encode: returns the encodings of that many positions.
    """
    table, again, shorter = encode(tokens).double(), encode(tokens).double(), encode(tokens // 2).double()
    apart = _distances(table)
    nearest = float((apart + torch.eye(tokens) * apart.max()).min())
    growth = float(table.abs().max() / shorter.abs().max().clamp(min=1e-12))
    change = max(float((table - again).abs().max()), float((table[: tokens // 2] - shorter).abs().max()))
    spread = distance_spread(table)
    return (
        Criterion("unique", nearest, nearest > MIN_APART),
        Criterion("bounded", growth, growth <= MAX_GROWTH),
        Criterion("deterministic", change, change <= MAX_CHANGE),
        Criterion("consistent", spread, spread <= MAX_SPREAD),
    )


def relative_distances(query_tokens: int, key_tokens: int) -> Int[Tensor, "query key"]:
    """Return how many tokens each key comes after (positive) or before (negative) each query."""
    return torch.arange(key_tokens)[None, :] - torch.arange(query_tokens)[:, None]


def clipped_distances(query_tokens: int, key_tokens: int, limit: int) -> Int[Tensor, "query key"]:
    """Clip distances to ±limit and number them from 0 to 2 × limit (Shaw et al. 2018, equation 4)."""
    return relative_distances(query_tokens, key_tokens).clamp(-limit, limit) + limit


def shaw_bias(
    query: Float[Tensor, "... query head_dim"], table: Float[Tensor, "distance head_dim"], key_tokens: int
) -> Float[Tensor, "... query key"]:
    """Return the scaled dot product of each query with a learned vector for each distance (Shaw et al. 2018, equation 5).

    table: one vector for each of the 2 × limit + 1 clipped distances.
    """
    distance = clipped_distances(query.shape[-2], key_tokens, len(table) // 2).to(query.device)
    matches = query @ table.T / math.sqrt(query.shape[-1])
    return matches.gather(-1, distance.expand(*matches.shape[:-1], key_tokens))


def t5_buckets(query_tokens: int, key_tokens: int, *, buckets: int = 32, max_distance: int = 128) -> Int[Tensor, "query key"]:
    """Sort distances into buckets, one for each short distance, logarithmic for long ones (Raffel et al. 2020, section 2.1).

    Half of the buckets, of which there are 4 or more, are for keys after the query, as in an encoder.
    """
    after = relative_distances(query_tokens, key_tokens)
    buckets //= 2
    offset, distance = (after > 0) * buckets, after.abs()
    exact = buckets // 2
    growth = torch.log(distance.clamp(min=1).float() / exact) / math.log(max_distance / exact)
    far = (exact + (growth * (buckets - exact)).long()).clamp(max=buckets - 1)
    return offset + torch.where(distance < exact, distance, far)


def t5_bias(table: Float[Tensor, "bucket head"], query_tokens: int, key_tokens: int) -> Float[Tensor, "head query key"]:
    """Return a learned scalar for each bucket of distances and each head (Raffel et al. 2020, section 2.1).

    T5 does not scale its scores: use it with `attend(scale=1.0)`.
    """
    buckets = t5_buckets(query_tokens, key_tokens, buckets=len(table)).to(table.device)
    return table[buckets].permute(2, 0, 1)


def alibi_slopes(heads: int) -> Float[Tensor, "head"]:
    """Return the slope of each head, from 1/2 down to 1/256 for 8 heads (Press et al. 2022, section 3).

    Where the number of heads is not a power of two, the remaining slopes are those of the next power, as in the authors' code.
    """
    power = 2 ** int(math.log2(heads))
    slopes = [2 ** (-8 * (head + 1) / power) for head in range(power)]
    between = [2 ** (-4 * (2 * head + 1) / power) for head in range(heads - power)]
    return torch.tensor(slopes + between)


def alibi_bias(heads: int, tokens: int) -> Float[Tensor, "head query key"]:
    """Return minus slope × distance, the same to both sides (Press et al. 2022, figure 3)."""
    return -alibi_slopes(heads)[:, None, None] * relative_distances(tokens, tokens).abs()


def rotary_angles(tokens: int, head_dim: int, base: float = 10000.0) -> Float[Tensor, "token pair"]:
    """Return the angle in radians by which each pair of dimensions is rotated at each position."""
    return (torch.arange(tokens, dtype=torch.float64)[:, None] * frequencies(head_dim, base)).float()


def rotate(x: Float[Tensor, "... token head_dim"], angles: Float[Tensor, "token pair"]) -> Float[Tensor, "... token head_dim"]:
    """Rotate each query or key by its position, so that scores depend on the distance only (Su et al. 2021, equation 34).

    Dimension i is paired with i + head_dim/2, as in Llama and GPT-NeoX; the paper pairs neighbours,
    which is the same up to the order of dimensions.
    """
    first, second = x.chunk(2, dim=-1)
    cos, sin = angles.cos(), angles.sin()
    return torch.cat((first * cos - second * sin, second * cos + first * sin), dim=-1)
