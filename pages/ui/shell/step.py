"""What the step of a lesson that a run shows asks of its page: which controls, and within a room or the lesson editor more."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import streamlit as st

SHOWN = "step_of_this_run"
"""Session entry: the ShownStep of this run; None where it shows none."""


@dataclass(frozen=True)
class ShownStep:
    """A step as its page is told of it.

    Attributes:
        controls: that the page shows; None for all.
        asks_head: whether its question is answered on the wall of heads.
        view: as an address names it, where a room or the lesson editor shows the step's stage and nothing else of its page.
        place: of a room: a browser may have been shown the stage of this step before this session drew it.
        follows: whether the stage tells of every look.
        awaits: the step of a lesson, by its lesson and number, that a change of the view completes.
        share: is called with the stage's script and its data, as a class is shown it; None for nobody.
    """

    controls: tuple[str, ...] | None = None
    asks_head: bool = False
    view: Mapping[str, str] | None = None
    place: str = ""
    guesses: object = None
    follows: bool = False
    awaits: tuple[str, int] | None = None
    share: Callable[[str, bytes], None] | None = None


def step_of_run() -> ShownStep | None:
    """Return the step that this run shows; None for a page by itself."""
    return st.session_state.get(SHOWN)


def shown_controls() -> tuple[str, ...] | None:
    """Return the controls that this run shows, by the step of a lesson; None for all."""
    step = step_of_run()
    return step.controls if step else None
