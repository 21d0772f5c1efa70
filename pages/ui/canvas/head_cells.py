"""The cells of a table of heads and its legend: by what each head does, or by a number of it."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Float

from pages.ui.canvas import head_kinds
from pages.ui.canvas.head_table import HeadCell, LegendEntry
from pages.ui.shell.controls import head_name

if TYPE_CHECKING:  # the core imports torch: only a page that computes waits for it
    from tx_core.analysis.patterns import HeadPattern
    from tx_core.transformer.trace import Encoding

Cells = tuple[list[HeadCell], list[LegendEntry]]


def kind_cells(
    patterns: "Sequence[HeadPattern]",
    encoding: "Encoding",
    measured: "Callable[[HeadPattern], tuple[str, float]]",
    told: "Callable[[HeadPattern], str]",
) -> Cells:
    """Colour every head by its kind, and list the kinds that there are.

    measured: the number in the cell, and the depth of its colour, 0 to 1. told: what follows a head's name and kind in words.
    """
    looks = head_kinds.looks(encoding)
    cells = []
    for head in patterns:
        look, (number, depth) = looks[head.kind], measured(head)
        label = f"{head_name((head.layer, head.head))}: {look.word}{told(head)}"
        cells.append(HeadCell(look.word, look.letter, number, look.colour, depth, label))
    kinds = [kind for kind in looks if any(head.kind == kind for head in patterns)]
    return cells, [LegendEntry(looks[kind].aim, looks[kind].letter, looks[kind].colour) for kind in kinds]


def spread_cells(spread: Float[np.ndarray, "layer head"]) -> Cells:
    """Colour every head by how widely it looks, 0 to 1."""
    return _number_cells(spread, 1.0, ".2f", "of the widest look", ("each token looks at one other", "at all alike"))


def distance_cells(distance: Float[np.ndarray, "layer head"], even: float | None = None) -> Cells:
    """Colour every head by how far it looks, in tokens, up to the farthest. even: how far an even look is away, where known."""
    most = max(float(distance.max()), 1e-9)
    farthest = f"{most:.1f} tokens away" + ("" if even is None else f"; an even look is {even:.1f} away")
    return _number_cells(distance, most, ".1f", "tokens", ("each token looks at itself", farthest))


def _number_cells(numbers: Float[np.ndarray, "layer head"], most: float, digits: str, unit: str, ends: tuple[str, str]) -> Cells:
    """Colour every head by a number from 0 to `most`. ends: what 0 and `most` mean."""
    cells = []
    for place, number in np.ndenumerate(numbers):
        label = f"{head_name(place)}: {number:{digits}} {unit}"
        cells.append(HeadCell(f"{number:{digits}}", f"{number:.1f}", "", head_kinds.ONE_COLOUR, float(number) / most, label))
    return cells, [LegendEntry(ends[0], "", head_kinds.ONE_COLOUR, 0.0), LegendEntry(ends[1], "", head_kinds.ONE_COLOUR)]
