"""What does each head do over many sentences? A file, or the built-in set, read by any model; every head averaged."""

import streamlit as st

from pages.ui.shell.frame import open_page

PAGE = "many_sentences"
badge = open_page(PAGE)

# The title is on its way: what follows takes longer to import.
from pages.many_sentences import reading, texts
from pages.many_sentences.heads import RANKS, describe_head, heads_export, show_grid, show_strongest, show_table
from pages.ui.canvas.attention_view import heads_to_link
from pages.ui.canvas.head_table import describe_grammar
from pages.ui.export.menu import export_menu
from pages.ui.panels import training, view_options
from pages.ui.panels.texts import EXPLANATION_DEBATE
from pages.ui.panels.tokens import SPECIAL_FIELD, ask_special_tokens, note_special_tokens
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
from pages.ui.shell.frame import explain, page_links, share_link, show_engine
from pages.ui.shell.metrics import page_run
from tx_core.corpus.statistics import HeadReport
from tx_core.engine.engine import Engine, with_special_tokens
from tx_core.errors import CheckpointProblem, ExplorerError, ModelUnavailable

FIELDS = (
    choice_field("texts", tuple(texts.SOURCES)),
    Field("model", "embedded", controls.read_model),
    SPECIAL_FIELD,
    choice_field("colour", tuple(texts.COLOURS)),
    Field("heads", [(0, 0)], view_options.read_heads, heads_to_link),
    choice_field("rank", RANKS),
    flag_field("exact"),
)


@st.fragment
@page_run(PAGE)
def show_heads(report: HeadReport, opened: reading.OpenedScan | None) -> None:
    """Show all heads, one of them in detail, and all numbers; a click in here reruns only this."""
    restore_hidden_fields(PAGE, FIELDS)
    st.markdown(texts.HEADS)
    above = st.container()
    head = ask_head(PAGE, *report.entropy.shape)
    with above:
        grid = show_grid(PAGE, report, head)
    st.text(describe_head(report, head))
    st.text(describe_grammar(report.model, head))
    first = show_strongest(PAGE, report, head)
    show_table(PAGE, report)
    show_note(f"{texts.CAVEAT} {EXPLANATION_DEBATE}")
    export_menu(PAGE, {texts.EXPORT: lambda: heads_export(report, grid, opened)})
    end_page(first)


def end_page(text: str = "") -> None:
    """Put the view into the address, and offer its link and other pages."""
    write_view(PAGE, FIELDS, {})
    page_links(text, "", "attention", "summaries")
    share_link(texts.LINK)


def ask_model() -> Engine | None:
    """Ask for a model and for special tokens; where it is not available, show the reason and return None."""
    name = controls.model(widget_key(PAGE, "model"))
    special = ask_special_tokens(PAGE)
    try:
        with controls.wait_for(name):
            engine = with_special_tokens(engine_of(badge, name), special)
    except (ModelUnavailable, CheckpointProblem) as problem:
        explain(problem)
        controls.offer_default_model(widget_key(PAGE, "model"))
        return None
    show_engine(badge, engine.title, engine.device)
    note_special_tokens(engine, special)
    return engine


def show_reading(source: str) -> None:
    """Run a model over the sentences, and show what the heads do over them."""
    sentences, report, problem = None, None, None
    snapshot = training.current_run(reading.KIND)
    running = bool(snapshot and snapshot.running)
    with right:
        engine = ask_model()
        half = engine is not None and reading.ask_half(PAGE, engine)
    with left:
        try:
            sentences = reading.ask_sentences(PAGE, source, engine.device if engine else "cpu")
            reading.show_sentences(sentences)
        except ExplorerError as missing:
            problem = missing
    reading.run_or_stop(PAGE, snapshot, engine, sentences, half=half)
    training.show_problem(PAGE)
    reading.watch(snapshot)
    try:
        report = None if running else reading.report_to_show(PAGE, snapshot, engine, sentences)
    except ExplorerError as unread:
        problem = unread
    if problem:
        explain(problem)
    if report:
        reading.show_report(report)
        show_heads(report, None)
        return
    if not (running or problem) and engine is not None:
        st.caption(texts.PRESS_RUN)
    end_page()


def show_scan() -> None:
    """Open the result of a scan, and show what the heads do over its sentences."""
    with left:
        opened = reading.ask_scan(PAGE)
    badge.caption(texts.SCAN_BADGE)
    training.show_problem(PAGE)
    if opened is None:
        end_page()
        return
    reading.show_scan(opened.scan)
    show_heads(opened.scan.report, opened)


read_view(PAGE, FIELDS, {})
left, right = st.columns([5, 4], gap="medium")
with left:
    source = reading.ask_source(PAGE)
if source == "scan":
    show_scan()
else:
    show_reading(source)
