"""The parts of this page for export: what they drew, and the code of its numbers."""

import streamlit as st

from pages.masks import texts
from pages.masks.masked_head import DRAWN
from pages.masks.whole_run import RUN_CHANGES, WORDS
from pages.ui.canvas.mask_grid import mask_from_link
from pages.ui.export.code import IMPORT_CHANGES, interventions_literal, load_line
from pages.ui.export.lessons import Computation, computation_code
from pages.ui.export.records import reading, source
from pages.ui.shell.address import widget_key
from tx_core.engine.catalogue import DEFAULT

HEAD_IMPORTS = ["from tx_core import load", "from tx_core.lessons.masking import padded_scores"]


def masks_computation(page: str, part: str) -> Computation:
    """Say what a part of the page shows, and write its code."""
    names = ("text", "pair", "kind", "padding", "width", "layer", "head", "penalty", "mask", "nospecial")
    values = {name: st.session_state[widget_key(page, name)] for name in names}
    title, how = texts.EXPORT_TITLES[part].format(**values), reading(not values["nospecial"])
    if part == "batch":
        about = source(DEFAULT, text=values["text"], pair=values["pair"], **how)
        imports = ["from tx_core import load", "from tx_core.lessons.masking import padded_pair"]
        lines = [
            load_line(DEFAULT, not values["nospecial"]),
            f"proof = padded_pair(engine, {values['text']!r}, {values['pair']!r}).proof",
            "",
            "print(proof.moved_masked, proof.moved_unmasked, sep='\\n')",
        ]
        return Computation(title, about, computation_code(title, imports, lines), texts.EXPORT_RESULTS[part])
    kept = {name: values[name] for name in ("text", "kind", "padding", "width", "mask")}
    about = source(DEFAULT, **kept, **how, heads=f"layer {values['layer']}, head {values['head']}")
    if part == "penalty":
        about["penalty"] = values["penalty"]
    imports, lines = _masked_head(values)
    if part == "one":
        lines += ["effect = head.effect", "", "print(effect.masked_scores, effect.weights_before, effect.weights, sep='\\n')"]
    else:
        lines += [f"ways = head.three_ways({float(values['penalty'])})", ""]
        lines += ["print(ways.infinite, ways.penalised, ways.unmasked, sep='\\n')"]
    return Computation(title, about, computation_code(title, imports, lines), texts.EXPORT_RESULTS[part])


def _masked_head(values: dict[str, object]) -> tuple[list[str], list[str]]:
    """Write what runs the sentence and masks one head of it."""
    run = f"run = padded_scores(engine, {values['text']!r}, {values['padding']})"
    if values["kind"] == DRAWN and values["mask"]:
        cells = mask_from_link(values["mask"]).astype(int).tolist()
        imports = ["import numpy as np", "from tx_core.lessons.masking import fit_mask"]
        mask = f"fit_mask(np.array({cells}, bool), len(run.tokens))  # drawn by hand"
    else:
        imports = ["from tx_core.lessons.masking import mask_of_kind"]
        kind = "none" if values["kind"] == DRAWN else values["kind"]
        mask = f"mask_of_kind({kind!r}, len(run.tokens), run.real, {values['width']})"
    place = f"{values['layer'] - 1}, {values['head'] - 1}"
    return [*HEAD_IMPORTS, *imports], [
        load_line(DEFAULT, not values["nospecial"]),
        run,
        f"mask = {mask}",
        f"head = run.under(mask, {place})  # layer and head, counted from 0",
    ]


def run_computation(page: str) -> Computation:
    """Say what a mask on the whole model does to a prediction, and write the code of both predictions."""
    names = ("blank", "run", "nospecial")
    text, run, nospecial = (st.session_state[widget_key(page, name)] for name in names)
    title, change = texts.EXPORT_RUN.format(change=texts.RUN_LABELS[run]), RUN_CHANGES[run]
    lines = [
        load_line(DEFAULT, not nospecial),
        f"shift = shift_predictions(engine, {text!r}, {interventions_literal([change])}, top_k={WORDS})",
        "moved = [[(one.before, one.after) for one in blank.moved] for blank in shift.blanks]",
        "",
        "print(*moved, sep='\\n')",
    ]
    imports = [
        "from tx_core import load",
        "from tx_core.fill_mask.prediction_shift import shift_predictions",
        IMPORT_CHANGES,
    ]
    about = source(DEFAULT, text=text, changes=texts.RUN_LABELS[run], **reading(not nospecial))
    return Computation(title, about, computation_code(title, imports, lines), texts.EXPORT_RUN_RESULT)
