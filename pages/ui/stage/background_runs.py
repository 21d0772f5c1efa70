"""What computes in the background of a page, such as a training: the visitor's run, and what it is asked to do."""

import secrets
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import streamlit as st

from pages.ui.shell import metrics
from pages.ui.shell.address import HELD, set_values, widget_key
from pages.ui.shell.admission import own_address
from pages.ui.shell.frame import explain
from pages.ui.shell.session import UploadedFile, uploaded_file
from pages.ui.stage import texts
from tx_core.corpus.sentence_file import MAX_FILE_BYTES
from tx_core.errors import ExplorerError, TextProblem, memory_checked
from tx_core.settings import host_settings
from tx_core.training.background import Registry, Snapshot, Trainable

TRAININGS = Registry(limit=host_settings().trainings)
"""All runs in the background of this server but scans: trainings, readings of many sentences or pairs, measurements."""
SCANS = Registry(limit=2)
"""All scans of heads of this server."""
metrics.watch_number("tx_trainings", "Trainings, readings and measurements that compute now", lambda: TRAININGS.running)

LEFT_SECONDS = 300.0
"""How long a visitor's runs and their results wait for a browser that lost the connection, or left."""


# The visitor's run


def visitor() -> str:
    """Return a random id of this session; the visitor's trainings are dropped when Streamlit drops the session."""
    return _claim(st.session_state.setdefault("training_visitor", secrets.token_hex(16)))


def _release(name: str) -> None:
    """Drop a visitor's trainings LEFT_SECONDS after the connection ended: the browser may reconnect until then."""
    for registry in (TRAININGS, SCANS):
        registry.leave(name, LEFT_SECONDS)


@st.cache_resource(scope="session", show_spinner=False, on_release=_release)
def _claim(name: str) -> str:
    """Keep a visitor's trainings: called once for each connection."""
    for registry in (TRAININGS, SCANS):
        registry.stay(name)
    return name


def keep_runs() -> None:
    """Keep the trainings of a visitor whose connection is back, on whatever page they are."""
    if "training_visitor" in st.session_state:
        visitor()


def current_run(kind: str) -> Snapshot | None:
    """Return the visitor's run of a kind; None where there is none."""
    return TRAININGS.snapshot(visitor(), kind)


def start_or_queue(kind: str, make: Callable[[], Trainable]) -> None:
    """Start what `make` returns, or queue it; raise Busy, before anything is made or fetched, where the queue is full."""
    TRAININGS.check_capacity(visitor(), own_address())
    st.session_state[HELD] = True
    TRAININGS.start(visitor(), kind, make(), own_address())


def stop(kind: str) -> None:
    """Stop the visitor's run, or take it out of the queue."""
    TRAININGS.stop(visitor(), kind)


def attempt(page: str, act: Callable[..., object], *arguments: object) -> None:
    """Run the action of a click; `show_problem` shows its error when the page runs next."""
    st.session_state.pop(widget_key(page, "refused"), None)
    try:
        with memory_checked():
            act(*arguments)
    except ExplorerError as problem:
        set_values(page, {"refused": problem})


def keep_upload(page: str, box: str, kept: str, read: Callable[[UploadedFile], Any], name: Callable[[Any], str]) -> None:
    """Read the file in a box into the session; raise TextProblem for one that cannot be used: what is kept stays, and is named.

    box, kept: the fields of the box, and of what is read. name: what is kept, by the name of its file.
    """
    before, uploaded = st.session_state.get(widget_key(page, kept)), uploaded_file(widget_key(page, box))
    if uploaded is None:  # it was removed from the box: what was read stays
        return
    uploaded.seek(0)
    try:
        set_values(page, {kept: read(uploaded)})
        st.session_state[HELD] = True
    except TextProblem as problem:
        if before is None:
            raise
        raise TextProblem(texts.EARLIER_STAYS.format(problem=problem, file=name(before))) from None


