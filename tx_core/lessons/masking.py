"""Masks by name, what a mask does to scores and weights, and −∞ against a penalty of −10,000."""

from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Bool, Float
from torch import Tensor

from tx_core.transformer.attention import Normalise, attention_weights, softmax
from tx_core.transformer.masks import causal_mask, combine, padding_mask, window_mask

MASK_KINDS: dict[str, str] = {
    "none": "Every token may look at every token.",
    "padding": "Nobody may look at padding: it only fills the row up and means nothing.",
    "causal": "Every token may look at itself and at what came before: the future is hidden, as in GPT.",
    "combined": "Both at once: a token is seen when it is no padding and does not lie in the future.",
    "window": "Every token may look at its near neighbours only: the way of long texts, as in Longformer.",
}


def mask_of_kind(kind: str, tokens: int, real: int, width: int = 1) -> Bool[Tensor, "query key"]:
    """Build a mask of `KINDS` for tokens of which the first `real` are no padding.

    width: neighbours on either side, for a window. Raises ValueError for an unknown kind.
    """
    everything = torch.ones(tokens, tokens, dtype=torch.bool)
    padding = padding_mask([real], tokens)[0, 0]
    masks = {
        "none": lambda: everything,
        "padding": lambda: combine(everything, padding),
        "causal": lambda: causal_mask(tokens),
        "combined": lambda: combine(causal_mask(tokens), padding),
        "window": lambda: window_mask(tokens, width),
    }
    if kind not in masks:
        raise ValueError(f"kind must be one of {', '.join(MASK_KINDS)}, got {kind}")
    return masks[kind]()


def fit_mask(painted: Bool[np.ndarray, "query key"], tokens: int) -> Bool[Tensor, "fitted_query fitted_key"]:
    """Carry a painted mask over to another number of tokens: the first ones keep theirs, new ones are allowed all."""
    fitted = torch.ones(tokens, tokens, dtype=torch.bool)
    both = min(tokens, len(painted))
    fitted[:both, :both] = torch.from_numpy(painted[:both, :both])
    return fitted


def forbid_row(mask: Bool[Tensor, "query key"], query: int) -> Bool[Tensor, "query key"]:
    """Leave one query nowhere to look."""
    changed = mask.clone()
    changed[query] = False
    return changed


PENALTY = -10000.0


@dataclass(frozen=True)
class MaskEffect:
    """Scores and weights before and after a mask, and what the mask moved (after − before)."""

    mask: Bool[Tensor, "query key"]
    scores: Float[Tensor, "query key"]
    masked_scores: Float[Tensor, "query key"]
    weights_before: Float[Tensor, "query key"]
    weights: Float[Tensor, "query key"]

    @property
    def difference(self) -> Float[Tensor, "query key"]:
        """Where attention went: the weight that each cell won (above 0) or lost."""
        return self.weights - self.weights_before

    @property
    def nowhere(self) -> tuple[int, ...]:
        """The queries that may attend nowhere."""
        return tuple((~self.mask.any(dim=-1)).nonzero().flatten().tolist())


def mask_effect(
    scores: Float[Tensor, "query key"], mask: Bool[Tensor, "query key"], normalise: Normalise = softmax
) -> MaskEffect:
    """Show scores before and after the mask, weights before and after, in one record."""
    return MaskEffect(
        mask=mask,
        scores=scores,
        masked_scores=scores.masked_fill(~mask, -torch.inf),
        weights_before=attention_weights(scores, None, normalise),
        weights=attention_weights(scores, mask, normalise),
    )


@dataclass(frozen=True)
class MaskingComparison:
    """The same scores masked in three ways: by −∞, by a penalty added to the score, and not at all.

    leak and leak_unmasked: the most weight that any query gives to keys that it must not see.
    greatest_difference: between −∞ and the penalty, over all queries that may attend somewhere.
    greatest_difference_nowhere: over those that may not: zeros against weights that look like real attention.
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
    """Compare −∞ with the penalty that the first BERT code adds to masked scores, and with no mask.

    The penalty gives nearly the same as long as scores are much smaller than it, but a query that may attend
    nowhere gets every score moved alike, and softmax does not see that: its weights are those without a mask.
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
