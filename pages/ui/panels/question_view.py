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

    Attributes:
        layout: In one row of words, as a map with named rows and columns, or as the wall of heads.
        alt: Names it to a screen reader, with its keys.
        axes: What rows and columns are; "" for a row.
        hint: How to choose, before there is a choice.
        scale: What the colours mean, once the numbers are there.
    """

    layout: Literal["row", "map", "wall"]
    alt: str
    axes: str
    hint: str
    scale: str


@dataclass(frozen=True)
class Choices:
    """What can be chosen: the cells of a grid, row by row.

    Attributes:
        grid: How they are drawn.
        rows, columns: The names of the rows and columns; tokens stand in one row.
        names: The name of every cell.
    """

    grid: Grid
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    names: tuple[str, ...]

    def __post_init__(self):
        if len(self.names) != len(self.rows) * len(self.columns):
            size = f"{len(self.rows)} × {len(self.columns)}"
            raise ValueError(f"every cell needs a name, got {len(self.names)} for {size}")

    @property
    def fits(self) -> bool:
        """Whether its cells are few enough to be drawn."""
        return len(self.names) <= MAX_DRAWN_CELLS


@dataclass(frozen=True)
class Revealed:
    """What the drawing shows once the question is answered.

    Attributes:
        shares: The model's number for every cell, 0 to 1.
        guess: The number of the cell that was guessed; None where it is no cell.
        answer: The number of the cell that is right.
    """

    shares: tuple[float, ...]
    values: tuple[str, ...]
    guess: int | None
    answer: int


def question_view(
    choices: Choices | None,
    *,
    key: str,
    verdict: str = "",
    chosen: int | None = None,
    revealed: Revealed | None = None,
    on_choose: Callable[[], None] = lambda: None,
) -> None:
    """Draw what can be chosen, and the verdict once there is one, which a screen reader says by itself.

    choices: None where the question has no drawing. After a click `on_choose` runs; `guessed_cell(key, …)` then returns the cell.
    """
    grid = choices.grid if choices else None
    header = {
        "layout": grid.layout if grid else "none",
        "rows": list(choices.rows) if choices else [],
        "columns": list(choices.columns) if choices else [],
        "names": list(choices.names) if choices else [],
        "alt": grid.alt if grid else "",
        "axes": grid.axes if grid else "",
        "hint": grid.hint if grid else "",
        "scale": grid.scale if grid else "",
        "texts": texts.QUESTION,
        "verdict": verdict,
        "chosen": chosen,
        "values": list(revealed.values) if revealed else [],
        "guess": revealed.guess if revealed else None,
        "answer": revealed.answer if revealed else None,
    }
    shares = np.array(revealed.shares if revealed else (), np.float64)
    cells = np.rint(np.sqrt(np.clip(shares, 0, 1)) * 255).astype(np.uint8)
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
