"""Where a word stands, told by a vector of its own: sinusoids and learned tables, and how to judge them.

Positions told to the scores instead are in relative.py.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import torch
from jaxtyping import Float
from torch import Tensor

Measure = Literal["dot", "cosine"]


def frequencies(hidden: int, base: float = 10000.0) -> Float[Tensor, "pair"]:
    """Give the speed of each pair of dimensions in radians a position, in double precision: base^(−2i/hidden).

    Raises ValueError unless hidden is even and base above 1.
    """
    if hidden < 2 or hidden % 2:
        raise ValueError(f"hidden must be even and 2 or more, got {hidden}")
    if not base > 1:
        raise ValueError(f"base must be above 1, got {base}")
    return base ** (-torch.arange(0, hidden, 2, dtype=torch.float64) / hidden)


def wavelengths(hidden: int, base: float = 10000.0) -> Float[Tensor, "hidden"]:
    """Count the positions after which each dimension repeats itself: 2π to nearly 2π × base."""
    return (2 * math.pi / frequencies(hidden, base)).repeat_interleave(2).float()


def sinusoids(tokens: int, hidden: int, base: float = 10000.0) -> Float[Tensor, "token hidden"]:
    """Give every position its own mix of slow and fast waves (Vaswani et al. 2017, section 3.5).

    Even dimensions are sines, odd ones the cosines of the same wave. They are computed, never learned.
    Raises ValueError for an odd width or a base of 1 or less.
    """
    angle = torch.arange(tokens, dtype=torch.float64)[:, None] * frequencies(hidden, base)
    return torch.stack((angle.sin(), angle.cos()), dim=-1).flatten(1).float()


def random_table(tokens: int, hidden: int, seed: int, deviation: float = 0.02) -> Float[Tensor, "token hidden"]:
    """Draw a learned table as it is before training: it knows nothing of order yet (Devlin et al. 2019)."""
    return torch.randn(tokens, hidden, generator=torch.Generator().manual_seed(seed)) * deviation


def similarity(table: Float[Tensor, "token hidden"], measure: Measure = "cosine") -> Float[Tensor, "query key"]:
    """Compare every position with every other, by dot product or by the cosine of their angle."""
    if measure == "cosine":
        table = torch.nn.functional.normalize(table, dim=-1)
    return table @ table.T


@dataclass(frozen=True)
class SimilarityByDistance:
    """How alike two positions are that stand `distance` tokens apart: the mean over all such pairs, and its range."""

    measure: Measure
    distance: tuple[int, ...]
    mean: tuple[float, ...]
    lowest: tuple[float, ...]
    highest: tuple[float, ...]

    @property
    def spread(self) -> float:
        """The greatest range at any distance: 0 where only the distance counts, wherever one stands."""
        return max(high - low for low, high in zip(self.lowest, self.highest, strict=True))


def similarity_by_distance(table: Float[Tensor, "token hidden"], measure: Measure = "cosine") -> SimilarityByDistance:
    """Show whether near positions are alike and far ones are not, and whether that holds all along the text."""
    alike = similarity(table.double(), measure)
    diagonals = [alike.diagonal(distance) for distance in range(len(table))]
    return SimilarityByDistance(
        measure,
        tuple(range(len(table))),
        tuple(float(values.mean()) for values in diagonals),
        tuple(float(values.min()) for values in diagonals),
        tuple(float(values.max()) for values in diagonals),
    )


@dataclass(frozen=True)
class Criterion:
    """One demand on positional encodings: the number measured, its limit, and whether it holds."""

    name: str
    question: str
    value: float
    limit: float
    holds: bool


def check_criteria(encode: Callable[[int], Float[Tensor, "token hidden"]], tokens: int) -> tuple[Criterion, ...]:
    """Measure the four demands: unique, bounded, deterministic, consistent in distance.

    encode: gives the encodings of that many positions; it is called twice for `tokens` positions and
    once for half of them. Raises ValueError for fewer than 4 positions.
    """
    if tokens < 4:
        raise ValueError(f"tokens must be 4 or more, got {tokens}")
    table, again, shorter = encode(tokens).double(), encode(tokens).double(), encode(tokens // 2).double()
    apart = torch.cdist(table, table, compute_mode="donot_use_mm_for_euclid_dist")
    nearest = float((apart + torch.eye(tokens) * apart.max()).min())
    growth = float(table.abs().max() / shorter.abs().max().clamp(min=1e-12))
    change = max(float((table - again).abs().max()), float((table[: tokens // 2] - shorter).abs().max()))
    ranges = [float(line.max() - line.min()) for line in (apart.diagonal(k) for k in range(1, tokens))]
    spread = max(ranges) / float(apart.max().clamp(min=1e-12))
    return (
        Criterion("unique", "How far apart are the two most alike positions?", nearest, 1e-3, nearest > 1e-3),
        Criterion("bounded", "By what factor does the greatest value grow when the text doubles?", growth, 1.2, growth <= 1.2),
        Criterion(
            "deterministic",
            "How much does an encoding change when computed again, or for a shorter text?",
            change,
            1e-6,
            change <= 1e-6,
        ),
        Criterion(
            "consistent",
            "How much does the distance between two positions equally far apart vary along "
            "the text, as a share of the greatest distance?",
            spread,
            1e-3,
            spread <= 1e-3,
        ),
    )
