"""Show the view of a lesson's step within a room or the lesson editor: the stage of its page, and nothing else of the page."""

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import streamlit as st

from pages import contents
from pages.ui.panels.lesson import asks_head
from pages.ui.shell.address import SHOWN_STEP, forget_view, page_view, pinned_view, set_values, values_of
from pages.ui.shell.frame import StageShown, memory_explained
from pages.ui.shell.level import LEVEL_NOW, hide_parts
from pages.ui.shell.step import SHOWN, ShownStep
from tx_core.classroom.lesson_file import Step

PAGE_FOLDERS = Path(__file__).parents[2]
LATE_SECONDS = 3.0
"""After a step was drawn, a request may still bring the texts of the step before: the browser had sent it earlier, as where its
own click and the event that tells of it both ask for a run."""


@dataclass(frozen=True)
class StageOnScreen:
    """The stage of a step that was shown last.

    Attributes:
        place: what tells it from others.
        view: of the step.
        on_arrival: the whole view that its page had at first; None before its first run has ended.
        left: which texts stood in the boxes of its page before, by field, until the browser has sent the step's own.
        drawn: when its last run ended, by `time.monotonic()`.
    """

    place: str | None = None
    view: Mapping[str, str] = field(default_factory=dict)
    on_arrival: Mapping[str, str] | None = None
    left: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    drawn: float = 0.0


def show_step_stage(
    step: Step,
    place: str,
    level: str,
    *,
    guesses: object = None,
    follows: bool = False,
    share: Callable[[str, bytes], None] | None = None,
) -> dict[str, str]:
    """Show the stage of a step with the controls that it names; return the view as it is now.

    place: tells the step from others: where it is another one, the stage shows the step's view; else it stays as it is looked at.
    guesses: of a class, for the picture. follows: whether the browser tells of every look. share: takes what this stage, as
    nobody has changed it, is drawn from: its script and its data.
    """
    state, page = st.session_state, contents.page(step.page)
    shown = state.get(SHOWN_STEP, StageOnScreen())
    # A run that was cut off before it had read the view of its step begins once more.
    if is_new := shown.place != place or not page_view(page.key).values:
        shown = StageOnScreen(place, dict(step.view), None, texts_left(shown, page.key))
        forget_view(page.key)
    else:
        shown = replace(shown, left=drop_late_texts(shown, page.key))
    state[SHOWN_STEP] = shown
    unchanged = is_new or pinned_view(page.key) == shown.on_arrival
    told = ShownStep(
        *(step.controls, asks_head(step), shown.view, place if share else "", guesses, follows),
        share=share if unchanged else None,
    )
    with (
        entries({SHOWN: told, LEVEL_NOW: level}),
        st.container(key="step_stage", gap="xsmall"),
        memory_explained(),
        suppress(StageShown),
    ):
        hide_parts(page.key)
        spec = spec_from_file_location(f"pages.{page.key}.page", PAGE_FOLDERS / page.path)
        spec.loader.exec_module(module_from_spec(spec))
    view = pinned_view(page.key)
    state[SHOWN_STEP] = replace(shown, on_arrival=view if is_new else shown.on_arrival, drawn=time.monotonic())
    return view


def texts_in(page: str) -> dict[str, str]:
    """Return what stands in the boxes of a page for text, by field."""
    return {name: value for name, value in values_of(page, page_view(page).fields.own).items() if isinstance(value, str)}


def texts_left(shown: StageOnScreen, page: str) -> dict[str, tuple[str, ...]]:
    """Return which texts may still be sent from the boxes of a page that begins another step, by field."""
    waiting = shown.left if time.monotonic() - shown.drawn < LATE_SECONDS else {}
    return {name: (*waiting.get(name, ()), text) for name, text in texts_in(page).items()}


def drop_late_texts(shown: StageOnScreen, page: str) -> dict[str, tuple[str, ...]]:
    """Put the text of the step back where a request brings that of a step before; return which may still come."""
    if time.monotonic() - shown.drawn > LATE_SECONDS:
        return {}
    told, sent = page_view(page).values, texts_in(page)
    late = [name for name, left in shown.left.items() if sent.get(name) in left and sent[name] != told.get(name)]
    set_values(page, {name: told[name] for name in late})
    return {name: shown.left[name] for name in late}


@contextmanager
def entries(values: Mapping[str, object]) -> Iterator[None]:
    """Set entries of the session for a while."""
    before = {name: st.session_state.get(name) for name in values}
    st.session_state.update(values)
    try:
        yield
    finally:
        st.session_state.update(before)
