"""What the page of many sentences is asked: which sentences, read by which model; and the report on them."""

from contextlib import nullcontext
from functools import partial
from typing import NamedTuple

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from pages.many_sentences import reading, texts
from pages.many_sentences.heads import RANKS
from pages.many_sentences.relation import FIELDS as RELATION_FIELDS
from pages.many_sentences.relation import ask_relation
from pages.ui.shell import cache, controls
from pages.ui.shell.address import is_offered, read_stage_address, set_values, value_of, widget_key
from pages.ui.shell.fields import Field, StageFields, check, choice_field
from pages.ui.shell.frame import explain, show_engine
from pages.ui.stage import background_runs, view_options
from pages.ui.stage.controls import Control
from pages.ui.stage.inputs import explain_problem
from pages.ui.stage.sentence_file import show_sentences
from pages.ui.stage.texts import READING_PROGRESS
from pages.ui.stage.tokens import SPECIAL_FIELD, ask_special_tokens, note_special_tokens
from pages.ui.stage.view_options import heads_to_link
from tx_core.corpus.statistics import HeadReport, Reading
from tx_core.engine.engine import Engine, with_special_tokens
from tx_core.errors import CheckpointProblem, ExplorerError, ModelUnavailable

PAGE = "many_sentences"
FIELDS = StageFields(
    own=(
        choice_field("texts", tuple(texts.SOURCES)),
        Field("model", "embedded", controls.read_model),
        SPECIAL_FIELD,
        choice_field("rank", RANKS),
        Field("exact", True, lambda written: check(written, ("0", "1")) == "1", lambda on: str(int(on))),
        choice_field("part", tuple(texts.PARTS)),
        *RELATION_FIELDS,
    ),
    looks=(
        choice_field("colour", tuple(texts.COLOURS)),
        Field("heads", [(0, 0)], view_options.read_heads, heads_to_link),
    ),
)

PART_CONTROL = Control("part", "segments", texts.PART, tuple(texts.PARTS.items()), apart=True)


class Found(NamedTuple):
    """What the page shows. report: None while there is none. opened: the scan that it is from. run: the visitor's reading."""

    report: HeadReport | None
    opened: reading.OpenedScan | None = None
    run: background_runs.OfferedRun = background_runs.NO_RUN


def find_report(badge: DeltaGenerator) -> Found:
    """Read the address, ask for sentences and a model, and return the report on them, or say what is missing."""
    read_stage_address(PAGE, FIELDS)
    with st.container(key=widget_key(PAGE, "asked"), horizontal=True, vertical_alignment="center", gap="small"):
        source = reading.ask_source(PAGE)
        engine, problem, half = (None, None, False) if source == "scan" else _ask_model()
        if value_of(PAGE, "part") == "find":
            ask_relation(PAGE, reading.chosen_sentences(PAGE, source))
    if source != "scan":
        return _read_report(source, badge, engine, problem, half=half)
    badge.caption(texts.SCAN_BADGE)
    opened = reading.ask_scan(PAGE)
    background_runs.show_problem(PAGE)
    if opened is None:
        return Found(None)
    reading.show_scan(opened.scan)
    return Found(_with_heads(opened.scan.report), opened)


def _with_heads(report: HeadReport) -> HeadReport:
    """Choose one head that a report has."""
    if missing := view_options.drop_missing_heads(PAGE, *report.entropy.shape):
        st.info(missing)
    set_values(PAGE, {"heads": value_of(PAGE, "heads")[:1]})
    return report


def _ask_model() -> tuple[Engine | None, ExplorerError | None, bool]:
    """Ask for a model and how it reads; return the engine, why there is none, and whether it is to read in half precision."""
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


def _read_report(
    source: str, badge: DeltaGenerator, engine: Engine | None, problem: ExplorerError | None, *, half: bool
) -> Found:
    """Return what the heads do over the sentences, or how far the visitor's reading of them is; say what is missing."""
    sentences = report = missing = None
    if engine:
        show_engine(badge, engine.title, engine.device)
        note_special_tokens(engine, engine.tokenizer.special_tokens)
    elif problem:
        explain_problem(PAGE, problem)
    try:
        sentences = reading.ask_sentences(PAGE, source, engine.device if engine else "cpu")
        show_sentences(sentences)
    except ExplorerError as nothing:
        missing = nothing
    make = partial(Reading, engine, sentences, half=half) if engine and sentences else None
    run = background_runs.offer_run(PAGE, reading.KIND, sentences, make, READING_PROGRESS, (texts.RUN, texts.RUN_HELP))
    try:
        report = None if run.running else reading.report_to_show(PAGE, run, engine, sentences)
    except ExplorerError as unread:
        missing = unread
    if missing:
        explain(missing)
    if not (report or run.running or missing) and engine:
        st.caption(texts.PRESS_RUN)
    return Found(report and _with_heads(report), None, run)
