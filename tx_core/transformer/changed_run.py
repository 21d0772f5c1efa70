"""Interventions on a run: on its attention weights, and on the vectors that its layers compute, row by row of a batch."""

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from tx_core.transformer.attention import (
    Normalise,
    Weigh,
    attention_weights,
    causal_mask,
    combine,
    hardmax,
    softmax,
    sparsemax,
    with_temperature,
)
from tx_core.transformer.config import AttentionKind
from tx_core.transformer.interventions import Intervention, InterventionKind, Vectors, effective

NORMALISER: dict[str, Normalise] = {"sparse": sparsemax, "hard": hardmax}


def weigh_at(batch: Sequence[Sequence[Intervention]], layer: int, attention: AttentionKind = "self") -> Weigh:
    """Return the function that turns the scores of one layer into weights: `attention_weights` where nothing is changed.

    batch: the interventions of each row; empty for none in any row.
    """
    rows = [effective(row, layer, attention) for row in batch]
    return partial(changed_weights, rows) if any(rows) else attention_weights


def changed_weights(
    rows: Sequence[tuple[Intervention, ...]],
    scores: Float[Tensor, "batch head query key"],
    mask: Bool[Tensor, "..."] | None = None,
    normalise: Normalise = softmax,
) -> Float[Tensor, "batch head query key"]:
    """Return the weights of one layer under the `effective` interventions of each row. Keys that the mask hides stay hidden.

    Rows are computed together where they differ in nothing but the heads that are off.
    """
    rest = [tuple(one for one in row if one.kind != "off") for row in rows]
    different = dict.fromkeys(rest)
    weights = torch.empty_like(scores) if len(different) > 1 else _changed_alike(rest[0], scores, mask, normalise)
    for interventions in different if len(different) > 1 else ():
        same = torch.tensor([number for number, own in enumerate(rest) if own == interventions], device=scores.device)
        own_mask = mask[same] if mask is not None and mask.ndim == 4 and len(mask) > 1 else mask
        weights = weights.index_copy(0, same, _changed_alike(interventions, scores[same], own_mask, normalise))
    off = [(number, head) for number, row in enumerate(rows) for head in _heads("off", row, scores)]
    if not off:
        return weights
    places = torch.tensor(off, device=scores.device).unbind(-1)
    return weights.index_put(places, torch.zeros((), dtype=weights.dtype, device=scores.device))


def _changed_alike(
    interventions: Sequence[Intervention],
    scores: Float[Tensor, "batch head query key"],
    mask: Bool[Tensor, "..."] | None,
    normalise: Normalise,
) -> Float[Tensor, "batch head query key"]:
    """Return the weights of rows that have the same interventions, but for heads that are off."""
    mask = _narrow(mask, interventions, scores)
    for one in interventions:
        normalise = NORMALISER.get(one.kind, normalise)
    for one in interventions:
        if one.kind == "temperature" and one.value != 1:
            normalise = with_temperature(normalise, one.value)
    weights = attention_weights(scores, mask, normalise)
    if heads := _heads("uniform", interventions, scores):
        index = torch.tensor(heads, device=scores.device)
        uniform = attention_weights(torch.zeros_like(scores), mask, softmax)
        weights = weights.index_copy(1, index, uniform.index_select(1, index))
    return weights


def _narrow(
    mask: Bool[Tensor, "..."] | None, interventions: Sequence[Intervention], scores: Float[Tensor, "batch head query key"]
) -> Bool[Tensor, "..."] | None:
    """Return the mask without hidden tokens and cut edges, and without later tokens under "causal"."""
    causal = any(one.kind == "causal" for one in interventions)
    if not causal and not any(one.positions for one in interventions):
        return mask
    allowed = torch.ones(scores.shape[1:], dtype=torch.bool)
    if causal:
        allowed &= causal_mask(scores.shape[-1])
    for one in interventions:
        head = slice(None) if one.head is None else one.head
        if one.kind == "hidden":
            allowed[head, :, one.positions[0]] = False
        elif one.kind == "cut":
            allowed[head, one.positions[0], one.positions[1]] = False
    return combine(mask, allowed.to(scores.device))


def _heads(
    kind: InterventionKind, interventions: Sequence[Intervention], scores: Float[Tensor, "batch head query key"]
) -> list[int]:
    """Return the numbers of the heads that have an intervention of a kind."""
    heads = {one.head for one in interventions if one.kind == kind}
    return list(range(scores.shape[1])) if None in heads else sorted(heads)


VECTOR_PARTS = frozenset({"mlp", "residual"})
"""Of `Vectors`, what no attention computes."""
ChangeVectors = Callable[[str, Tensor, Sequence[int] | None], Tensor]
"""A function of the name of a part of `Vectors`, its tensor in one layer, and the positions of its tokens, None for all."""


def unchanged(part: str, values: Tensor, places: Sequence[int] | None = None) -> Tensor:
    """Return the vectors as they are."""
    return values


class VectorChanges:
    """What a batch changes of the vectors of its layers, and what is kept of them.

    batch: the interventions of each row. vectors: those that are put in, by the kind of intervention.
    keep: the parts of `Vectors` to keep, as they are once changed, in `kept`.
    """

    def __init__(
        self, batch: Sequence[Sequence[Intervention]], vectors: Mapping[str, Vectors], keep: Collection[str] = ()
    ) -> None:
        self.batch, self.vectors, self.keep = batch, vectors, keep
        self.kept: dict[str, list[Tensor]] = {part: [] for part in keep}
        self.parts = {one.replaces for row in batch for one in row} - {""}

    def change(
        self, part: str, layer: int, values: Float[Tensor, "row ... token size"], places: Sequence[int] | None = None
    ) -> Float[Tensor, "row ... token size"]:
        """Return a part of the vectors of one layer with what its rows replace. places: the positions of its tokens."""
        if part in self.parts:
            values = self._replaced(part, layer, values, places)
        if part in self.keep:
            self.kept[part].append(values)
        return values

    def _replaced(self, part: str, layer: int, values: Tensor, places: Sequence[int] | None) -> Tensor:
        rows = enumerate(self.batch[: len(values)])
        changed = [(row, one) for row, own in rows for one in own if one.layer == layer and one.replaces == part]
        if not changed:
            return values
        values, taken = values.clone(), {}
        for kind in {one.kind for _, one in changed} - {"off"}:
            new = torch.tensor(getattr(self.vectors[kind], part)[layer], dtype=values.dtype, device=values.device)
            taken[kind] = new if places is None or new.shape[-2] == 1 else new[..., list(places), :]
        for row, one in changed:
            heads = values[row] if one.head is None else values[row, one.head]
            if one.kind == "off":
                heads.zero_()
                continue
            new = taken[one.kind] if one.head is None else taken[one.kind][one.head]
            at = slice(new.shape[-2] if new.shape[-2] > 1 else None)  # padding that follows the text stays
            if one.positions:
                at = _index(one.positions[0], places)
                new = new if new.shape[-2] == 1 else new[..., at, :]
            heads[..., at, :] = torch.where(new.isnan(), heads[..., at, :], new)
        return values


def _index(position: int, places: Sequence[int] | None) -> slice:
    """Return where a position is among those that are computed; nowhere if it is not."""
    if places is None:
        return slice(position, position + 1)
    index = list(places).index(position) if position in places else len(places)
    return slice(index, index + 1)
