"""Functions that turn scores into weights: softmax, sparsemax, argmax, and a temperature for each of them.

All fit `attend(normalise=…)`: they work on the last axis, and a score of −∞ (a masked key) gets a weight of exactly 0.
"""

import torch
from jaxtyping import Float, Int
from torch import Tensor

from tx_core.transformer.attention import Normalise, softmax


def hardmax(scores: Float[Tensor, "... key"]) -> Float[Tensor, "... key"]:
    """Put all weight on the highest score, the first of equals: hard attention (Xu et al. 2015, section 4.1)."""
    best = scores.argmax(dim=-1, keepdim=True)
    return torch.zeros_like(scores).scatter(-1, best, 1.0)


def sparsemax(scores: Float[Tensor, "... key"]) -> Float[Tensor, "... key"]:
    """Project the scores onto weights that sum to 1, most of them exactly 0 (Martins & Astudillo 2016, algorithm 1)."""
    # A constant added to all scores changes no weight; near 0 the sums below round least.
    scores = scores - scores.amax(dim=-1, keepdim=True).detach()
    ordered = scores.sort(dim=-1, descending=True).values
    sums = ordered.cumsum(dim=-1)
    rank = torch.arange(1, scores.shape[-1] + 1, dtype=scores.dtype, device=scores.device)
    supported = (1 + rank * ordered > sums).sum(dim=-1, keepdim=True)
    threshold = (sums.gather(-1, supported - 1) - 1) / supported
    return (scores - threshold).clamp(min=0)


def with_temperature(normalise: Normalise, temperature: float) -> Normalise:
    """Return `normalise` of the scores divided by a temperature: sharper below 1, flatter above 1.

    The maximum is subtracted first, which changes no weight, and the temperature is clamped to what the dtype can hold.
    So no temperature overflows: the smallest puts all weight on the highest score, the largest makes all weights equal.
    Raises ValueError unless the temperature is above 0.
    """
    if not temperature > 0:
        raise ValueError(f"temperature must be above 0, got {temperature}")

    def normalise_at_temperature(scores: Float[Tensor, "... key"]) -> Float[Tensor, "... key"]:
        smallest = torch.finfo(scores.dtype).tiny  # its reciprocal is finite, too: some devices multiply by that
        centred = scores - scores.amax(dim=-1, keepdim=True).detach()
        return normalise(centred / min(max(temperature, smallest), 1 / smallest))

    return normalise_at_temperature


def support(weights: Float[Tensor, "... key"]) -> Int[Tensor, "..."]:
    """Count the keys with a weight above 0 (the L0 norm of each row)."""
    return (weights != 0).sum(dim=-1)


NORMALISE: dict[str, Normalise] = {"softmax": softmax, "sparsemax": sparsemax, "hardmax": hardmax}
