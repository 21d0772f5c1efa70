"""Absolute positional encodings: one vector per position, sinusoidal or learned, and criteria to judge them by.

Encodings that act on the scores instead are in relative.py.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import torch
from jaxtyping import Float
from torch import Tensor

SimilarityMeasure = Literal["dot", "cosine"]


def frequencies(hidden: int, base: float = 10000.0) -> Float[Tensor, "pair"]:
    """Return the frequency of each pair of dimensions in radians per position, in double precision: base^(−2i/hidden).

    Raises ValueError unless hidden is even and base above 1.
    """
    if hidden < 2 or hidden % 2:
        raise ValueError(f"hidden must be even and 2 or more, got {hidden}")
    if not base > 1:
        raise ValueError(f"base must be above 1, got {base}")
    return base ** (-torch.arange(0, hidden, 2, dtype=torch.float64) / hidden)


def sinusoids(tokens: int, hidden: int, base: float = 10000.0) -> Float[Tensor, "token hidden"]:
    """Encode positions by sines and cosines of many frequencies (Vaswani et al. 2017, section 3.5).

    Even dimensions are sines, odd ones the cosines of the same frequency. They are fixed, not learned.
    Raises ValueError for an odd hidden size or a base of 1 or less.
    """
    angle = torch.arange(tokens, dtype=torch.float64)[:, None] * frequencies(hidden, base)
    return torch.stack((angle.sin(), angle.cos()), dim=-1).flatten(1).float()


def random_table(tokens: int, hidden: int, seed: int, deviation: float = 0.02) -> Float[Tensor, "token hidden"]:
    """Draw a learned position table as it is before training: normal with this standard deviation (Devlin et al. 2019)."""
    return torch.randn(tokens, hidden, generator=torch.Generator().manual_seed(seed)) * deviation


def similarity(table: Float[Tensor, "token hidden"], measure: SimilarityMeasure = "cosine") -> Float[Tensor, "query key"]:
    """Compare every position with every other, by dot product or cosine similarity."""
    if measure == "cosine":
        table = torch.nn.functional.normalize(table, dim=-1)
    return table @ table.T


@dataclass(frozen=True)
class Criterion:
    """One criterion for positional encodings.

    Attributes:
        name: what is required.
        value: the number that was measured.
        holds: whether the number is within the limit.
    """

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

    unique: the distance between the two nearest encodings. bounded: the factor by which the largest value grows when the
    text doubles. deterministic: the largest change when encodings are computed again, or for a shorter text. consistent:
    how much the distance between two positions equally far apart varies along the text, as a share of the largest distance.

    encode: returns the encodings of that many positions; it is called twice for `tokens` positions and once for half of
    them. Raises ValueError for fewer than 4 positions.
    """
    if tokens < 4:
        raise ValueError(f"tokens must be 4 or more, got {tokens}")
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
