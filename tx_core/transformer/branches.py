"""Runs of one text that begin at a later layer, where they first differ from its first run; and what is wanted of a block."""

from collections.abc import Collection, Sequence
from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

from tx_core.transformer.attention import Weigh, attention_weights
from tx_core.transformer.changed_weights import heads_off, weigh_at
from tx_core.transformer.interventions import Intervention


class Wanted(NamedTuple):
    """What is wanted of a block. The default is everything.

    Attributes:
        places: the positions whose new vectors are wanted; None for all.
        queries_alone: whether no other position need attend.
        values: whether anything beyond the weights is wanted.
        parts: the parts of the attention that are kept; None for all. The memory of others is free for the rest of the block.
    """

    places: Sequence[int] | None = None
    queries_alone: bool = False
    values: bool = True
    parts: Collection[str] | None = None


class Branches(NamedTuple):
    """Runs that begin at a layer from the vectors of the first row.

    Attributes:
        runs: how many.
        weigh: what makes their weights.
        off: the heads that are off, as pairs of run and head, where they differ from the first row in nothing else; else None.
    """

    runs: int = 0
    weigh: Weigh = attention_weights
    off: list[tuple[int, int]] | None = None


EVERYTHING, NO_BRANCHES = Wanted(), Branches()


def with_copies(x: Float[Tensor, "row ..."], copies: int) -> Float[Tensor, "row_and_copies ..."]:
    """Append copies of the first row."""
    return torch.cat([x, x[:1].expand(copies, *x.shape[1:])]) if copies else x


def with_heads_off(part: Float[Tensor, "row head ..."], branches: Branches) -> Float[Tensor, "row_and_run head ..."]:
    """Append what the first row has, for each branch without the heads that are off."""
    begun = part[:1].repeat(branches.runs, 1, 1, 1)
    begun[tuple(zip(*branches.off, strict=True))] = 0.0
    return torch.cat([part, begun])


def branches_at(interventions: Sequence[Sequence[Intervention]], rows: int, layer: int) -> Branches:
    """Return the runs that begin at a layer, after the rows that run already."""
    begun = interventions[rows:]
    if not begun:
        return NO_BRANCHES
    return Branches(len(begun), weigh_at(begun, layer), heads_off(begun, interventions[0], layer))
