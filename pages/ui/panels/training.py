"""Training on a page: its buttons, its progress and its curves, while the page stays usable."""

import secrets
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import streamlit as st

from pages.ui.canvas import drawings
from pages.ui.canvas.charts import lines_chart
from pages.ui.panels import texts
from pages.ui.shell import metrics
from pages.ui.shell.address import HELD, widget_key
from pages.ui.shell.admission import own_address
from pages.ui.shell.frame import explain
from tx_core.errors import ExplorerError, memory_checked
from tx_core.settings import host_settings
from tx_core.training.background import Registry, Snapshot, Trainable

POLL_SECONDS = 1.0
TRAININGS = Registry(limit=host_settings().trainings)
"""All trainings of this server, and its readings of many sentences."""
SCANS = Registry(limit=host_settings().scans)
"""All scans of heads of this server."""
metrics.watch_number("tx_trainings", "Trainings and readings of many sentences that compute now", lambda: TRAININGS.running)
metrics.watch_number("tx_scans", "Scans of heads that compute now", lambda: SCANS.running)

LEFT_SECONDS = 300.0
"""How long a visitor's runs and their results wait for a browser that lost the connection, or left."""

CURVE_COLOURS = ("#3f83cf", "#c2751c")
"""Blue and orange: 3:1 or more on the white and on the dark background, distinct with any colour vision."""

Series = Mapping[str, Sequence[tuple[float, float]]]
"""Lines of a chart: (batch, value) pairs by name."""


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
    return name


def current_run(kind: str) -> Snapshot | None:
    """Return the visitor's run of a kind; None where there is none."""
    return TRAININGS.snapshot(visitor(), kind)


def start_or_queue(kind: str, make: Callable[[], Trainable]) -> None:
    """Start what `make` returns, or queue it; raise Busy, before anything is made or fetched, where the queue is full."""
    TRAININGS.check_capacity(visitor(), own_address())
    st.session_state[HELD] = True
    TRAININGS.start(visitor(), kind, make(), own_address())


def resume(kind: str, stopped: Trainable, choose: Callable[[Any], None]) -> None:
    """Continue a stopped training with the settings that it had; raise Busy where the queue is full."""
    TRAININGS.resume(visitor(), kind, own_address())
    choose(stopped)


def add_stopped(kind: str, loaded: Trainable) -> None:
    """Replace the visitor's training by one loaded from a file; raise Busy while it runs."""
    st.session_state[HELD] = True
    TRAININGS.add_stopped(visitor(), kind, loaded)


def stop(kind: str) -> None:
    """Stop the visitor's run, or take it out of the queue."""
    TRAININGS.stop(visitor(), kind)


def attempt(page: str, act: Callable[[], object]) -> None:
    """Run the action of a click; `show_problem` shows its error when the page runs next.

    The click by which a session first holds a training runs the whole page, which tells the browser what it would lose.
    """
    held_before = HELD in st.session_state
    st.session_state.pop(widget_key(page, "refused"), None)
    st.session_state[widget_key(page, "acted")] = True
    try:
        with memory_checked():
            act()
    except ExplorerError as problem:
        st.session_state[widget_key(page, "refused")] = problem
    if HELD in st.session_state and not held_before:
        st.rerun()


def follow_click(page: str) -> None:
    """Rerun the whole page where a click was handled in a run of one part only.

    A browser sends a click together with a text that was being typed until then, and names the text's part alone.
    """
    if st.session_state.pop(widget_key(page, "acted"), None):
        st.rerun()


def show_problem(page: str) -> ExplorerError | None:
    """Show why the last click failed; return the error, or None."""
    if problem := st.session_state.get(widget_key(page, "refused")):
        explain(problem)
    return problem


def run_buttons(
    page: str,
    kind: str,
    snapshot: Snapshot | None,
    make: Callable[[], Trainable],
    choose: Callable[[Any], None],
    *,
    disabled: bool,
) -> None:
    """Offer the buttons: stop a training that runs, else start one, and continue one that was stopped.

    make: returns the new training. choose: writes the settings of a training into the page's controls.
    """

    def button(label: str, name: str, icon: str, act: Callable[[], None], *, disabled: bool = False, help: str | None = None):
        key = widget_key(page, name)
        icon = f":material/{icon}:"
        st.button(label, key=key, icon=icon, disabled=disabled, help=help, on_click=attempt, args=(page, act))

    if snapshot and snapshot.running:
        button(texts.STOP, "stop", "stop", lambda: stop(kind), disabled=snapshot.state == "stopping")
        return
    stopped = snapshot.result if snapshot and snapshot.state == "stopped" and not snapshot.result.finished else None
    if stopped:
        button(texts.CONTINUE, "continue", "resume", lambda: resume(kind, stopped, choose), help=texts.CONTINUE_HELP)
    label = texts.TRAIN_AGAIN if stopped else texts.TRAIN
    button(label, "train", "play_arrow", lambda: start_or_queue(kind, make), disabled=disabled)


