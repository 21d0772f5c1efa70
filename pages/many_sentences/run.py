"""Which sentences are read, and the reading itself: started, watched and stopped by its visitor."""

from typing import TYPE_CHECKING

import streamlit as st

from pages.ui.panels import training
from pages.ui.panels.texts import READING_PROGRESS
from pages.ui.shell import cache, controls
from pages.ui.shell.address import widget_binding, widget_key
from tx_core.errors import TextProblem
from tx_core.training.background import Snapshot

if TYPE_CHECKING:  # the core imports torch: the title is painted without it
    from tx_core.corpus.sentence_file import Sentences
    from tx_core.corpus.statistics import HeadReport
    from tx_core.engine.engine import Engine

KIND = "sentences"
TEXTS = {"embedded": "Built-in sentences", "own": "Your own file"}
MEGABYTES = 5
NO_RUN_NEEDED = (
    "Nothing has to be run for what is shown below: the built-in sentences, read by the built-in model. Run reads what you "
    "choose above instead: another model, or a file of your own."
)


def ask_sentences(page: str) -> "Sentences":
    """Ask for the sentences; raise TextProblem while there are none."""
    from tx_core.corpus.sentence_file import embedded_sentences

    st.segmented_control(
        "Sentences", list(TEXTS), format_func=TEXTS.get, required=True, **widget_binding(widget_key(page, "texts"))
    )
    if st.session_state[widget_key(page, "texts")] == "embedded":
        return embedded_sentences()
    _ask_file(page)
    own = st.session_state.get(widget_key(page, "own"))
    if own is None:
        raise TextProblem("Upload a file first: plain text with one sentence on each line, or a CSV with a column of sentences.")
    return own


def _ask_file(page: str) -> None:
    name = widget_key(page, "file")
    st.file_uploader(
        "A text file with one sentence on each line, or a CSV",
        type=["txt", "csv", "tsv"],
        key=name,
        max_upload_size=MEGABYTES,
        on_change=training.attempt,
        args=(page, lambda: _read_own(page)),
    )
    own = st.session_state.get(widget_key(page, "own"))
    if own is not None and len(own.columns) > 1 and st.session_state.get(name) is not None:
        column = widget_key(page, "column")
        st.session_state[column] = own.column
        st.selectbox(
            "Column with the sentences",
            own.columns,
            key=column,
            on_change=training.attempt,
            args=(page, lambda: _read_own(page, st.session_state[column])),
        )


def _read_own(page: str, column: str = "") -> None:
    """Read the uploaded file into the session; raise TextProblem for one that cannot be used."""
    from tx_core.corpus.sentence_file import read_sentences

    uploaded = st.session_state[widget_key(page, "file")]
    if uploaded is not None:  # taken out of the box again: what was read stays
        uploaded.seek(0)
        st.session_state[widget_key(page, "own")] = read_sentences(uploaded, uploaded.name, column)


def tell_sentences(sentences: "Sentences") -> None:
    """Say what was read from the file, and which lines were not and why."""
    column = f", column {sentences.column!r}" if sentences.column else ""
    st.text(f"{counted(len(sentences))}: {sentences.source}{column}.")
    tell_left_out(sentences.left_out)


def counted(sentences: int) -> str:
    """Write a number of sentences."""
    return f"{sentences:,} {'sentence' if sentences == 1 else 'sentences'}"


def tell_left_out(left_out: tuple) -> None:
    """List lines that were left out, by reason."""
    from tx_core.corpus.sentence_file import describe_left_out

    if left_out:
        count = sum(one.count for one in left_out)
        with st.expander(f"{count:,} {'line was' if count == 1 else 'lines were'} left out", icon=":material/filter_alt_off:"):
            st.text(describe_left_out(left_out))


def ask_half(page: str, engine: "Engine") -> bool:
    """Tell whether to read in half precision: where the hardware computes it, unless the reader asks for full precision."""
    from tx_core.engine.device import computes_half

    if not computes_half(engine.device):
        return False
    return not st.toggle(
        "Full precision",
        **widget_binding(widget_key(page, "exact")),
        help=(
            "Slower. Without it the model is run in bfloat16, which this machine computes by itself: on the built-in model twice "
            "as fast, and averages over many sentences came out a few thousandths apart."
        ),
    )


def run_or_stop(
    page: str, snapshot: Snapshot | None, engine: "Engine | None", sentences: "Sentences | None", *, half: bool
) -> None:
    """Offer one button: it starts the reading, or stops the one that runs."""
    if snapshot and snapshot.running:
        st.button(
            "Stop",
            key=widget_key(page, "stop"),
            icon=":material/stop:",
            disabled=snapshot.state == "stopping",
            on_click=training.stop,
            args=(KIND,),
        )
        return

    def make() -> object:
        from tx_core.corpus.statistics import Reading

        return Reading(engine, sentences, half=half)

    st.button(
        "Run",
        key=widget_key(page, "run"),
        icon=":material/play_arrow:",
        disabled=engine is None or sentences is None,
        on_click=training.attempt,
        args=(page, lambda: training.start(KIND, make)),
        help="Reads every sentence in the background: you may look at other pages meanwhile.",
    )


def watch(snapshot: Snapshot | None) -> None:
    """Show how far the reading is while it runs, and why it broke off if it did."""
    if snapshot and (snapshot.running or snapshot.problem):
        training.watch(KIND, snapshot, lambda _: None, READING_PROGRESS)


def report_of(snapshot: Snapshot | None, chosen: "Sentences | None") -> "HeadReport | None":
    """Give what the visitor's last reading found; None where there is none, or it still runs.

    Raises TextProblem where these sentences are still chosen and it could read none of them.
    """
    if snapshot is None or snapshot.result is None or snapshot.problem:
        return None
    report = snapshot.result.report
    if report is None and snapshot.state == "finished" and snapshot.result.sentences is chosen:
        raise TextProblem("The model can read none of these sentences: each is longer than it reads, or holds no word at all.")
    return report


def at_once(page: str, engine: "Engine", sentences: "Sentences") -> "HeadReport | None":
    """Give the report on the built-in sentences by the built-in model, which takes a second; None for anything else."""
    from tx_core.corpus.sentence_file import embedded_sentences
    from tx_core.corpus.statistics import read_all
    from tx_core.engine import catalogue

    if engine.name != catalogue.DEFAULT or sentences is not embedded_sentences():
        return None
    return cache.remember((page, engine.name, engine.device), lambda: read_all(engine, sentences))


def report_shown(
    page: str, snapshot: Snapshot | None, engine: "Engine | None", sentences: "Sentences | None"
) -> "HeadReport | None":
    """Give the report to show: of what is chosen on the page, or else of the last reading, which is then said."""
    last = report_of(snapshot, sentences)
    chosen = engine is not None and sentences is not None
    if last and chosen and last.sentences is sentences and last.model == engine.name:
        return last
    if chosen and (known := at_once(page, engine, sentences)) is not None:
        st.caption(NO_RUN_NEEDED)
        return known
    if last:
        st.subheader("Your last run", anchor=False)
        st.text(f"It read {last.sentences.source} with {controls.model_title(last.model)}, not what is chosen above.")
    return last
