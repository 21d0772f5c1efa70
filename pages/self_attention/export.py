"""The steps of one head for export: the matrices that were drawn, and the code that computes them."""

import streamlit as st

from pages.self_attention import texts
from pages.ui.export.lessons import Computation, computation_code
from pages.ui.export.project_code import load_line
from pages.ui.export.records import reading, source
from pages.ui.shell.address import widget_key
from tx_core.engine.catalogue import DEFAULT
from tx_core.lessons.steps import StepChoice

NAMES = ("text", "nospecial", "layer", "head", "weights", "seed", "unscaled", "normalise", "causal")


def steps_computation(page: str) -> Computation:
    """Say which head the page computes step by step, and write its code."""
    values = {name: st.session_state[widget_key(page, name)] for name in NAMES}
    choice = StepChoice(
        layer=values["layer"] - 1,
        head=values["head"] - 1,
        weights=values["weights"],
        seed=values["seed"],
        scaled=not values["unscaled"],
        normalise=values["normalise"],
        causal=values["causal"],
    )
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
