"""One head under a mask: its scores, which are computed, and as matrices what the browser makes of them with any mask."""

from dataclasses import replace

import numpy as np

from pages.masks import texts
from pages.masks.inputs import FIRST_CELL, MAX_PAINTED_TOKENS, PAGE, MaskInputs, mask_from_link
from pages.ui.export.computation import call, computed, engine_call, evaluate, named
from pages.ui.export.part import Part
from pages.ui.export.records import PartNumbers
from pages.ui.shell.level import is_hidden
from pages.ui.stage.matrices import Matrix, MatrixNames, MatrixStep, MatrixSteps, cell_origin, cell_to_link
from pages.ui.stage.pictures import Picture
from pages.ui.stage.view_options import nearest_head
from tx_core.engine.bert_engine import BertEngine
from tx_core.lessons import masking
from tx_core.lessons.masking import MaskedHead, padded_scores
from tx_core.transformer import attention
from tx_core.transformer.attention import softmax

DRAWN = "painted"
"""The kind of a mask drawn by hand, as links write it."""
MADE = ("mask", "masked", "lowered", "before", "weights", "change", "leaky")
"""The matrices that the browser makes of the scores."""
PADDING = {"padding": "3", "combined": "3"}
"""Tokens of padding that are added where there are none, by the masks that would hide nothing without them."""
STEPS = {
    "one": {"after": "mask masked → weights", "before": "mask scores → before", "difference": "mask masked → change"},
    "penalty": {"penalty": "weights leaky before"},
}
"""The matrices that stand side by side, by what is looked at in a part."""


def head_part(inputs: MaskInputs, engine: BertEngine) -> Part:
    """Compute the head that is asked for under the mask that is looked at; raise ExplorerError where the text cannot be read."""
    run = named("run", call(padded_scores, engine_call(inputs), inputs.text, inputs.padding))
    tokens, scores = call(len, run.tokens), computed(run, engine)
    if inputs.kind == DRAWN and inputs.mask:
        cells = call(np.array, mask_from_link(inputs.mask).astype(int).tolist(), bool)
        mask = named("mask", call(masking.fit_mask, cells, tokens), "drawn by hand")
    else:
        kind = "none" if inputs.kind == DRAWN else inputs.kind
        mask = named("mask", call(masking.mask_of_kind, kind, tokens, run.real, inputs.width))
    layer, number = nearest_head(PAGE, engine)
    head = named("head", run.under(mask, layer - 1, number - 1), "layer and head, counted from 0")
    told = {
        "labels": texts.PICTURE | {"most": MAX_PAINTED_TOKENS},
        "penalised": inputs.part == "penalty",
        "real": scores.real,
        "paintable": len(scores.tokens) <= MAX_PAINTED_TOKENS and not is_hidden(f"kind={DRAWN}"),
        "padding": PADDING,
        "first": cell_to_link(FIRST_CELL),
    }
    steps = [MatrixStep(name, "", "", shows) for name, shows in STEPS[inputs.part].items()]
    matrices = head_matrices(inputs, evaluate(head, run=scores))
    place = {"layer": layer, "head": number}
    about = {"kind": inputs.kind, "padding": inputs.padding, "width": inputs.width, "mask": inputs.mask}
    about["heads"] = "layer {layer}, head {head}".format(**place)
    if inputs.part == "one":
        shown = [head.masked_scores, head.weights_before, head.weights]
        masks = (attention.causal_mask, attention.padding_mask, attention.window_mask, attention.combine)
        prose, sources = (texts.ONE_TEXT, texts.ONE_CAPTION), (attention.attention_weights, *masks)
        formulas = (texts.WEIGHTS_FORMULA, texts.MASK_FORMULA)
    else:
        about["penalty"] = inputs.penalty
        shown = [head.weights, head.penalised(float(inputs.penalty)), head.weights_before]
        prose, formulas, sources = (texts.PENALTY_TEXT,), (texts.PENALTY_FORMULA,), (MaskedHead.penalised,)
    title = texts.EXPORT_TITLES[inputs.part].format(**place, penalty=inputs.penalty)
    return Part(
        [Picture(MatrixSteps(matrices, steps, text=inputs.text, made=MADE, masking=told))],
        PartNumbers(title, inputs.about(**about), shown),
        prose,
        formulas=formulas,
        sources=sources,
    )


def head_matrices(inputs: MaskInputs, head: MaskedHead) -> list[Matrix]:
    """Return what is known of a head: mask, scores and weights before and after it, and with a penalty in its place."""
    penalty, lowered = texts.write_penalty(inputs.penalty), head.scores + ~head.mask * float(inputs.penalty)
    said = texts.MATRICES | (texts.PENALTY_MATRICES if inputs.part == "penalty" else {})
    said = {name: tuple(part.format(penalty=penalty) for part in parts) for name, parts in said.items()}
    names, drawn = MatrixNames(head.tokens, said, 0), " ".join(STEPS[inputs.part].values()).split()
    matrices = [
        names.by_pair("mask", np.where(head.mask, 0, -np.inf), cell_origin("allowed"), "mask"),
        names.by_pair("scores", head.scores),
        names.by_pair("masked", head.masked_scores, cell_origin("masked", "scores")),
        names.by_pair("lowered", lowered, cell_origin("lowered", "scores"), "lowered"),
        names.by_pair("before", head.weights_before, cell_origin("shares", "scores", how="softmax"), "shares"),
        names.by_pair("weights", head.weights, cell_origin("shares", "masked", how="softmax"), "shares"),
        names.by_pair("change", head.difference, cell_origin("subtracted", "weights", "before"), "change"),
        names.by_pair("leaky", softmax(lowered), cell_origin("shares", "lowered", how="softmax"), "shares"),
    ]
    return [replace(matrix, lead=" ", shown=None if matrix.name in drawn else 0) for matrix in matrices]
