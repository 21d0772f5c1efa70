"""Masks by name, what a mask does to scores and weights, and −∞ against a penalty of −10,000."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Bool, Float
from torch import Tensor

from tx_core.transformer.attention import Normalise, attention_weights, causal_mask, combine, padding_mask, softmax, window_mask


def _combined(tokens: int, real: int, width: int) -> Bool[Tensor, "query key"]:
    return combine(causal_mask(tokens), padding_mask([real], tokens)[0, 0])


def _padding(tokens: int, real: int, width: int) -> Bool[Tensor, "query key"]:
    return padding_mask([real], tokens)[0, 0].expand(tokens, -1).clone()


# To add a mask, add an entry: its name, and a function of the tokens, those that are not padding, and a width.
MASK_KINDS: dict[str, Callable[[int, int, int], Bool[Tensor, "query key"]]] = {
    "none": lambda tokens, real, width: torch.ones(tokens, tokens, dtype=torch.bool),
    "padding": _padding,
    "causal": lambda tokens, real, width: causal_mask(tokens),
    "combined": _combined,
    "window": lambda tokens, real, width: window_mask(tokens, width),
}


def mask_of_kind(kind: str, tokens: int, real: int, width: int = 1) -> Bool[Tensor, "query key"]:
    """Build a mask of `MASK_KINDS`; True = may attend.

    Args:
        kind: A key of `MASK_KINDS`.
        tokens: The number of tokens, padding included.
        real: How many of them, from the first, are not padding.
        width: The number of neighbours on either side, for "window".

    Raises:
        ValueError: For an unknown kind.
    """
    if kind not in MASK_KINDS:
        raise ValueError(f"kind must be one of {', '.join(MASK_KINDS)}, got {kind}")
    return MASK_KINDS[kind](tokens, real, width)


def fit_mask(drawn: Bool[np.ndarray, "query key"], tokens: int) -> Bool[Tensor, "fitted_query fitted_key"]:
    """Fit a drawn mask to another number of tokens; cells that the drawn mask does not have are allowed."""
    fitted = torch.ones(tokens, tokens, dtype=torch.bool)
    both = min(tokens, len(drawn))
    fitted[:both, :both] = torch.from_numpy(drawn[:both, :both])
    return fitted


def forbid_row(mask: Bool[Tensor, "query key"], query: int) -> Bool[Tensor, "query key"]:
    """Return the mask with one query blocked from every key."""
    changed = mask.clone()
    changed[query] = False
    return changed


PENALTY = -10000.0


@dataclass(frozen=True)
class MaskEffect:
    """Attention scores and weights before and after a mask."""

    mask: Bool[Tensor, "query key"]
    scores: Float[Tensor, "query key"]
    masked_scores: Float[Tensor, "query key"]
    weights_before: Float[Tensor, "query key"]
    weights: Float[Tensor, "query key"]

    @property
    def difference(self) -> Float[Tensor, "query key"]:
        """The change of each weight, after − before."""
        return self.weights - self.weights_before

    @property
    def nowhere(self) -> tuple[int, ...]:
        """The queries that may attend to no key."""
        return tuple((~self.mask.any(dim=-1)).nonzero().flatten().tolist())


def mask_effect(
    scores: Float[Tensor, "query key"], mask: Bool[Tensor, "query key"], normalise: Normalise = softmax
) -> MaskEffect:
    """Apply a mask to scores and compute the weights before and after."""
    return MaskEffect(
        mask=mask,
        scores=scores,
        masked_scores=scores.masked_fill(~mask, -torch.inf),
        weights_before=attention_weights(scores, None, normalise),
        weights=attention_weights(scores, mask, normalise),
    )


@dataclass(frozen=True)
class MaskingComparison:
    """The same scores masked in three ways: by −∞, by a finite penalty, and not at all.

    Attributes:
        penalty: What is added to the scores of masked keys.
        infinite: Weights masked by −∞.
        penalised: Weights masked by the penalty.
        unmasked: Weights without a mask.
        leak: The largest weight, summed over masked keys, that the penalty leaves to a query that has allowed keys.
        leak_unmasked: The same without a mask.
        greatest_difference: The largest difference between −∞ and the penalty, over queries that have allowed keys.
        greatest_difference_nowhere: The same over queries without allowed keys: zeros against what looks like attention.
    """

    penalty: float
    infinite: Float[Tensor, "query key"]
    penalised: Float[Tensor, "query key"]
    unmasked: Float[Tensor, "query key"]
    leak: float
    leak_unmasked: float
    greatest_difference: float
    greatest_difference_nowhere: float


def compare_maskings(
    scores: Float[Tensor, "query key"], mask: Bool[Tensor, "query key"], penalty: float = PENALTY
) -> MaskingComparison:
    """Compare −∞ with the penalty that the original BERT code adds to masked scores, and with no mask.

    The penalty gives nearly the same weights while scores are much smaller than it. For a query without allowed keys it shifts
    every score by the same amount, which softmax ignores: the weights are those without a mask.
    """
    infinite = attention_weights(scores, mask)
    penalised = softmax(scores + (~mask) * penalty)
    unmasked = softmax(scores)
    apart = (infinite - penalised).abs().amax(dim=-1)
    somewhere = mask.any(dim=-1)
    return MaskingComparison(
        penalty=penalty,
        infinite=infinite,
        penalised=penalised,
        unmasked=unmasked,
        leak=_greatest((penalised * ~mask).sum(dim=-1)[somewhere]),
        leak_unmasked=_greatest((unmasked * ~mask).sum(dim=-1)[somewhere]),
        greatest_difference=_greatest(apart[somewhere]),
        greatest_difference_nowhere=_greatest(apart[~somewhere]),
    )


def _greatest(values: Float[Tensor, "any"]) -> float:
    return float(values.max()) if len(values) else 0.0
