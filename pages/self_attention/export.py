"""The steps of one head, its scaling and the store of keys and values for export: what was drawn, and its code."""

import streamlit as st

from pages.self_attention import texts
from pages.self_attention.steps import step_choice
from pages.ui.export.code import load_line
from pages.ui.export.lessons import Computation, computation_code
from pages.ui.export.records import reading, source
from pages.ui.shell.address import widget_key
from tx_core.engine.catalogue import DEFAULT
from tx_core.lessons.key_value import Store, VectorRow

NAMES = ("text", "nospecial", "layer", "head", "weights", "seed", "unscaled", "normalise", "causal")


def steps_computation(page: str) -> Computation:
    """Say which head the page computes step by step, and write its code."""
    values = {name: st.session_state[widget_key(page, name)] for name in NAMES}
    choice = step_choice(values)
    special = not values["nospecial"]
    title = texts.EXPORT_TITLE.format(layer=values["layer"], head=values["head"])
    imports = ["from tx_core import load", "from tx_core.lessons.steps import StepChoice, sentence_steps"]
    lines = [
        load_line(DEFAULT, special),
        f"trace = engine.trace({values['text']!r}, keep=('hidden',))",
        f"choice = {choice!r}  # layer and head are counted from 0",
        "steps = sentence_steps(engine, trace, choice).steps",
        "",
        "print(steps.query, steps.key, steps.scores, steps.weights, steps.context, sep='\\n')",
    ]
    about = source(DEFAULT, text=values["text"], **reading(special), heads=f"layer {values['layer']}, head {values['head']}")
    about |= {name: values[name] for name in NAMES[4:]}
    return Computation(title, about, computation_code(title, imports, lines), texts.EXPORT_RESULT)


def saturation_computation(sizes: tuple[int, ...]) -> Computation:
    """Say what softmax does to scores of random vectors, and write its code."""
    lines = [f"run = saturation({sizes!r})", "", "print(run.largest_unscaled, run.largest_scaled, sep='\\n')"]
    code = computation_code(texts.EXPORT_SATURATION, ["from tx_core.lessons.steps import saturation"], lines)
    return Computation(texts.EXPORT_SATURATION, {"dimensions": list(sizes)}, code, texts.EXPORT_SATURATION_RESULT)


def store_computation(store: Store, query: VectorRow) -> Computation:
    """Say what was looked up in a store of keys and values, and write its code."""
    lines = [
        f"found = look_up({store!r}, {tuple(query)!r})",
        "",
        "print(found.matches, found.scores, found.weights, found.result, sep='\\n')",
    ]
    code = computation_code(texts.EXPORT_STORE, ["from tx_core.lessons.key_value import Store, look_up"], lines)
    about = {"keys": [list(row) for row in store.keys], "values": [list(row) for row in store.values], "query": list(query)}
    return Computation(texts.EXPORT_STORE, about, code, texts.EXPORT_STORE_RESULT)
