"""One head under a mask: its scores, which are computed, and as matrices what the browser makes of them with any mask."""

import numpy as np

from pages.masks import texts
from pages.masks.drawn import mask_from_link
from pages.masks.inputs import MaskInputs
from pages.ui.export.computation import Computation, call, evaluate, load_call, named
from pages.ui.export.records import PartNumbers
from pages.ui.shell import cache
from pages.ui.stage.charts import Drawing
from pages.ui.stage.matrices import Allowed, Lowered, MaskedCells, Matrix, MatrixStep, Origin, Shares, Subtracted, matrix_drawings
from pages.ui.stage.sources import reading, source
from tx_core.engine.catalogue import DEFAULT
from tx_core.lessons import masking
from tx_core.lessons.masking import MaskedHead, PaddedScores, padded_scores
from tx_core.transformer.attention import softmax

DRAWN = "painted"
"""The kind of a mask drawn by hand, as links write it."""
MADE = ("mask", "masked", "lowered", "before", "weights", "change", "leaky")
"""The matrices that the browser makes of the scores."""


def head_scores(inputs: MaskInputs) -> PaddedScores:
    """Compute the scores of all heads on the sentence and its padding; raise ExplorerError where the text cannot be read."""
    engine, (scores, _) = inputs.engine(), head_calls(inputs)
    name = ("masks", cache.engine_key(engine), inputs.text, inputs.padding)
    return cache.get_or_compute(name, lambda: evaluate(scores, engine=engine))


def masked_head(inputs: MaskInputs) -> MaskedHead:
    """Return the head that is asked for under the mask that the browser shows."""
    _, head = head_calls(inputs)
    return evaluate(head, run=head_scores(inputs))


def head_calls(inputs: MaskInputs) -> tuple[Computation, Computation]:
    """Return the computation of the scores of all heads, and of the head that is asked for under its mask."""
    run = named("run", call(padded_scores, load_call(DEFAULT, not inputs.bare), inputs.text, inputs.padding))
    kind, tokens = inputs.kind, call(len, run.tokens)
    if kind == DRAWN and inputs.drawn:
        cells = call(np.array, mask_from_link(inputs.drawn).astype(int).tolist(), bool)
        mask = named("mask", call(masking.fit_mask, cells, tokens), "drawn by hand")
    else:
        mask = named("mask", call(masking.mask_of_kind, "none" if kind == DRAWN else kind, tokens, run.real, inputs.width))
    return run, named("head", run.under(mask, inputs.layer, inputs.head), "layer and head, counted from 0")


def head_matrices(inputs: MaskInputs, head: MaskedHead) -> list[Matrix]:
    """Return what is shown of a head: mask, scores and weights before and after it, and with a penalty in its place."""
    effect, penalty = head.effect, float(inputs.penalty)
    lowered = effect.scores + ~effect.mask * penalty

    def matrix(name: str, values: object, group: str, origin: Origin | None) -> Matrix:
        title, formula = texts.MATRIX_TITLES[name], texts.MATRIX_FORMULAS[name]
        if inputs.part == "penalty":
            title = texts.PENALTY_TITLES.get(name, title)
        title, formula = (text.format(penalty=texts.write_penalty(inputs.penalty)) for text in (title, formula))
        cells, tokens = np.asarray(values, np.float32), head.tokens
        is_drawn = name != "lowered" and (name != "leaky" or inputs.part == "penalty")
        about = {"alt": texts.MATRIX_ALTS[name], "shown": None if is_drawn else 0}
        return Matrix(name, title, formula, cells, tokens, tokens, "query", "key", origin, group=group, lead=" ", **about)

    mask = np.where(effect.mask, 0, -np.inf)
    return [
        matrix("mask", mask, "mask", Allowed()),
        matrix("scores", effect.scores, "scores", None),
        matrix("masked", effect.masked_scores, "scores", MaskedCells("scores")),
        matrix("lowered", lowered, "lowered", Lowered("scores")),
        matrix("before", effect.weights_before, "shares", Shares("scores")),
        matrix("weights", effect.weights, "shares", Shares("masked")),
        matrix("change", effect.difference, "change", Subtracted(("weights", "before"))),
        matrix("leaky", softmax(lowered), "shares", Shares("lowered")),
    ]


STEPS = {
    "after": ("mask", "masked", "weights"),
    "before": ("mask", "scores", "before"),
    "difference": ("mask", "masked", "change"),
    "penalty": ("weights", "leaky", "before"),
}
"""The matrices that stand side by side, by what is looked at."""
MAKES = {"after": ("weights", "masked", "mask"), "before": ("before", "scores"), "difference": ("change",), "penalty": ("leaky",)}


def head_steps() -> list[MatrixStep]:
    """Return the matrices that stand side by side."""
    return [
        MatrixStep(name, "", "", shows, ("", " ", "→" if name != "penalty" else " "), MAKES[name])
        for name, shows in STEPS.items()
    ]


def head_drawings(inputs: MaskInputs, head: MaskedHead) -> list[Drawing]:
    """Return the matrices of a part, for export."""
    matrices = {one.name: one for one in head_matrices(inputs, head)}
    return matrix_drawings([matrices[name] for name in (STEPS["penalty"] if inputs.part == "penalty" else matrices)])


def head_numbers(inputs: MaskInputs) -> PartNumbers:
    """Return what a part of the page on one head is computed of."""
    place = {"layer": inputs.layer + 1, "head": inputs.head + 1}
    title = texts.EXPORT_TITLES[inputs.part].format(**place, penalty=inputs.penalty)
    kept = {"text": inputs.text, "kind": inputs.kind, "padding": inputs.padding, "width": inputs.width, "mask": inputs.drawn}
    about = source(DEFAULT, **kept, **reading(not inputs.bare), heads="layer {layer}, head {head}".format(**place))
    _, head = head_calls(inputs)
    if inputs.part == "one":
        effect = named("effect", head.effect)
        shown = [effect.masked_scores, effect.weights_before, effect.weights]
    else:
        about["penalty"] = inputs.penalty
        ways = named("ways", head.three_ways(float(inputs.penalty)))
        shown = [ways.infinite, ways.penalised, ways.unmasked]
    return PartNumbers(title, about, shown, texts.EXPORT_RESULTS[inputs.part])
