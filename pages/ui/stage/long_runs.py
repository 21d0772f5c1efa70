"""Many runs of a model for one picture: a bar while they are computed; where they take long, only once they are asked for."""

import time
from collections.abc import Hashable, Iterator
from contextlib import contextmanager

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from pages.ui.shell.address import widget_key
from pages.ui.shell.numbers import duration
from pages.ui.stage.texts import COMPUTE_LONG, RUNS_DONE, TAKES_LONG, TAKES_TOO_LONG
from tx_core.engine.engine import Engine
from tx_core.engine.progress import AT_ONCE_SECONDS, watch_runs
from tx_core.errors import TakesLong

SHOWN_AFTER_SECONDS = 1.0
"""What takes less gets no bar."""
LONGEST_SECONDS = 600.0
"""What may take longer is not offered."""
ASKED = "long_runs"
"""The field of what a visitor asked for on a page although it takes long."""


@contextmanager
def runs_shown(slot: DeltaGenerator) -> Iterator[None]:
    """Show in a place how many of the runs that the block makes are done, if they take over a second."""
    begun, shown = time.monotonic(), False

    def show(done: int, total: int, seconds: float) -> None:
        nonlocal shown
        passed = time.monotonic() - begun
        if shown or (done < total and max(passed, seconds) > SHOWN_AFTER_SECONDS):
            shown = True
            slot.progress(done / total, RUNS_DONE.format(done=done, total=total))

    try:
        with watch_runs(show):
            yield
    finally:
        if shown:
            slot.empty()


def check_seconds(page: str, asked: Hashable, engine: Engine, tokens: int, runs: int, seconds: float, power: int) -> None:
    """Raise TakesLong, before anything is computed, where runs of a text may take long and the visitor has not asked for that.

    asked: what they are runs of. power: of the number of tokens, with which the time grows.
    """
    if seconds <= AT_ONCE_SECONDS or (is_asked_for(page, asked) and seconds <= LONGEST_SECONDS):
        return
    template = TAKES_LONG if seconds <= LONGEST_SECONDS else TAKES_TOO_LONG
    most = int(tokens * (AT_ONCE_SECONDS / seconds) ** (1 / power))
    said = template.format(tokens=tokens, runs=runs, model=engine.title, duration=duration(seconds), most=most)
    raise TakesLong(said, asked if seconds <= LONGEST_SECONDS else None, seconds)


def is_asked_for(page: str, asked: Hashable) -> bool:
    """Return whether a visitor asked for this although it takes long."""
    return st.session_state.get(widget_key(page, ASKED)) == asked


def offer_long(page: str, asked: Hashable, seconds: float) -> None:
    """Offer one click to compute what may take long."""
    key = widget_key(page, ASKED)
    label = COMPUTE_LONG.format(duration=duration(seconds))
    st.button(label, key=f"{key}_button", on_click=st.session_state.update, args=({key: asked},))
