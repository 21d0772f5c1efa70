"""One head step by step: its equation, its matrices, each knowing how its cells come about, and what there is to see."""

import math

import numpy as np
from jaxtyping import Float32

from pages.self_attention import texts
from pages.self_attention.inputs import HeadInputs
from pages.ui.export.computation import call, load_call, named
from pages.ui.export.records import PartNumbers
from pages.ui.shell.level import is_hidden
from pages.ui.shell.numbers import small_number
from pages.ui.stage.matrices import Divided, MaskedCells, Matrix, MatrixStep, Product, Shares
from pages.ui.stage.sources import reading, source
from tx_core.engine.catalogue import DEFAULT
from tx_core.lessons.self_attention import HeadRun, head_run, saturation

Numbers = Float32[np.ndarray, "row column"]
NOTES_ON_WEIGHTS = {"random": texts.RANDOM_PROJECTIONS, "none": texts.NO_PROJECTIONS}


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
    """Return one head as matrices: vectors, queries, keys, values, dot products, scores, mask, weights, context.

    Of axes that count dimensions, up to the first `most` can be shown; sums use all of them.
    """
    return [_vectors(run, most), *_projections(run, most), *_scores_and_weights(run), _context(run, most)]


def head_steps(run: HeadRun) -> list[MatrixStep]:
    """Return the steps from the vectors to the context, each with the matrices to look at."""
    projected, choice = run.projections is not None, run.choice
    made = tuple(texts.PROJECTED) if projected else ()
    query, key, value = made or ("vectors",) * 3
    signs = texts.STEPS_PROJECTED if projected else texts.STEPS
    scaling = f"÷ √{run.tensors.query.shape[1]}" if choice.scaled else texts.NOT_SCALED
    seen = "masked" if choice.causal else "scores"
    operands = tuple(dict.fromkeys((query, key)))
    dot = ("", *("·" for _ in operands[1:]), "=")
    return [
        MatrixStep(
            "vectors", signs["vectors"], texts.VECTORS, ("vectors", *made), ("", "→", "", "")[: 1 + len(made)], (*made, "vectors")
        ),
        MatrixStep("matches", signs["matches"], texts.DOT_PRODUCTS, (*operands, "matches"), dot, ("matches",)),
        MatrixStep("scores", scaling, texts.SCORES, ("matches", "scores"), ("", "→"), ("scores",)),
        MatrixStep("masked", texts.STEP_MASK, texts.MASK, ("scores", "masked"), ("", "→"), ("masked",), not choice.causal),
        MatrixStep("weights", texts.FUNCTIONS[choice.normalise], texts.SHARES, (seen, "weights"), ("", "→"), ("weights",)),
        MatrixStep("context", signs["context"], texts.CONTEXT, ("weights", value, "context"), ("", "·", "="), ("context",)),
    ]


def _vectors(run: HeadRun, most: int) -> Matrix:
    alt = texts.VECTORS_ALT.format(layer=run.choice.layer + 1)
    return _by_token(run, "vectors", texts.VECTORS, "X", run.tensors.vectors.numpy(), most, alt=alt)


def _projections(run: HeadRun, most: int) -> list[Matrix]:
    """The operands of the three projections, not drawn, and their results; nothing without projections."""
    if run.projections is None:
        return []
    matrices = []
    for name, title in texts.PROJECTED.items():
        weight, bias = getattr(run.projections, name), getattr(run.projections, f"{name}_bias")
        letter, operand = name[0].upper(), f"{name}weight"
        formula = "" if is_hidden("formulas") else f"{letter} = X·W" if bias is None else f"{letter} = X·W + b"
        origin = Product("vectors", operand, bias=None if bias is None else tuple(bias[:most].tolist()))
        values, lead = getattr(run.tensors, name).numpy(), "→" if name == "query" else ""
        matrices.append(_operand(operand, weight[:, :most].numpy()))
        matrices.append(_by_token(run, name, title, formula, values, most, origin, alt=texts.PROJECTED_ALT[name], lead=lead))
    return matrices


