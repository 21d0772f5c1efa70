"""What an intervention does to one attention: other weights from the same scores."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Literal

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from tx_core.transformer.attention import Normalise, attention_weights, softmax
from tx_core.transformer.masks import combine
from tx_core.transformer.normalise import hardmax, sparsemax, with_temperature

Normaliser = Literal["sparse", "hard"]
NORMALISER: dict[str, Normalise] = {"sparse": sparsemax, "hard": hardmax}


@dataclass(frozen=True)
class LayerChange:
    """The changes of one layer, as `attend(change=…)` takes them; a head of None stands for all heads.

    off: heads that add nothing. uniform: heads that look everywhere alike. hidden: (head, key) that nobody looks at.
    cut: (head, query, key) where this query does not look at this key. temperature: what scores are divided by.
    normaliser: what stands in for the softmax.
    """

    off: frozenset[int | None] = frozenset()
    uniform: frozenset[int | None] = frozenset()
    hidden: frozenset[tuple[int | None, int]] = frozenset()
    cut: frozenset[tuple[int | None, int, int]] = frozenset()
    temperature: float = 1.0
    normaliser: Normaliser | None = None

    def __call__(
        self, scores: Float[Tensor, "batch head query key"], mask: Bool[Tensor, "..."] | None, normalise: Normalise
    ) -> Float[Tensor, "batch head query key"]:
        """Make the weights. What the mask hides stays hidden; the scores are those that `attend` hands back."""
        mask = self.narrowed(mask, scores)
        normalise = NORMALISER.get(self.normaliser, normalise)
        if self.temperature != 1:
            normalise = with_temperature(normalise, self.temperature)
        weights = attention_weights(scores, mask, normalise)
        if self.uniform:
            heads = _heads(self.uniform, scores)
            alike = attention_weights(torch.zeros_like(scores), mask, softmax)
            weights = weights.index_copy(1, heads, alike.index_select(1, heads))
        return weights.index_fill(1, _heads(self.off, scores), 0.0) if self.off else weights

    def narrowed(
        self, mask: Bool[Tensor, "..."] | None, scores: Float[Tensor, "batch head query key"]
    ) -> Bool[Tensor, "..."] | None:
        """Take hidden tokens and cut edges out of what may be attended to."""
        if not (self.hidden or self.cut):
            return mask
        allowed = torch.ones(scores.shape[1:], dtype=torch.bool)
        for head, key in self.hidden:
            allowed[_place(head), :, key] = False
        for head, query, key in self.cut:
            allowed[_place(head), query, key] = False
        return combine(mask, allowed.to(scores.device))


@dataclass(frozen=True)
class RowChanges:
    """A change of its own for each row of a batch, None where a row runs as it is."""

    rows: tuple[LayerChange | None, ...]

    def __call__(
        self, scores: Float[Tensor, "batch head query key"], mask: Bool[Tensor, "..."] | None, normalise: Normalise
    ) -> Float[Tensor, "batch head query key"]:
        """Make the weights of the rows that share a change together; raise ValueError for another number of rows."""
        if len(self.rows) != len(scores):
            raise ValueError(f"every row needs its change, got {len(self.rows)} for {len(scores)} rows")
        weights = torch.empty_like(scores)
        for change in dict.fromkeys(self.rows):
            rows = torch.tensor([number for number, own in enumerate(self.rows) if own == change], device=scores.device)
            theirs = mask[rows] if mask is not None and mask.ndim == 4 and len(mask) > 1 else mask
            given = scores[rows], theirs, normalise
            weights = weights.index_copy(0, rows, attention_weights(*given) if change is None else change(*given))
        return weights


def _place(head: int | None) -> int | slice:
    return slice(None) if head is None else head


def _heads(named: Collection[int | None], scores: Float[Tensor, "batch head query key"]) -> Int[Tensor, "_named"]:
    heads = range(scores.shape[1]) if None in named else sorted(head for head in named if head is not None)
    return torch.tensor(list(heads), device=scores.device)
