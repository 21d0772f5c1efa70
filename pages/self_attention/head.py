"""One head step by step: its equation, its matrices, each knowing how its cells come about, and what there is to see."""

import math

import streamlit as st

from pages.self_attention import texts
from pages.self_attention.inputs import DIMENSIONS_SHOWN, PAGE, HeadInputs, controls_of
from pages.ui.export.computation import call, computed, engine_call, named
from pages.ui.export.menu import offer_drawings
from pages.ui.export.part import Part
from pages.ui.export.records import PartNumbers
from pages.ui.shell import cache
from pages.ui.shell.address import widget_key
from pages.ui.shell.level import is_hidden
from pages.ui.shell.numbers import small_number
from pages.ui.stage.charts import lines_drawing
from pages.ui.stage.matrices import Matrix, MatrixNames, MatrixStep, MatrixSteps, cell_origin, operand
from pages.ui.stage.pictures import Picture, pictures_beside
from pages.ui.stage.tokens import note_how_read
from pages.ui.stage.view_options import nearest_head
from tx_core.engine.bert_engine import BertEngine
from tx_core.lessons.self_attention import HeadChoice, HeadRun, head_run, saturation
from tx_core.transformer import attention
from tx_core.transformer.attention import NORMALISE

NOTES_ON_WEIGHTS = {"random": texts.RANDOM_PROJECTIONS, "none": texts.NO_PROJECTIONS}
SATURATION_SIZES = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024)
SATURATION_HEIGHT = 330


def head_part(inputs: HeadInputs, engine: BertEngine) -> Part:
    """Compute the head that is asked for; raise ExplorerError where the text cannot be read."""
    layer, head = nearest_head(PAGE, engine)
    place = {"layer": layer, "head": head}
    choice = HeadChoice(
        layer=layer - 1,
        head=head - 1,
        weights=inputs.weights,
        seed=inputs.seed,
        scaled=not inputs.unscaled,
        normalise=inputs.normalise,
        causal=inputs.causal,
    )
    loaded = engine_call(inputs)
    trace = named("trace", loaded.trace(inputs.text, keep=("hidden",)))
    computation = call(head_run, loaded, trace, named("choice", choice, "layer and head are counted from 0"))
    run = computed(computation, engine, trace=cache.trace_with(engine, inputs.text, keep=("hidden",)))
    tensors = named("tensors", computation.tensors)
    settings = {name: getattr(inputs, name) for name in ("weights", "seed", "normalise", "unscaled", "causal")}
    heads = "layer {layer}, head {head}".format(**place)
    about = inputs.about(heads=heads) | settings
    shown = [tensors.query, tensors.key, tensors.scores, tensors.weights, tensors.context]
    note_how_read(engine, inputs.text, key=widget_key(PAGE, "model"))
    matrices = head_matrices(run, DIMENSIONS_SHOWN[1])
    steps = MatrixSteps(matrices, head_steps(run), texts.TOKENS, "matches", inputs.text, is_hidden("formulas"))
    return Part(
        [Picture(steps, " ".join(notes(run)))],
        PartNumbers(texts.EXPORT_TITLE.format(**place), about, shown),
        [texts.INTRO],
        formulas=[equation(run)],
        letters=letters(run),
        sources=(attention.attend, attention.attention_scores, attention.attention_weights, NORMALISE[choice.normalise]),
        controls=controls_of(inputs.weights, (engine.info.num_layers, engine.info.num_heads)),
    )


def equation(run: HeadRun) -> str:
    """Return the computed equation in LaTeX, with the size of this head."""
    projected, choice = run.projections is not None, run.choice
    scores = r"Q K^{\top}" if projected else r"X X^{\top}"
    if choice.scaled:
        scores = rf"\frac{{{scores}}}{{\sqrt{{{run.tensors.query.shape[1]}}}}}"
    mask = "+ M" if choice.causal else ""
    function = texts.FUNCTIONS[choice.normalise]
    return rf"\text{{context}} = \text{{{function}}}\!\left({scores} {mask}\right) {'V' if projected else 'X'}"


def letters(run: HeadRun) -> str:
    """Return the legend of the equation's letters, in Markdown."""
    sentences = [texts.LETTERS[run.choice.weights], *([texts.LETTER_OF_MASK] if run.choice.causal else [])]
    return " ".join(sentences)


def notes(run: HeadRun) -> list[str]:
    """Return a sentence or two on each switch that matters; the sum beside the matrices explains single cells."""
    choice, said = run.choice, []
    if choice.weights != "trained":
        counted = {"itself": run.match_themselves_best, "tokens": len(run.tensors.tokens)}
        said.append(NOTES_ON_WEIGHTS[choice.weights].format(share=small_number(run.share_to_itself), **counted))
    if not choice.scaled:
        said.append(_note_on_scaling(run))
    if choice.weights == "none":
        said.append(_note_on_raw_products(run))
    if choice.normalise == "hardmax":
        said.append(texts.HARD)
    if choice.normalise == "sparsemax":
        said.append(texts.NOT_SOFT.format(seen=run.tokens_looked_at, tokens=len(run.tensors.tokens)))
    if choice.causal:
        said.append(texts.FIRST_SEES_ITSELF)
    return said


def _note_on_raw_products(run: HeadRun) -> str:
    """Return a note on dot products of vectors with themselves, and on what they would be as weights."""
    squares, sums = run.tensors.matches.diagonal(), run.tensors.matches.sum(dim=-1)
    ends = {"least": squares.min(), "most": squares.max(), "least_sum": sums.min(), "most_sum": sums.max()}
    numbers = {name: float(end) for name, end in ends.items()}
    return texts.RAW_PRODUCTS.format(normaliser=texts.NORMALISERS[run.choice.normalise], **numbers).replace("-", "−")


