"""What does each head do over many sentences? A file, or the built-in set, read by any model; every head averaged."""

from typing import TYPE_CHECKING

import streamlit as st

from pages.many_sentences import run
from pages.many_sentences.head import RANKS, strongest_sentences, tell_head
from pages.many_sentences.wall import COLOURS, wall
from pages.ui.canvas.attention_view import heads_to_link
from pages.ui.export.menu import export_menu
from pages.ui.panels import training, view_options
from pages.ui.panels.texts import EXPLANATION_DEBATE
from pages.ui.panels.view_options import ask_head, show_note
from pages.ui.shell import controls
from pages.ui.shell.address import (
    Field,
    choice_field,
    flag_field,
    read_view,
    restore_hidden_fields,
    widget_key,
    write_view,
)
from pages.ui.shell.controls import engine_of
from pages.ui.shell.frame import explain, open_page, page_links, share_link, show_engine
from tx_core.errors import CheckpointProblem, ExplorerError, ModelUnavailable

if TYPE_CHECKING:  # the core imports torch: the title is painted without it
    from tx_core.corpus.statistics import HeadReport
    from tx_core.engine.engine import Engine

PAGE = "many_sentences"
FIELDS = (
    choice_field("texts", tuple(run.TEXTS)),
    Field("model", "embedded", controls.read_model),
    choice_field("colour", tuple(COLOURS)),
    Field("heads", [(0, 0)], view_options.read_heads, heads_to_link),
    choice_field("rank", RANKS),
    flag_field("exact"),
)
LINK = (
    "Whoever opens this link gets the same model, head and colours. The built-in sentences are there for everyone; "
    "a file that you uploaded stays with you, and is forgotten when you leave."
)


@st.fragment
def look(report: "HeadReport") -> None:
    """All heads, one of them in detail, all numbers; what is clicked here runs nothing but this."""
    from pages.many_sentences import export, table

    restore_hidden_fields(PAGE, FIELDS)
    st.markdown(
        "Every cell is a head. **Hue and word tell what it mostly does, depth of colour how clearly.** Choose one to "
        "see where it does so most."
    )
    place = st.container()
    head = ask_head(PAGE, *report.entropy.shape)
    with place:
        drawn = wall(PAGE, report, head)
    tell_head(report, head)
    first = strongest_sentences(PAGE, report, head)
    table.table(PAGE, report)
    show_note(
        "Averages over many sentences tell what a head usually does by rules made by people, not what it is for; in a single "
        f"sentence it may do something else. Sentences of fewer than five tokens are not ranked. {EXPLANATION_DEBATE}"
    )
    export_menu(PAGE, {"All heads": lambda: export.many_export(report, *drawn)})
    end_page(first)


def end_page(text: str = "") -> None:
    """Put the view into the address and offer its link and the way to other pages."""
    write_view(PAGE, FIELDS, {})
    page_links(text, "", "attention", "summaries")
    share_link(LINK)


def tell_report(report: "HeadReport") -> None:
    """Say what the numbers below were taken from."""
    stopped = "" if report.complete else f" It was stopped after {report.read:,} of {run.counted(len(report.sentences))}."
    st.caption(
        f"{run.counted(report.read)} with {report.tokens:,} tokens, special ones not counted, "
        f"read in {report.seconds:.1f} s{' in half precision (bfloat16)' if report.half else ''}.{stopped}"
    )
    run.tell_left_out(report.left_out[len(report.sentences.left_out) :])


def ask_model() -> "Engine | None":
    """Let the reader choose a model; None where it cannot be had, which is then said."""
    name = controls.model(widget_key(PAGE, "model"))
    try:
        with controls.wait_for(name):
            engine = engine_of(badge, name)
    except (ModelUnavailable, CheckpointProblem) as problem:
        explain(problem)
        controls.offer_default_model(widget_key(PAGE, "model"))
        return None
    show_engine(badge, engine.title, engine.device)
    return engine


badge = open_page(PAGE)
read_view(PAGE, FIELDS, {})
snapshot = training.current_run(run.KIND)
running = bool(snapshot and snapshot.running)
sentences, problem = None, None
left, right = st.columns([5, 4], gap="medium")
with right:
    engine = ask_model()
    half = engine is not None and run.ask_half(PAGE, engine)
with left:
    try:
        sentences = run.ask_sentences(PAGE)
        run.tell_sentences(sentences)
    except ExplorerError as missing:
        problem = missing
run.run_or_stop(PAGE, snapshot, engine, sentences, half=half)
training.show_problem(PAGE)
run.watch(snapshot)
try:
    report = None if running else run.report_shown(PAGE, snapshot, engine, sentences)
except ExplorerError as unread:
    report, problem = None, unread
if problem:
    explain(problem)
if report:
    tell_report(report)
    look(report)
else:
    if not (running or problem) and engine is not None:
        st.caption("Press Run: the heads appear here when all sentences are read.")
    end_page()
