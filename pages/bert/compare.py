"""Two runs of one architecture as two states of one map, ours and Hugging Face's; or a successor alone."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import streamlit as st

from pages.bert import texts
from pages.bert.inputs import FIELDS, PAGE, SETTINGS, BertInputs, chosen_head, offers_part, part_controls
from pages.ui.export.computation import Computation, call, computed, engine_call, named
from pages.ui.export.menu import offer_drawings
from pages.ui.export.records import PartNumbers
from pages.ui.shell import cache, readiness
from pages.ui.shell.controls import model_title
from pages.ui.shell.frame import explain_computation
from pages.ui.shell.numbers import small_number
from pages.ui.stage import attention
from pages.ui.stage import texts as stage_texts
from pages.ui.stage.architecture import Box, Stack, architecture, residual_parts
from pages.ui.stage.charts import Drawing, matrix_drawing
from pages.ui.stage.controls import offered_controls, take_settings
from pages.ui.stage.mount import mount, origin
from pages.ui.stage.sources import file_stem
from tx_core.analysis.packing import pack_whole
from tx_core.engine import catalogue
from tx_core.engine.bert_engine import BertEngine
from tx_core.lessons import parity
from tx_core.transformer import bert
from tx_core.transformer.trace import AttentionStack, Trace

CHECKPOINT = catalogue.MODELS / catalogue.DEFAULT
LISTED_WORDS = 5
FROM_0 = "layer and head, counted from 0"
Words = Mapping[str, str]


@dataclass(frozen=True)
class TwoRuns:
    """What the stage draws.

    trace: the run that is shown first. other: the attention of the other run; None where there is none, or not yet. told: what
    the stage is told of the two, beside what it is told of every run. ends: how far they are apart in the embeddings and in the
    prediction head. notes: how far they are apart in the parts of each block.
    """

    trace: Trace
    other: AttentionStack | None
    told: Mapping[str, object] = field(default_factory=dict)
    ends: Words = field(default_factory=dict)
    notes: Sequence[Words] = ()


def _load_library() -> readiness.Status:
    """Import transformers and run its BERT once, which takes seconds; later runs are fast."""
    engine = catalogue.load(catalogue.DEFAULT, weights=True)
    parity.compare_with_library(engine, CHECKPOINT, readiness.WARMUP_SENTENCE)
    return readiness.Status("ready", model=engine.title, device=engine.device)


library = readiness.Warmup(_load_library)
"""Hugging Face's BERT, loaded in the background when the first reader comes."""


def run_compare(inputs: BertInputs, engine: BertEngine) -> TwoRuns:
    """Run ours and the library's; ours alone while the library is being loaded."""
    trace = cache.trace_with(engine, *inputs.sentences)
    if library.status.state == "asleep":
        library.start()
    if library.status.state != "ready":
        failed = library.status.state == "failed"
        note = texts.LIBRARY_FAILED if failed else texts.LOADING_LIBRARY
        return TwoRuns(trace, None, {"note": note, "awaits": not failed})
    found = differences(inputs, engine)
    apart = np.abs(found.ours - found.theirs).max(axis=(2, 3))
    layers = zip(found.weights, found.hidden[1:], strict=True)
    return TwoRuns(
        trace,
        replace(trace.attention, weights=found.theirs),
        {"apart": [[texts.BY_MORE_THAN.format(apart=small_number(one)) if one else "" for one in row] for row in apart.tolist()]},
        {"embeddings": small_number(found.hidden[0]), "head": small_number(found.logits)},
        [{"attention": small_number(weights), "feed_norm": small_number(hidden)} for weights, hidden in layers],
    )


def differences(inputs: BertInputs, engine: BertEngine) -> parity.Parity:
    """Compare every number of ours with the library's."""
    return computed(_parity(inputs), engine)


def _parity(inputs: BertInputs) -> Computation:
    checkpoint = call(getattr, catalogue, "MODELS").joinpath(catalogue.DEFAULT)
    return named("both", call(parity.compare_with_library, engine_call(inputs), checkpoint, *inputs.sentences))


