"""The parts of this page for export: what they drew, and the code of its numbers."""

from collections.abc import Callable

import streamlit as st

from pages.bert import texts
from pages.bert.parts import LABEL_HEADS
from pages.ui.export.code import load_line
from pages.ui.export.lessons import Computation, computation_code, draw_and_export
from pages.ui.export.records import reading, source
from pages.ui.shell.address import widget_key
from tx_core.engine.bert_engine import BertEngine

LOAD = "from tx_core import load"
Draw = Callable[[str, BertEngine, str, str], None]
Written = tuple[list[str], list[str], tuple[str, ...]]
"""Imports, lines, and the names of the fields that the numbers depend on."""


def exported(part: str, draw: Draw) -> Draw:
    """Let a part of the page be exported below what it draws."""

    def draw_part(page: str, engine: BertEngine, text: str, pair: str) -> None:
        engine.encode(text, pair or None)  # what cannot be read is explained at once, and needs no room
        with st.container(key=widget_key(page, f"{part}_part")):  # assets/page.css keeps the room of the comparison
            draw_and_export(page, lambda: _computation(page, part, engine, text, pair), draw, page, engine, text, pair)

    return draw_part


def _computation(page: str, part: str, engine: BertEngine, text: str, pair: str) -> Computation:
    values = {name: st.session_state[widget_key(page, name)] for name in ("layer", "head", "seed", "kind", "labels")}
    imports, lines, used = CODE[part](values, repr(text) + (f", {pair!r}" if pair else ""))
    title = texts.EXPORT_TITLES[part].format(**values)
    special = engine.tokenizer.special_tokens
    code = computation_code(title, [LOAD, *imports], [load_line(engine.name, special), *lines])
    about = source(engine.name, text=text, pair=pair, **reading(special), **{name: values[name] for name in used})
    return Computation(title, about, code, texts.EXPORT_RESULTS[part])


def _compare(values: dict, sentences: str) -> Written:
    place = f"{values['layer'] - 1}, {values['head'] - 1}"
    lines = [
        f"both = compare_with_library(engine, MODELS / 'embedded', {sentences})",
        f"ours, theirs = both.ours[{place}], both.theirs[{place}]  # layer and head, counted from 0",
        "",
        "print(both.hidden, both.weights, both.logits, ours - theirs, sep='\\n')",
    ]
    imports = ["from tx_core.engine.catalogue import MODELS", "from tx_core.lessons.parity import compare_with_library"]
    return imports, lines, ("layer", "head")


def _random(values: dict, sentences: str) -> Written:
    place = f"{values['layer'] - 1}, {values['head'] - 1}"
    lines = [
        f"untrained = untrained_engine(engine, {values['seed']})",
        f"weights = [one.trace({sentences}).attention.weights[{place}] for one in (engine, untrained)]  # counted from 0",
        "",
        "print(*weights, sep='\\n')",
    ]
    return ["from tx_core.lessons.untrained import untrained_engine"], lines, ("layer", "head", "seed")


def _labels(values: dict, sentences: str) -> Written:
    lines = [
        f"trace = engine.trace({sentences}, keep=('hidden',))",
        f"scores = predict_labels(trace, {LABEL_HEADS[values['kind']]!r}, {values['labels']}, {values['seed']})",
        "shares = scores.shares.reshape(-1, scores.shares.shape[-1])",
        "",
        "print(scores.logits, shares, sep='\\n')",
    ]
    return ["from tx_core.lessons.untrained import predict_labels"], lines, ("kind", "labels", "seed")


CODE: dict[str, Callable[[dict, str], Written]] = {"compare": _compare, "random": _random, "labels": _labels}
