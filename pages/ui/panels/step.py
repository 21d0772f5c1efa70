"""Show the view of a lesson's step within a room or the lesson editor: the stage of its page, and nothing else of the page."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import streamlit as st

from pages import contents
from pages.ui.panels.lesson import asks_head
from pages.ui.shell.address import SHOWN_STEP, forget_view, pinned_view
from pages.ui.shell.frame import StageShown, memory_explained
from pages.ui.shell.level import LEVEL_NOW, hide_parts
from pages.ui.shell.step import SHOWN, ShownStep
from tx_core.classroom.lesson_file import Step

PAGE_FOLDERS = Path(__file__).parents[2]


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
    before, asked, on_arrival = state.get(SHOWN_STEP, (None, None, None))
    is_new = before != place
    if is_new:
        forget_view(page.key)
        asked = dict(step.view)
        state[SHOWN_STEP] = place, asked, None
    unchanged = is_new or pinned_view(page.key) == on_arrival
    told = ShownStep(
        *(step.controls, asks_head(step), asked, place if share else "", guesses, follows), share=share if unchanged else None
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
    if is_new:
        state[SHOWN_STEP] = place, asked, view
    return view


@contextmanager
def entries(values: Mapping[str, object]) -> Iterator[None]:
    """Set entries of the session for a while."""
    before = {name: st.session_state.get(name) for name in values}
    st.session_state.update(values)
    try:
        yield
    finally:
        st.session_state.update(before)
