"""Our BERT and Hugging Face's as two states of one map, with how far each part of the two differs."""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import streamlit as st

from pages.bert import texts
from pages.bert.inputs import FIELDS, PAGE, SETTINGS, BertInputs, chosen_head, part_controls
from pages.ui.export.computation import Computation, call, computed, engine_call, named
from pages.ui.export.menu import offer_drawings
from pages.ui.export.records import PartNumbers
from pages.ui.shell import cache, readiness
from pages.ui.shell.address import is_offered
from pages.ui.shell.controls import model_title
from pages.ui.shell.frame import explain_computation
from pages.ui.shell.level import is_hidden
from pages.ui.shell.numbers import small_number
from pages.ui.stage import attention
from pages.ui.stage import texts as stage_texts
from pages.ui.stage.architecture import Box, Stack, architecture, residual_parts
from pages.ui.stage.charts import Drawing, matrix_drawing
from pages.ui.stage.controls import offered_controls, take_settings
from pages.ui.stage.mount import mount, origin
from pages.ui.stage.pictures import pictures_stage
from pages.ui.stage.sources import file_stem
from tx_core.analysis.packing import pack_whole
from tx_core.engine import catalogue
from tx_core.engine.bert_engine import BertEngine
from tx_core.lessons import parity
from tx_core.lessons.parity import Parity
from tx_core.transformer import bert
from tx_core.transformer.trace import Trace

CHECKPOINT = catalogue.MODELS / catalogue.DEFAULT
FROM_0 = "layer and head, counted from 0"


def _load_library() -> readiness.Status:
    """Import transformers and run its BERT once, which takes seconds; later runs are fast."""
    engine = catalogue.load(catalogue.DEFAULT, weights=True)
    parity.compare_with_library(engine, CHECKPOINT, readiness.WARMUP_SENTENCE)
    return readiness.Status("ready", model=engine.title, device=engine.device)


library = readiness.Warmup(_load_library)
"""Hugging Face's BERT, loaded in the background when the first reader comes."""


def _parity(inputs: BertInputs) -> Computation:
    checkpoint = call(getattr, catalogue, "MODELS").joinpath(catalogue.DEFAULT)
    return named("both", call(parity.compare_with_library, engine_call(inputs), checkpoint, *inputs.sentences))


def show_compared(inputs: BertInputs, engine: BertEngine) -> None:
    """Draw ours and the library's, ours alone while the library is being loaded; explain both, and offer their numbers."""
    trace = cache.trace_with(engine, *inputs.sentences)
    if library.status.state == "asleep":
        library.start()
    found = computed(_parity(inputs), engine) if library.status.state == "ready" else None
    name = (inputs.bare, *inputs.sentences)
    sent = {"run": (f"{name} ours", [trace.attention])}
    if found:
        sent["before"] = (f"{name} theirs", [replace(trace.attention, weights=found.theirs)])
    mount(PAGE, FIELDS, lambda header: pack_whole(about_runs(header, inputs, trace, found), sent), take)
    st.markdown(texts.COMPARE)
    if found:
        largest = {texts.MAX_HIDDEN: max(found.hidden), texts.MAX_WEIGHTS: max(found.weights), texts.MAX_LOGITS: found.logits}
        for column, (label, difference) in zip(st.columns(3), largest.items(), strict=True):
            column.metric(label, small_number(difference))
    st.markdown(texts.TASKS)
    explain_computation(formulas=[texts.COMPARE_EQUATION], sources=(bert.Bert, bert.BertEmbeddings, bert.MaskedWordHead))
    offer_drawings(PAGE, lambda: _numbers(inputs), lambda: _drawings(trace, found))


def _drawings(trace: Trace, found: Parity | None) -> list[Drawing]:
    """Return both maps of the head and what differs between them, for a table and for export."""
    place, states, tokens = chosen_head(), texts.STATES, trace.attention.query_tokens.tokens
    ours = trace.attention.weights[place]
    maps = [(states["after"], "weights", ours)]
    if found:
        theirs = found.theirs[place]
        maps += [(states["before"], "weights", theirs), (states["difference"], "signed", ours - theirs)]
    return [matrix_drawing(title, kind, cells, tokens, tokens) for title, kind, cells in maps]


def _numbers(inputs: BertInputs) -> PartNumbers:
    place, both = chosen_head(), _parity(inputs)
    ours, theirs = (named(name, getattr(both, name)[place], FROM_0) for name in ("ours", "theirs"))
    return inputs.numbers([both.hidden, both.weights, both.logits, ours - theirs], "layer", "head")


def empty_stage(inputs: BertInputs) -> None:
    """Draw the stage of a part with nothing but its controls: it still writes the address."""
    controls = part_controls(inputs)
    if inputs.part != "compare":
        pictures_stage(PAGE, FIELDS, controls)
        return
    told = {"controls": offered_controls(PAGE, SETTINGS, controls)}
    attention.empty_stage(PAGE, FIELDS, take, lambda _: told)


def take(reported: Mapping[str, object]) -> None:
    """Apply what the stage asks to compute with."""
    take_settings(PAGE, SETTINGS, reported)


def about_runs(header: Mapping[str, object], inputs: BertInputs, trace: Trace, found: Parity | None) -> dict[str, object]:
    """Complete the header of the stage. found: how ours and the library's differ; None while that is not known."""
    failed, apart = library.status.state == "failed", None
    if found:
        largest = np.abs(found.ours - found.theirs).max(axis=(2, 3)).tolist()
        apart = [[texts.BY_MORE_THAN.format(apart=small_number(one)) if one else "" for one in row] for row in largest]
    return {
        **header,
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
        "apart": apart,
        "apartSaid": texts.APART,
        "note": "" if found else texts.LIBRARY_FAILED if failed else texts.LOADING_LIBRARY,
        "awaits": not (found or failed),
        "architecture": bert_architecture(len(trace.attention.weights), found),
        "hidden": [*header["hidden"], "changes"],
    }


def bert_architecture(layers: int, found: Parity | None = None, *, lit: str = "", field: str = "layer") -> dict[str, object]:
    """Return the drawing of a BERT, whose prediction head leads to heads for labels; lit: the name of a part."""
    ends, notes, whole = {}, (), []
    if found:
        ends = {"embeddings": small_number(found.hidden[0]), "head": small_number(found.logits)}
        blocks = list(zip(map(small_number, found.weights), map(small_number, found.hidden[1:]), strict=True))
        notes = [{"attention": weights, "feed_norm": hidden} for weights, hidden in blocks]
        whole = [texts.BLOCK_APART.format(apart=hidden) for _, hidden in blocks]
    attention, feed = Box("attention", texts.ATTENTION_BOX), Box("feed", texts.FEED_BOX)
    parts = [replace(box, lit=box.name == lit) for box in residual_parts(attention, feed, norm_first=False)]
    before = Box("embeddings", texts.EMBEDDINGS_BOX, note=ends.get("embeddings", ""))
    leads = {"part": "labels"} if is_offered("part") and not is_hidden("part=labels") else {}
    head = Box("head", texts.HEAD_BOX, texts.HEAD_BOX_SAID, note=ends.get("head", ""), sets=leads, lit=lit == "head")
    return architecture(Stack(parts, layers, 1, [before], [head], field=field, notes=whole, part_notes=notes))