def show_differences(differences: Sequence[str]) -> None:
    """Put a heading above a training whose settings are not those on the page. differences: its own, where they differ."""
    if differences:
        st.subheader(texts.LAST_MODEL, anchor=False)
        st.text(texts.LAST_MODEL_DIFFERS.format(differences=", ".join(differences)))


# Progress and curves


def watch(
    kind: str,
    snapshot: Snapshot | None,
    draw: Callable[[Snapshot], None],
    progress: Mapping[str, str] = texts.TRAINING_PROGRESS,
) -> None:
    """Draw the visitor's run, and again every second while it computes or waits; at its end the whole page runs once more.

    progress: what is said of each state of a run.
    """
    if snapshot is not None:
        poll = POLL_SECONDS if snapshot.running else None
        st.fragment(_watch, run_every=poll)(kind, draw, snapshot.running, progress)


def _watch(kind: str, draw: Callable[[Snapshot], None], was_running: bool, progress: Mapping[str, str]) -> None:
    snapshot = current_run(kind)
    if snapshot is None or (was_running and not snapshot.running):
        st.rerun()
    _show_progress(snapshot, progress)
    if snapshot.problem:
        st.text(snapshot.problem)
    draw(snapshot)


def _show_progress(snapshot: Snapshot, progress: Mapping[str, str]) -> None:
    """Draw the bar; every record of a run has batch, batches and seconds."""
    if snapshot.state == "waiting":
        st.progress(0.0, queue_in_words(snapshot.ahead))
    elif snapshot.records:
        last = snapshot.records[-1]
        written = progress[snapshot.state].format(done=last.batch, total=last.batches, seconds=last.seconds)
        st.progress(last.batch / last.batches, written)
    elif snapshot.running:
        st.progress(0.0, texts.STARTING)


def queue_in_words(ahead: int) -> str:
    """Return how many visitors are ahead in the queue, in words."""
    sentence = {0: texts.QUEUE_NEXT, 1: texts.QUEUE_ONE_AHEAD}.get(ahead, texts.QUEUE_MANY_AHEAD)
    return sentence.format(ahead=ahead)


def draw_curves(key: str, series: Series, batches: int, *, log: bool = False) -> None:
    """Draw curves over the batches of a training with ECharts, which appends points where plotly redraws everything.

    batches: where the axis ends. log: a logarithmic axis, for losses; otherwise
    the axis is for shares, from 0 to 1.
    """
    drawings.note(lambda: _curves_drawn(series, log=log))
    st.echarts_chart(_curves(series, batches, log=log), height=210, key=key, alt=describe_curves(series))


def _curves_drawn(series: Series, *, log: bool) -> list[drawings.Drawing]:
    """Write each line as a chart of its own for export: its batches may be others than those of the next."""
    drawn = []
    for name, pairs in series.items():
        batches, values = [f"{batch:g}" for batch, _ in pairs], [value for _, value in pairs]
        if pairs:
            drawn.append(drawings.lines_drawing(lines_chart(name, batches, {name: values}, logarithmic=log)))
    return drawn


def _curves(series: Series, batches: int, *, log: bool) -> dict[str, object]:
    """Return the option object of `st.echarts_chart`."""
    return {
        "animation": False,
        "color": list(CURVE_COLOURS),
        "grid": {"left": 4, "right": 16, "top": 34, "bottom": 26, "containLabel": True},
        "legend": {"top": 0, "left": 0, "icon": "roundRect"},
        "tooltip": {"trigger": "axis", "valueFormatter": "%.3f"},
        "xAxis": {"type": "value", "min": 0, "max": batches, "name": texts.BATCH, "nameLocation": "middle", "nameGap": 24},
        "yAxis": {"type": "log", "logBase": 10} if log else {"type": "value", "min": 0, "max": 1},
        "series": [
            {
                "type": "line",
                "name": name,
                "showSymbol": len(pairs) == 1,
                "data": [list(pair) for pair in pairs],
                "lineStyle": {"width": 2, "type": "solid" if place == 0 else "dashed"},
            }
            for place, (name, pairs) in enumerate(series.items())
        ],
    }


def describe_curves(series: Series) -> str:
    """Return the alternative text of the curves: the first and the latest value of each."""
    lines = [
        texts.CURVE_IN_WORDS.format(name=name, begin=pairs[0][0], first=pairs[0][1], end=pairs[-1][0], last=pairs[-1][1])
        for name, pairs in series.items()
        if pairs
    ]
    return texts.CURVES_ALT.format(lines=" ".join(lines)) if lines else texts.CURVES_EMPTY
