"""Interventions on vectors: what the layers of a run compute, replaced for each row of a batch as its interventions say."""

from collections.abc import Callable, Collection, Mapping, Sequence

import torch
from jaxtyping import Float
from torch import Tensor

from tx_core.transformer.interventions import Intervention, Vectors

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