def _scores_and_weights(run: HeadRun) -> list[Matrix]:
    """Dot products, scores, scores with the mask, and weights: a number for each pair of tokens."""
    tensors, choice, projected = run.tensors, run.choice, run.projections is not None
    query, key = ("query", "key") if projected else ("vectors", "vectors")
    size = tensors.query.shape[1]
    divisor = Divided("matches", math.sqrt(size), f"√{size}") if choice.scaled else Divided("matches", 1.0, "1")
    scaling = texts.SCALED_BY.format(size=size, root=math.sqrt(size)) if choice.scaled else texts.NOT_SCALED
    hidden = texts.FUTURE_HIDDEN if choice.causal else texts.NOTHING_HIDDEN
    product, formula = Product(query, key, transposed=True), "QKᵀ" if projected else "X Xᵀ"
    shares, function = Shares("masked" if choice.causal else "scores", choice.normalise), texts.FUNCTIONS[choice.normalise]
    return [
        _by_pair(run, "matches", texts.DOT_PRODUCTS, formula, tensors.matches.numpy(), product, alt=texts.DOT_PRODUCTS_ALT),
        _by_pair(run, "scores", texts.SCORES, scaling, tensors.scores.numpy(), divisor),
        _by_pair(run, "masked", texts.MASK, hidden, tensors.masked.numpy(), MaskedCells("scores"), alt=texts.MASK_ALT),
        _by_pair(run, "weights", texts.SHARES, function, tensors.weights.numpy(), shares, group="shares", alt=texts.WEIGHTS_ALT),
    ]


def _context(run: HeadRun, most: int) -> Matrix:
    origin, formula = Product("weights", "value"), "weights · V"
    if run.projections is None:
        origin, formula = Product("weights", "vectors"), "weights · X"
    values = run.tensors.context.numpy()
    return _by_token(run, "context", texts.CONTEXT, formula, values, most, origin, alt=texts.CONTEXT_ALT)


def _by_token(
    run: HeadRun,
    name: str,
    title: str,
    formula: str,
    values: Numbers,
    most: int,
    origin: Product | None = None,
    *,
    alt: str,
    lead: str = "→",
) -> Matrix:
    tokens, columns = run.tensors.tokens, count(values.shape[1])
    return Matrix(name, title, formula, values, tokens, columns, "token", "dimension", origin, shown=most, alt=alt, lead=lead)


def _by_pair(
    run: HeadRun,
    name: str,
    title: str,
    formula: str,
    values: Numbers,
    origin: Product | Divided | MaskedCells | Shares,
    *,
    group: str = "scores",
    alt: str = "",
) -> Matrix:
    tokens = run.tensors.tokens
    return Matrix(name, title, formula, values, tokens, tokens, "query", "key", origin, group=group, alt=alt)


def _operand(name: str, values: Numbers) -> Matrix:
    rows, columns = values.shape
    return Matrix(name, name, "", values, count(rows), count(columns), "dimension", "dimension", shown=0)


def count(number: int) -> tuple[str, ...]:
    """Return row or column labels: their numbers, from 1."""
    return tuple(str(place) for place in range(1, number + 1))


def head_numbers(inputs: HeadInputs) -> PartNumbers:
    """Return what the head is computed of that the page shows step by step."""
    special, settings = not inputs.bare, inputs.settings()
    choice = named("choice", inputs.choice, "layer and head are counted from 0")
    engine = load_call(DEFAULT, special)
    trace = named("trace", engine.trace(inputs.text, keep=("hidden",)))
    tensors = named("tensors", call(head_run, engine, trace, choice).tensors)
    place = {name: settings.pop(name) for name in ("layer", "head")}
    about = source(DEFAULT, text=inputs.text, **reading(special), heads="layer {layer}, head {head}".format(**place)) | settings
    shown = [tensors.query, tensors.key, tensors.scores, tensors.weights, tensors.context]
    return PartNumbers(texts.EXPORT_TITLE.format(**place), about, shown, texts.EXPORT_RESULT)


def saturation_numbers(sizes: tuple[int, ...]) -> PartNumbers:
    """Return what softmax over scores of random vectors is computed of."""
    run = named("run", call(saturation, sizes))
    shown = [run.largest_unscaled, run.largest_scaled]
    return PartNumbers(texts.EXPORT_SATURATION, {"dimensions": list(sizes)}, shown, texts.EXPORT_SATURATION_RESULT)
