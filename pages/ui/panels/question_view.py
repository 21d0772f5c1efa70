"""A question answered by a click in a drawing: tokens, the cells of a map, or the heads of a model.

Until it is answered, the drawing is sent names and no numbers; then the numbers, the guess and the model's answer.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import streamlit as st

from pages.ui.panels import texts
from pages.ui.stage.scripts import component
from tx_core.analysis.packing import join

MAX_DRAWN_CELLS = 1024
"""Cells that a drawing holds at most; what has more is chosen from its list."""


@dataclass(frozen=True)
class Grid:
    """How the cells of a question are laid out, and what is said of them.

    layout: in one row of words, as a map with named rows and columns, or as the wall of heads. alt: names it to a screen reader,
    with its keys. hint: how to choose, before there is a choice. scale: what the colours mean, once the numbers are there.
    """

    layout: Literal["row", "map", "wall"]
    alt: str
    axes: str
    hint: str
    scale: str


@dataclass(frozen=True)
class Choices:
    """What can be chosen: the cells of a grid, row by row; tokens stand in one row."""

    grid: Grid
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    names: tuple[str, ...]

    @property
    def fits(self) -> bool:
        """Whether its cells are few enough to be drawn."""
        return len(self.names) <= MAX_DRAWN_CELLS


NO_GRID = {"layout": "none", "rows": [], "columns": [], "names": [], "alt": "", "axes": "", "hint": "", "scale": ""}
NOT_REVEALED = {"values": [], "guess": None, "answer": None}


def question_view(
    choices: Choices | None,
    *,
    key: str,
    verdict: str = "",
    chosen: int | None = None,
    shares: Sequence[float] = (),
    revealed: Mapping[str, object] = NOT_REVEALED,
    on_choose: Callable[[], None] = lambda: None,
) -> None:
    """Draw what can be chosen, and the verdict once there is one, which a screen reader says by itself.

    choices: None where the question has no drawing. After a click `on_choose` runs; `guessed_cell(key, …)` then returns the cell.
    shares: once it is answered, the model's number for every cell, 0 to 1; revealed: these as `values` in words, and the numbers
    of the cells `guess`, None where it is no cell, and `answer`.
    """
    named = choices and {"rows": choices.rows, "columns": choices.columns, "names": choices.names}
    header = NO_GRID if named is None else vars(choices.grid) | named
    header = {**header, "texts": texts.QUESTION, "verdict": verdict, "chosen": chosen, **revealed}
    cells = np.rint(np.sqrt(np.clip(np.array(shares, np.float64), 0, 1)) * 255).astype(np.uint8)
    draw = component("question", "question", "lesson-question", "question.css")
    draw(key=key, data=join(header, [cells]), on_chosen_change=on_choose)


def guessed_cell(key: str, choices: Sequence[str]) -> int | None:
    """Return the number of the cell that the reader clicked in the drawing `key`; None where there is none."""
    chosen = (st.session_state.get(key) or {}).get("chosen")
    value = chosen.get("value") if isinstance(chosen, Mapping) else None
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < len(choices) else None


def class_view() -> Callable[..., object]:
    """Return the component that draws a class's answers, live where it is given a room."""
    return component("classroom", "live", "live", "live.css")