def show_compared(inputs: BertInputs, engine: BertEngine) -> None:
    """Draw both runs as states of one map, with the architecture beside it, explain them, and offer their numbers."""
    runs = run_compare(inputs, engine)
    name = (inputs.bare, *inputs.sentences)
    told = about_runs(inputs, runs)
    sent = {"run": (f"{name} shown", [runs.trace.attention])}
    if runs.other:
        sent["before"] = (f"{name} other", [runs.other])
    mount(PAGE, FIELDS, lambda header: pack_whole({**header, **told(header)}, sent), take)
    st.markdown(texts.COMPARE)
    if runs.other:
        _show_differences(inputs, engine)
    st.markdown(texts.TASKS)
    explain_computation(formulas=[texts.COMPARE_EQUATION], sources=(bert.Bert, bert.BertEmbeddings, bert.MaskedWordHead))
    offer_drawings(PAGE, lambda: _numbers(inputs), lambda: _drawings(runs))


def _show_differences(inputs: BertInputs, engine: BertEngine) -> None:
    """Show how far ours and the library's are apart; the drawing of the model says it part by part."""
    found = differences(inputs, engine)
    largest = {texts.MAX_HIDDEN: max(found.hidden), texts.MAX_WEIGHTS: max(found.weights), texts.MAX_LOGITS: found.logits}
    for column, (name, difference) in zip(st.columns(3), largest.items(), strict=True):
        column.metric(name, small_number(difference))


def _drawings(runs: TwoRuns) -> list[Drawing]:
    """Return both maps of the head and what differs between them, for a table and for export."""
    layer, head = chosen_head()
    tokens, ours = runs.trace.attention.query_tokens.tokens, runs.trace.attention.weights[layer, head]
    states, maps = texts.STATES, [(texts.STATES["after"], "weights", ours)]
    if runs.other is not None:
        theirs = runs.other.weights[layer, head]
        maps += [(states["before"], "weights", theirs), (states["difference"], "signed", ours - theirs)]
    return [matrix_drawing(title, kind, cells, tokens, tokens) for title, kind, cells in maps]


def _numbers(inputs: BertInputs) -> PartNumbers:
    place, both = chosen_head(), _parity(inputs)
    ours, theirs = (named(name, getattr(both, name)[place], FROM_0) for name in ("ours", "theirs"))
    return inputs.numbers([both.hidden, both.weights, both.logits, ours - theirs], "layer", "head")


def empty_stage(inputs: BertInputs) -> None:
    """Draw a stage that shows nothing but the controls: it still writes the address."""
    told = {"controls": offered_controls(PAGE, SETTINGS, part_controls(inputs))}
    attention.empty_stage(PAGE, FIELDS, take, lambda _: told)


def take(reported: Mapping[str, object]) -> None:
    """Apply what the stage asks to compute with."""
    take_settings(PAGE, SETTINGS, reported)


def about_runs(inputs: BertInputs, runs: TwoRuns) -> Callable[[Mapping[str, object]], dict[str, object]]:
    """Return what completes the header of the stage for these runs."""
    trace = runs.trace
    told = {
        "model": model_title(trace.model),
        "text": inputs.text,
        "pair": inputs.pair,
        "bare": inputs.bare,
        "origin": origin(trace.model),
        "stem": file_stem(f"bert-{inputs.part}", trace.model),
        **attention.NO_CHANGES,
        "moved": [[]],
        "nothingMoved": "",
        "kinds": stage_texts.STACK_LABELS,
        "controls": offered_controls(PAGE, SETTINGS, part_controls(inputs)),
        "states": texts.STATES,
        "apart": None,
        "apartSaid": texts.APART,
        "note": "",
        "awaits": False,
        "architecture": bert_architecture(len(trace.attention.weights), runs.ends, runs.notes),
        **runs.told,
    }
    return lambda header: told | {"hidden": [*header["hidden"], "changes"]}


def bert_architecture(
    layers: int, ends: Mapping[str, str], notes: Sequence[Words] = (), *, lit: str = "", field: str = "layer"
) -> dict[str, object]:
    """Return the drawing of a BERT, whose prediction head leads to heads for labels; lit: the name of a part."""
    attention, feed = Box("attention", texts.ATTENTION_BOX), Box("feed", texts.FEED_BOX)
    parts = [replace(box, lit=box.name == lit) for box in residual_parts(attention, feed, norm_first=False)]
    before = Box("embeddings", texts.EMBEDDINGS_BOX, note=ends.get("embeddings", ""))
    leads = {"part": "labels"} if offers_part("labels") else {}
    head = Box("head", texts.HEAD_BOX, texts.HEAD_BOX_SAID, note=ends.get("head", ""), sets=leads, lit=lit == "head")
    whole = [texts.BLOCK_APART.format(apart=note["feed_norm"]) for note in notes if "feed_norm" in note]
    return architecture(Stack(parts, layers, 1, [before], [head], field=field, notes=whole, part_notes=notes))