def ask_upload(
    page: str,
    box: str,
    label: str,
    types: list[str],
    kept: str,
    read: Callable[[UploadedFile], Any],
    name: Callable[[Any], str],
    most: int = MAX_FILE_BYTES,
) -> Any:
    """Ask for a file, and return what was read of the last one that could be used, as `keep_upload` does; None without one.

    most: bytes of a file.
    """
    st.file_uploader(
        label,
        types,
        key=widget_key(page, box),
        max_upload_size=most // 1_000_000,
        on_change=attempt,
        args=(page, keep_upload, page, box, kept, read, name),
    )
    return st.session_state.get(widget_key(page, kept))


def show_problem(page: str) -> ExplorerError | None:
    """Show why the last click failed; return the error, or None."""
    if problem := st.session_state.get(widget_key(page, "refused")):
        explain(problem)
    return problem


def run_in_words(run: Snapshot, template: Mapping[str, str], starting: str = texts.STARTING) -> str:
    """Return how far a run is, or how many visitors are ahead of it. template: by its state."""
    if run.state == "waiting":
        sentence = {0: texts.QUEUE_NEXT, 1: texts.QUEUE_ONE_AHEAD}.get(run.ahead, texts.QUEUE_MANY_AHEAD)
        return sentence.format(ahead=run.ahead)
    if not run.records:
        return starting
    last = run.records[-1]
    return template[run.state].format(done=last.done, total=last.total, seconds=last.seconds)


def share_done(run: Snapshot | None) -> float:
    """Return the share of a run's work that is done, 0 where none computes."""
    return run.records[-1].done / run.records[-1].total if run and run.running and run.records else 0.0


def run_header(run: Snapshot | None, start: Sequence[tuple[str, str, str]], said: str) -> dict[str, object]:
    """Return what a stage is told of the visitor's run. start: the buttons while none computes: name, label, sentence of help."""
    is_running = bool(run and run.running)
    stop_it = [("stop", texts.STOP, "")] if is_running and run.state != "stopping" else []
    return {
        "buttons": stop_it if is_running else start,
        "running": is_running,
        "progress": share_done(run),
        "said": said,
        "problem": run.problem if run else "",
        "asked": time.monotonic(),  # no two messages are equal: the browser asks again after each
    }


class AskedRun:
    """What computes in the background, and what it was asked."""

    def __init__(self, asked: Any, work: Trainable):
        self.asked, self.work = asked, work

    def updates(self) -> Generator[Any, None, None]:
        """Compute, as a registry asks."""
        return self.work.updates()


@dataclass(frozen=True)
class OfferedRun:
    """A run that buttons of a stage start and stop; NO_RUN for none.

    snapshot: the visitor's run, None where there is none.
    """

    told: Mapping[str, object] | None = None
    take: Callable[[Mapping[str, object]], None] = lambda _: None
    snapshot: Snapshot | None = None

    @property
    def running(self) -> bool:
        """Whether it computes, or waits for its turn to."""
        return bool(self.snapshot and self.snapshot.running)

    @property
    def last(self) -> AskedRun | None:
        """What the run has done, and what it was asked; None while it computes, where it failed, and without one."""
        return self.snapshot.result if self.snapshot and not self.snapshot.problem else None


NO_RUN = OfferedRun()


def offer_run(
    page: str,
    kind: str,
    asked: object,
    make: Callable[[], Trainable] | None,
    template: Mapping[str, str],
    start: tuple[str, str],
) -> OfferedRun:
    """Offer the visitor's run, which one button starts or stops; show why the last click failed.

    asked: what `make` is asked. make: returns what runs; None where nothing can. template: as of `run_in_words`. start: label of
    the button, and what it does, as "Reads every sentence".
    """
    show_problem(page)
    run = current_run(kind)
    said = run_in_words(run, template) if run and run.running else ""

    def take_wish(reported: Mapping[str, object]) -> None:
        if reported.get("training") == "run" and make:
            attempt(page, start_or_queue, kind, lambda: AskedRun(asked, make()))
        elif reported.get("training") == "stop":
            stop(kind)

    label, does = start
    button = ("run", label, texts.IN_THE_BACKGROUND.format(does=does))
    return OfferedRun(run_header(run, [button] if make else [], said), take_wish, run)
