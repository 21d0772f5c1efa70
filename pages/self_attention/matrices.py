"""The steps of one head as the matrices that a page shows, each knowing how its cells come about."""

import math

import numpy as np
from jaxtyping import Float32

from pages.ui.canvas.cell_origins import Divided, Masked, Product, Shares
from pages.ui.canvas.matrix_view import Matrix
from tx_core.lessons.steps import SentenceSteps

Numbers = Float32[np.ndarray, "row column"]
HOW = {"softmax": "softmax", "sparsemax": "sparsemax", "hardmax": "argmax"}


def step_matrices(found: SentenceSteps, drawn: int, most: int) -> list[Matrix]:
    """Lay one head out: vectors, queries, keys, values, matches, scores, mask, weights, context.

    Of the axes that count dimensions up to the first `most` can be shown; the sums use all of them. The projections'
    matrices, which are large, come along for the first `drawn`.
    """
    source = [_vectors(found, most), *_projected(found, drawn, most)]
    return [*source, *_compared(found), _context(found, most)]


def _vectors(found: SentenceSteps, drawn: int) -> Matrix:
    told = f"What enters layer {found.choice.layer + 1}: one row for each token."
    return _by_token(found, "vectors", "Vectors", "X", found.steps.vectors.numpy(), drawn, told=told)


def _projected(found: SentenceSteps, drawn: int, most: int) -> list[Matrix]:
    """The operands of the three projections, undrawn, and what they give; nothing without projections."""
    projections = found.projections
    if projections is None:
        return []
    matrices = []
    asks = {"query": "looks for", "key": "can be found by", "value": "hands over"}
    for name, what in asks.items():
        weight, bias = getattr(projections, name), getattr(projections, f"{name}_bias")
        letter, operand = name[0].upper(), f"{name}weight"
        matrices.append(_operand(operand, weight[:, :drawn].numpy()))
        origin = Product("vectors", operand, bias=None if bias is None else tuple(bias[:drawn].tolist()))
        formula = f"{letter} = X·W{'' if bias is None else ' + b'}"
        result = _by_token(
            found,
            name,
            name.capitalize(),
            formula,
            getattr(found.steps, name).numpy(),
            most,
            origin,
            told=f"What a token {what}.",
            lead="→" if name == "query" else "",
        )
        matrices.append(result)
    return matrices


def _compared(found: SentenceSteps) -> list[Matrix]:
    steps, choice = found.steps, found.choice
    projected = found.projections is not None
    asked, offered = ("query", "key") if projected else ("vectors", "vectors")
    width = steps.query.shape[1]
    divisor, written = (math.sqrt(width), f"√{width}") if choice.scaled else (1.0, "1")
    divided = f"÷ √{width} = ÷ {math.sqrt(width):.3g}" if choice.scaled else "not divided"
    return [
        _by_pair(
            found,
            "matches",
            "Matches",
            "QKᵀ" if projected else "X Xᵀ",
            steps.matches.numpy(),
            Product(asked, offered, transposed=True),
            told="How well every query fits every key.",
        ),
        _by_pair(found, "scores", "Scores", divided, steps.scores.numpy(), Divided("matches", divisor, written)),
        _by_pair(
            found,
            "masked",
            "Mask",
            "later tokens: −∞" if choice.causal else "nothing hidden",
            steps.masked.numpy(),
            Masked("scores"),
            told="Whom a token may look at.",
        ),
        _by_pair(
            found,
            "weights",
            "Weights",
            HOW[choice.normalise],
            steps.weights.numpy(),
            Shares("masked", choice.normalise),
            group="shares",
            told="Every row adds up to 1.",
        ),
    ]


def _context(found: SentenceSteps, drawn: int) -> Matrix:
    projected = found.projections is not None
    origin = Product("weights", "value" if projected else "vectors")
    formula = "weights · V" if projected else "weights · X"
    return _by_token(
        found, "context", "Context", formula, found.steps.context.numpy(), drawn, origin, told="Each token's mix of the values."
    )


def _by_token(
    found: SentenceSteps,
    name: str,
    title: str,
    formula: str,
    values: Numbers,
    drawn: int,
    origin: Product | None = None,
    *,
    told: str,
    lead: str = "→",
) -> Matrix:
    return Matrix(
        name,
        title,
        formula,
        values,
        found.steps.tokens,
        dimensions(values.shape[1]),
        "token",
        "dimension",
        origin,
        shown=drawn,
        told=told,
        lead=lead,
    )


def _by_pair(
    found: SentenceSteps,
    name: str,
    title: str,
    formula: str,
    values: Numbers,
    origin: Product | Divided | Masked | Shares,
    *,
    group: str = "scores",
    told: str = "",
) -> Matrix:
    tokens = found.steps.tokens
    return Matrix(name, title, formula, values, tokens, tokens, "query", "key", origin, group=group, told=told)


def _operand(name: str, values: Numbers) -> Matrix:
    rows, columns = values.shape
    return Matrix(name, name, "", values, dimensions(rows), dimensions(columns), "dimension", "dimension", shown=0)


def dimensions(count: int) -> tuple[str, ...]:
    """Name dimensions as a reader counts them."""
    return tuple(str(number + 1) for number in range(count))