def _note_on_scaling(run: HeadRun) -> str:
    size = run.tensors.query.shape[1]
    if run.choice.normalise == "hardmax":
        return texts.SCALING_OFF_HARD.format(size=size, root=math.sqrt(size))
    share, scaled = small_number(run.greatest_share), small_number(run.greatest_share_scaled)
    return texts.SCALING_OFF.format(size=size, root=math.sqrt(size), share=share, scaled=scaled)


def head_matrices(run: HeadRun, most: int) -> list[Matrix]:
    """Return one head as matrices, from vectors to context. Of axes that count dimensions, the first `most` can be shown."""
    tensors, choice, projections = run.tensors, run.choice, run.projections
    query, key, value = texts.PROJECTED if projections else ("vectors",) * 3
    size = tensors.query.shape[1]
    root, written = (math.sqrt(size), f"√{size}") if choice.scaled else (1.0, "1")
    formulas = {
        "vectors": "X",
        "matches": "QKᵀ" if projections else "X Xᵀ",
        "scores": texts.SCALED_BY.format(size=size, root=root) if choice.scaled else texts.NOT_SCALED,
        "masked": texts.FUTURE_HIDDEN if choice.causal else texts.NOTHING_HIDDEN,
        "weights": texts.FUNCTIONS[choice.normalise],
        "context": f"weights · {'V' if projections else 'X'}",
    }
    bias = " + b" if projections and projections.query_bias is not None else ""
    formulas |= {name: "" if is_hidden("formulas") else f"{name[0].upper()} = X·W{bias}" for name in texts.PROJECTED}
    alts = {name: alt.format(layer=choice.layer + 1) for name, alt in texts.ALTS.items()}
    said = {name: (title, formulas[name], alts[name]) for name, title in texts.TITLES.items()}
    names = MatrixNames(tensors.tokens, said, most)
    matrices = [names.by_token("vectors", tensors.vectors)]
    for name in texts.PROJECTED if projections else ():
        weight, biases = getattr(projections, name), getattr(projections, f"{name}_bias")
        bias = {} if biases is None else {"bias": biases[:most].tolist()}
        origin = cell_origin("product", "vectors", f"{name}weight", **bias)
        matrices.append(operand(f"{name}weight", weight[:, :most]))
        matrices.append(names.by_token(name, getattr(tensors, name), origin, lead="→" if name == "query" else ""))
    shares = cell_origin("shares", "masked" if choice.causal else "scores", how=choice.normalise)
    return [
        *matrices,
        names.by_pair("matches", tensors.matches, cell_origin("product", query, key, transposed=True)),
        names.by_pair("scores", tensors.scores, cell_origin("divided", "matches", divisor=root, written=written)),
        names.by_pair("masked", tensors.masked, cell_origin("masked", "scores")),
        names.by_pair("weights", tensors.weights, shares, "shares"),
        names.by_token("context", tensors.context, cell_origin("product", "weights", value)),
    ]


def head_steps(run: HeadRun) -> list[MatrixStep]:
    """Return the steps from the vectors to the context, each with the matrices to look at."""
    projected, choice = run.projections is not None, run.choice
    signs = texts.STEPS_PROJECTED if projected else texts.STEPS
    scaling = f"÷ √{run.tensors.query.shape[1]}" if choice.scaled else texts.NOT_SCALED
    seen = "masked" if choice.causal else "scores"
    shows = {
        "vectors": "vectors → query key value" if projected else "vectors",
        "matches": "query · key = matches" if projected else "vectors = matches",
        "scores": "matches → scores",
        "masked": "scores → masked",
        "weights": f"{seen} → weights",
        "context": f"weights · {'value' if projected else 'vectors'} = context",
    }
    signs = signs | {"scores": scaling, "masked": texts.STEP_MASK, "weights": texts.FUNCTIONS[choice.normalise]}
    return [
        MatrixStep(name, signs[name], texts.TITLES[name], shown, optional=name == "masked" and not choice.causal)
        for name, shown in shows.items()
    ]


def show_saturation() -> None:
    """Show what softmax does to random scores as vectors get longer, with and without scaling."""
    computation = named("run", call(saturation, SATURATION_SIZES))
    run = cache.get_or_compute(("saturation", SATURATION_SIZES), lambda: saturation(SATURATION_SIZES))
    series = {texts.NOT_DIVIDED: run.largest_unscaled, texts.DIVIDED: run.largest_scaled}
    slopes = {"unscaled": small_number(run.slope_unscaled[-1]), "scaled": small_number(run.slope_scaled[-1])}
    st.subheader(texts.WHY_SCALED, anchor=False)
    st.markdown(texts.WHY_SCALED_TEXT.format(keys=run.keys, size=run.sizes[-1], **slopes))
    drawing = lines_drawing(texts.LARGEST_WEIGHT, list(map(str, run.sizes)), series, limits=(0, 1.02))
    pictures_beside(PAGE, "saturation", [Picture(drawing, cell=texts.DIMENSION)], SATURATION_HEIGHT)
    shown = [computation.largest_unscaled, computation.largest_scaled]
    about = {"dimensions": list(SATURATION_SIZES)}
    numbers = PartNumbers(texts.EXPORT_SATURATION, about, shown)
    offer_drawings(PAGE, lambda: numbers, lambda: [drawing], place="saturation")
