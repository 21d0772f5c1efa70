"""From scores to weights: softmax shares, argmax decides, sparsemax does a little of both.

Every function here fits `attend(normalise=…)`: it works on the last axis, and a score of −∞
(a masked key) gets a weight of exactly 0.
"""

import torch
from jaxtyping import Float, Int
from torch import Tensor

from tx_core.transformer.attention import Normalise, softmax


def hardmax(scores: Float[Tensor, "... key"]) -> Float[Tensor, "... key"]:
    """Give everything to the best score, the first of equals: hard attention (Xu et al. 2015, section 4.1)."""
    best = scores.argmax(dim=-1, keepdim=True)
    return torch.zeros_like(scores).scatter(-1, best, 1.0)


def sparsemax(scores: Float[Tensor, "... key"]) -> Float[Tensor, "... key"]:
    """Give the nearest shares that sum to 1, most of them exactly 0 (Martins & Astudillo 2016, algorithm 1)."""
    # Shares do not change when all scores move together; near 0 the sums below round least.
    scores = scores - scores.amax(dim=-1, keepdim=True).detach()
    ordered = scores.sort(dim=-1, descending=True).values
    sums = ordered.cumsum(dim=-1)
    rank = torch.arange(1, scores.shape[-1] + 1, dtype=scores.dtype, device=scores.device)
    supported = (1 + rank * ordered > sums).sum(dim=-1, keepdim=True)
    threshold = (sums.gather(-1, supported - 1) - 1) / supported
    return (scores - threshold).clamp(min=0)


def with_temperature(normalise: Normalise, temperature: float) -> Normalise:
    """Sharpen (below 1) or flatten (above 1) what `normalise` gives, by dividing the scores.

    Scores are divided as distances from the best one, which changes no share, and by nothing that their kind of number
    cannot hold: next to no temperature then lets the best take all, and the greatest makes all alike.
    Raises ValueError unless the temperature is above 0.
    """
    if not temperature > 0:
        raise ValueError(f"temperature must be above 0, got {temperature}")

    def normalise_at_temperature(scores: Float[Tensor, "... key"]) -> Float[Tensor, "... key"]:
        smallest = torch.finfo(scores.dtype).tiny  # by its reciprocal, too, which is what some devices multiply by
        below_best = scores - scores.amax(dim=-1, keepdim=True).detach()
        return normalise(below_best / min(max(temperature, smallest), 1 / smallest))

    return normalise_at_temperature


def support(weights: Float[Tensor, "... key"]) -> Int[Tensor, "..."]:
    """Count the keys that get any weight at all: the L0 norm of each row."""
    return (weights != 0).sum(dim=-1)


NORMALISE: dict[str, Normalise] = {"softmax": softmax, "sparsemax": sparsemax, "hardmax": hardmax}
