"""Training on a page: started, watched and stopped by its visitor, while the page stays usable.

Setting: TX_TRAININGS (how many trainings may run at once on this server; the next ones wait for their turn).
"""

import os
import secrets
from collections.abc import Callable, Sequence
from typing import Any

import streamlit as st

from pages.ui.shell.address import widget_key
from pages.ui.shell.frame import explain
from tx_core.errors import Busy, ExplorerError
from tx_core.training.background import Registry
from tx_core.training.job import Snapshot, Trainable

POLL_SECONDS = 1.0
MAX_WAITING_TRAININGS = 100
TRAININGS = Registry(
    limit=int(os.environ.get("TX_TRAININGS", max(2, os.cpu_count() or 2))),
    seconds=1800.0,
    kept=40,
    pause=0.01,
    queue=MAX_WAITING_TRAININGS,
)
"""All trainings of this server. A result waits half an hour for its visitor to come back from other pages."""


def visitor() -> str:
    """Name the visitor by a random word of this session; what is theirs is forgotten when the session ends."""
    return _claimed(st.session_state.setdefault("training_visitor", secrets.token_hex(16)))


@st.cache_resource(scope="session", show_spinner=False, on_release=TRAININGS.forget)
def _claimed(name: str) -> str:
    return name


def look(kind: str) -> Snapshot | None:
    """Look at the visitor's training of a kind; None where there is none."""
    return TRAININGS.snapshot(visitor(), kind)


def attempt(page: str, act: Callable[[], object]) -> None:
    """Do what a click asks for; what cannot be done is told by `tell_refused` when the page runs next."""
    st.session_state.pop(widget_key(page, "refused"), None)
    st.session_state[widget_key(page, "acted")] = True
    try:
        act()
    except ExplorerError as problem:
        st.session_state[widget_key(page, "refused")] = problem


def follow_click(page: str) -> None:
    """Run the whole page where a click was heard and this part of it alone was run.

    A browser sends a click together with a text that was being typed until then, and names the text's part alone.
    """
    if st.session_state.pop(widget_key(page, "acted"), None):
        st.rerun()


def tell_refused(page: str, kind: str) -> ExplorerError | None:
    """Say why the last click could not be followed, or no longer is: its turn did not come while the visitor was there.

    Give what was said; None where nothing was.
    """
    if TRAININGS.gave_up(visitor(), kind):
        st.session_state[widget_key(page, "refused")] = Busy(
            "You were away, so your place in the queue was given up. Start again."
        )
    if problem := st.session_state.get(widget_key(page, "refused")):
        explain(problem)
    return problem


def start_or_stop(
    page: str,
    kind: str,
    snapshot: Snapshot | None,
    make: Callable[[], Trainable],
    choose: Callable[[Any], None],
    *,
    disabled: bool = False,
) -> None:
    """Offer to start the training that `make` gives, to stop the one that runs or waits, or to go on with a stopped one.

    snapshot: as `look` gave it to this run of the page, the same for all its parts, or they would contradict each other.
    choose: brings the settings of a training that goes on onto the page.
    """
    st.session_state.pop(widget_key(page, "acted"), None)
    if snapshot and snapshot.running:
        st.button(
            "Stop",
            key=widget_key(page, "stop"),
            icon=":material/stop:",
            disabled=snapshot.state == "stopping",
            on_click=attempt,
            args=(page, lambda: TRAININGS.stop(visitor(), kind)),
        )
        return
    left = snapshot.result if snapshot and snapshot.state == "stopped" and not snapshot.result.finished else None
    if left:
        st.button(
            "Continue",
            key=widget_key(page, "continue"),
            icon=":material/resume:",
            on_click=attempt,
            args=(page, lambda: go_on(kind, left, choose)),
            help="From the batch at which it was stopped.",
        )
    st.button(
        "Train anew" if left else "Train",
        key=widget_key(page, "train"),
        icon=":material/play_arrow:",
        disabled=disabled,
        on_click=attempt,
        args=(page, lambda: begin(kind, make)),
    )


def begin(kind: str, make: Callable[[], Trainable]) -> None:
    """Start what `make` gives, or queue it; where the queue is full, raise Busy before anything is made or fetched."""
    TRAININGS.check_room(visitor())
    TRAININGS.start(visitor(), kind, make())


def go_on(kind: str, left: Trainable, choose: Callable[[Any], None]) -> None:
    """Train on from where a training was stopped, with the settings that it had; raise Busy where the queue is full."""
    TRAININGS.go_on(visitor(), kind)
    choose(left)


def tell_other(differences: Sequence[str]) -> None:
    """Head what is left of a training whose settings are not those on the page. differences: its own, where they differ."""
    if differences:
        st.subheader("Your last model", anchor=False)
        st.text(f"It was trained with other settings than those above: {', '.join(differences)}.")


def watch(
    kind: str, snapshot: Snapshot | None, draw: Callable[[Snapshot], None], words: tuple[str, str] = ("Training", "batch")
) -> None:
    """Draw the visitor's training, and again every second while it runs or waits; at its end the whole page runs once more.

    words: what it is called while it runs, and what is counted.
    """
    if snapshot is not None:
        poll = POLL_SECONDS if snapshot.running else None
        st.fragment(_watch, run_every=poll)(kind, draw, snapshot.running, words)


def _watch(kind: str, draw: Callable[[Snapshot], None], was_running: bool, words: tuple[str, str]) -> None:
    snapshot = look(kind)
    if snapshot is None or (was_running and not snapshot.running):
        st.rerun()
    _progress(snapshot, *words)
    if snapshot.problem:
        st.text(snapshot.problem)
    draw(snapshot)


def _progress(snapshot: Snapshot, running: str, unit: str) -> None:
    """Say how far it is; every record of a training has batch, batches and seconds."""
    if snapshot.state == "waiting":
        st.progress(0.0, waiting_in_words(snapshot.before))
        return
    if not snapshot.records:
        if snapshot.running:
            st.progress(0.0, "Starting …")
        return
    last = snapshot.records[-1]
    doing = {"running": running, "stopping": "Stopping", "stopped": "Stopped", "finished": "Done", "failed": "Broken off"}
    st.progress(
        last.batch / last.batches, f"{doing[snapshot.state]}: {unit} {last.batch:,} of {last.batches:,}, {last.seconds:.0f} s"
    )


def waiting_in_words(before: int) -> str:
    """Say how many others begin before one that waits."""
    others = {0: "You are next", 1: "1 other is before you"}.get(before, f"{before:,} others are before you")
    return f"{others}; it begins by itself. Stay on this page."
