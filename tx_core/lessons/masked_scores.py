"""Experiments on masks: what masking does to scores and weights, −∞ against −10000, and padding that must not count."""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from tx_core.transformer.attention import Normalise, attention_weights, softmax
from tx_core.transformer.masks import padding_mask

PENALTY = -10000.0

Encode = Callable[[Int[Tensor, "batch token"], Bool[Tensor, "..."] | None], Float[Tensor, "batch token hidden"]]


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
class Maskings:
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


def three_maskings(scores: Float[Tensor, "query key"], mask: Bool[Tensor, "query key"], penalty: float = PENALTY) -> Maskings:
    """Compare −∞ with the penalty that the first BERT code adds to masked scores, and with no mask.

    The penalty gives nearly the same as long as scores are much smaller than it, but a query that may attend
    nowhere gets every score moved alike, and softmax does not see that: its weights are those without a mask.
    """
    infinite = attention_weights(scores, mask)
    penalised = softmax(scores + (~mask) * penalty)
    unmasked = softmax(scores)
    apart = (infinite - penalised).abs().amax(dim=-1)
    somewhere = mask.any(dim=-1)
    return Maskings(
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


@dataclass(frozen=True)
class PaddingProof:
    """The shorter of two sentences, read alone and in a batch beside the longer one, with and without the mask.

    Vectors are those of its real tokens. Differences are the greatest of any number, against reading it alone.
    """

    lengths: tuple[int, int]
    padding: int
    alone: Float[Tensor, "token hidden"]
    masked: Float[Tensor, "token hidden"]
    unmasked: Float[Tensor, "token hidden"]
    difference_masked: float
    difference_unmasked: float

    @property
    def moved_masked(self) -> tuple[float, ...]:
        """The greatest change of any number of each token's vector, the padding being masked."""
        return tuple((self.masked - self.alone).abs().amax(dim=-1).tolist())

    @property
    def moved_unmasked(self) -> tuple[float, ...]:
        """The greatest change of any number of each token's vector, the padding being read like words."""
        return tuple((self.unmasked - self.alone).abs().amax(dim=-1).tolist())


def pad_batch(sentences: list[tuple[int, ...]], padding_id: int) -> Int[Tensor, "batch token"]:
    """Write sentences below one another, filled up to the longest with padding."""
    longest = max(map(len, sentences))
    return torch.tensor([[*ids, *[padding_id] * (longest - len(ids))] for ids in sentences])


@torch.no_grad()
def padding_proof(encode: Encode, first: tuple[int, ...], second: tuple[int, ...], padding_id: int) -> PaddingProof:
    """Prove that padding changes nothing for the shorter sentence where it is masked, and does where it is not.

    encode: ids and a mask (None: all may be attended to) to the last vectors, in evaluation mode.
    """
    lengths = (len(first), len(second))
    shorter = lengths.index(min(lengths))
    tokens = lengths[shorter]
    batch = pad_batch([first, second], padding_id)
    alone = encode(batch[shorter : shorter + 1, :tokens], None)[0]
    masked = encode(batch, padding_mask(lengths))[shorter, :tokens]
    unmasked = encode(batch, None)[shorter, :tokens]
    return PaddingProof(
        lengths=lengths,
        padding=max(lengths) - tokens,
        alone=alone,
        masked=masked,
        unmasked=unmasked,
        difference_masked=float((masked - alone).abs().max()),
        difference_unmasked=float((unmasked - alone).abs().max()),
    )
