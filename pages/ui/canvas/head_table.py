"""A table of all heads as coloured buttons, hue for the kind and lightness for how clear it is. Words in, a choice out."""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass

from pages.ui.canvas.attention_view import BOX, chosen_heads
from pages.ui.canvas.component import component

MODULE = "head_table/table.js"


@dataclass(frozen=True)
class HeadCell:
    """One head of the table.

    word: what is written on it where there is room, and `number` below it; letter: where there is not. colour: as
    #rrggbb, at its full strength. strength: 0 to 1. alt: the head in a sentence.
    """

    word: str
    letter: str
    number: str
    colour: str
    strength: float
    alt: str


@dataclass(frozen=True)
class LegendEntry:
    """What a colour of the table means."""

    name: str
    letter: str
    colour: str
    strength: float = 1.0


def head_table(
    cells: Sequence[Sequence[HeadCell]],
    legend: Sequence[LegendEntry],
    chosen: tuple[int, int],
    *,
    alt: str,
    key: str,
    on_choose: Callable[[], None],
) -> None:
    """Show a row of cells for each layer; a click chooses a head. After it `on_choose` runs, and `chosen_head` tells which.

    alt: what the table shows, for those who cannot see it. Raises ValueError for rows of different lengths.
    """
    if len({len(row) for row in cells}) != 1:
        raise ValueError("every layer must have as many heads")
    message = {
        "cells": [[asdict(cell) for cell in row] for row in cells],
        "legend": [asdict(entry) for entry in legend],
        "chosen": list(chosen),
        "alt": alt,
    }
    component("head_table", BOX, MODULE, "head_table/head_table.css")(key=key, data=message, on_chosen_change=on_choose)


def chosen_head(key: str, layers: int, heads: int) -> tuple[int, int] | None:
    """Tell which head was clicked last in the table `key`; None before the first click."""
    return next(iter(chosen_heads(key, layers, heads)), None)
