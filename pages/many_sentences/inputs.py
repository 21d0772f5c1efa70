"""What the page of many sentences is asked: which sentences, read by which model; and the report on them."""

from contextlib import nullcontext
from dataclasses import dataclass

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from pages.many_sentences import reading, texts
from pages.many_sentences.heads import RANKS
from pages.ui.shell import cache, controls
from pages.ui.shell.address import (
    Field,
    StageFields,
    choice_field,
    flag_field,
    is_offered,
    read_stage_address,
    value_of,
    widget_key,
)
from pages.ui.shell.frame import explain, show_engine
from pages.ui.stage import background_runs, view_options
from pages.ui.stage.inputs import explain_problem
from pages.ui.stage.tokens import SPECIAL_FIELD, ask_special_tokens, note_special_tokens
from pages.ui.stage.view_options import heads_to_link
from tx_core.corpus.statistics import HeadReport
from tx_core.engine.engine import Engine, with_special_tokens
from tx_core.errors import CheckpointProblem, ExplorerError, ModelUnavailable

PAGE = "many_sentences"
FIELDS = StageFields(
    own=(
        choice_field("texts", tuple(texts.SOURCES)),
        Field("model", "embedded", controls.read_model),
        SPECIAL_FIELD,
        choice_field("rank", RANKS),
        flag_field("exact"),
    ),
    looks=(
        choice_field("colour", tuple(texts.COLOURS)),
        Field("heads", [(0, 0)], view_options.read_heads, heads_to_link),
    ),
    first={},
)


@dataclass(frozen=True)
class FoundReport:
    """What the page shows.

    Attributes:
        report: what every head does over the sentences.
        opened: the scan that it is from, if any.
        colour: what colours the heads.
        rank: what the sentences are ranked by.
    """

    report: HeadReport
    opened: reading.OpenedScan | None
    colour: str
    rank: str


def find_report(badge: DeltaGenerator) -> FoundReport | None:
    """Read the address, ask for sentences and a model, and return the report on them; None as long as there is none."""
    read_stage_address(PAGE, FIELDS)
    with st.container(key=widget_key(PAGE, "asked"), horizontal=True, vertical_alignment="center", gap="small"):
        source = reading.ask_source(PAGE)
        model = st.container(width="content")
        run = st.container(width="content")
    if source == "scan":
        badge.caption(texts.SCAN_BADGE)
        opened = reading.ask_scan(PAGE)
        background_runs.show_problem(PAGE)
        if opened is None:
            return None
        reading.show_scan(opened.scan)
        return _report_shown(opened.scan.report, opened)
    report = _read_report(source, badge, model, run)
    return _report_shown(report, None) if report else None


def _report_shown(report: HeadReport, opened: reading.OpenedScan | None) -> FoundReport:
    """Return what the page shows of a report, of heads that it has."""
    if missing := view_options.drop_missing_heads(PAGE, *report.entropy.shape):
        st.info(missing)
    heads = widget_key(PAGE, "heads")
    st.session_state[heads] = st.session_state[heads][:1]
    colour, rank = (value_of(PAGE, name) for name in ("colour", "rank"))
    return FoundReport(report, opened, colour, rank)


def _ask_model() -> tuple[Engine | None, ExplorerError | None, bool]:
    """Ask for a model, for special tokens and for full precision, in a box that opens.

    Returns the engine, why there is none, and whether it is to read in half precision.
    """
    name, engine, problem, half = value_of(PAGE, "model"), None, None, False
    asked = [field for field in ("model", SPECIAL_FIELD.name, "exact") if is_offered(field)]
    with st.popover(controls.model_title(name), key=widget_key(PAGE, "model_opened")) if asked else nullcontext():
        name = controls.model(widget_key(PAGE, "model"))
        special = ask_special_tokens(PAGE)
        try:
            with controls.wait_for(name):
                engine = with_special_tokens(cache.engine(name), special)
            half = reading.ask_half(PAGE, engine)
        except (ModelUnavailable, CheckpointProblem) as found:
            problem = found
    return engine, problem, half


def _read_report(source: str, badge: DeltaGenerator, model: DeltaGenerator, run: DeltaGenerator) -> HeadReport | None:
    """Run a model over the sentences; return what the heads do over them, or say what is missing."""
    sentences = report = None
    snapshot = background_runs.current_run(reading.KIND)
    running = bool(snapshot and snapshot.running)
    with model:
        engine, problem, half = _ask_model()
    if engine:
        show_engine(badge, engine.title, engine.device)
        note_special_tokens(engine, engine.tokenizer.special_tokens)
    elif problem:
        explain_problem(PAGE, problem)
    missing = None
    try:
        sentences = reading.ask_sentences(PAGE, source, engine.device if engine else "cpu")
        reading.show_sentences(sentences)
    except ExplorerError as nothing:
        missing = nothing
    with run:
        reading.run_or_stop(PAGE, snapshot, engine, sentences, half=half)
    background_runs.show_problem(PAGE)
    reading.watch(snapshot)
    try:
        report = None if running else reading.report_to_show(PAGE, snapshot, engine, sentences)
    except ExplorerError as unread:
        missing = unread
    if missing:
        explain(missing)
    if not (report or running or missing) and engine:
        st.caption(texts.PRESS_RUN)
    return report
