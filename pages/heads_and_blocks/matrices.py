"""The parts of a block as the matrices that a page shows, each knowing how its cells come about where a sum makes them."""

from collections.abc import Sequence
from typing import Protocol

import numpy as np

from pages.ui.canvas.cell_origins import Added, Bent, Normed, OfRow, Origin, Product, Stretched
from pages.ui.canvas.matrix_view import Matrix
from tx_core.lessons.bert_steps import Affine, BlockRun, EmbeddingRun, FeedForwardRun, NormRun
from tx_core.transformer.layers import LayerNorm

DRAWN = 5
"""Dimensions drawn of most matrices; all of them are computed with."""
OF_EACH_HEAD = 3
OF_EACH_LOOK_UP = 4
OF_EACH_NORM = 3


class Numbers(Protocol):
    """A matrix of the core."""

    def numpy(self) -> np.ndarray: ...


def embedding_matrices(run: EmbeddingRun, norm: LayerNorm) -> list[Matrix]:
    """Lay the three look-ups, their sum and the norm of it side by side. norm: the model's own, in ordinary memory."""
    learned = {"weight": _first(norm.weight, OF_EACH_LOOK_UP), "bias": _first(norm.bias, OF_EACH_LOOK_UP)}
    made = {"sum": Added(("words", "positions", "segments")), "normed": Normed("sum", norm.eps, **learned)}
    rows = (
        ("words", "Word", "W[id]", run.words, "", "One row of the table of words: the same wherever the word stands."),
        ("positions", "Position", "P[place]", run.positions, "+", "One row of the table of positions: the same in every text."),
        ("segments", "Segment", "S[0 or 1]", run.segments, "+", "The first sentence's row, or the second's."),
        ("sum", "Sum", "added up", run.summed, "=", "Word, position and segment added up, number by number."),
        ("normed", "Normed", "LayerNorm", run.normed, "→", "What enters the first block."),
    )
    return [
        _by_token(
            name,
            title,
            formula,
            part,
            run.tokens,
            drawn=OF_EACH_LOOK_UP,
            origin=made.get(name),
            group="normed" if name == "normed" else "looked up",
            lead=lead,
            told=told,
        )
        for name, title, formula, part, lead, told in rows
    ]


def head_matrices(run: BlockRun, heads: Sequence[int], projection: Affine) -> list[Matrix]:
    """Lay the answers of some heads, counted from 0, end to end, and mix them by the output projection."""
    output = run.of_heads(tuple(heads), projection.bias)
    panels = [
        _by_token(
            f"head{chr(97 + head)}",
            f"Head {head + 1}",
            "its answer",
            run.context[head],
            run.tokens,
            drawn=OF_EACH_HEAD,
            group="heads",
            lead="" if place == 0 else "|",
            told=f"What head {head + 1} hands to each token.",
        )
        for place, head in enumerate(heads)
    ]
    return [
        *panels,
        _operand("joined", run.joined_of(tuple(heads)), run.tokens),
        _operand("projection", projection.matrix[:, :DRAWN]),
        _by_token(
            "output",
            "Output",
            "end to end · W + b",
            output,
            run.tokens,
            origin=_product("joined", "projection", projection),
            told="All heads' numbers times the output projection.",
        ),
    ]


def feed_forward_matrices(block: BlockRun, run: FeedForwardRun, widen: Affine, narrow: Affine, bend: str) -> list[Matrix]:
    """Widen, bend, narrow: every token's vector by itself."""
    return [
        _by_token("vectors", "Vectors", "X", block.attention_normed, block.tokens, told="What the attention part hands over."),
        _operand("widen", widen.matrix[:, :DRAWN]),
        _by_token(
            "widened",
            "Widened",
            "X · W₁ + b₁",
            run.widened,
            block.tokens,
            origin=_product("vectors", "widen", widen),
            group="wide",
            told="Four times as many numbers a token.",
        ),
        _by_token(
            "bent",
            "Bent",
            bend,
            run.bent,
            block.tokens,
            group="wide",
            origin=Bent("widened", bend),
            told=f"{bend} of the number to the left: what is far below zero is all but gone.",
        ),
        _operand("narrow", narrow.matrix[:, :DRAWN]),
        _by_token(
            "output",
            "Narrowed",
            "· W₂ + b₂",
            run.both.ours,
            block.tokens,
            origin=_product("bent", "narrow", narrow),
            group="output",
            told="As many numbers as before.",
        ),
    ]


def norm_matrices(run: NormRun) -> list[Matrix]:
    """Lay a norm out: before, mean, variance, normed, stretched and shifted, and PyTorch's answer."""
    steps, result = run.steps, run.steps.result
    rows = (
        ("before", "Before", "x", steps.before, "", "What enters the norm."),
        ("mean", "Mean", "μ", steps.mean[:, None], "→", "The mean of the row."),
        ("variance", "Variance", "σ²", steps.variance[:, None], "", "The mean square of what the mean leaves."),
        ("normed", "Normed", "(x − μ) ÷ √(σ² + ε)", steps.normed, "→", "Mean 0 and variance 1 in every row."),
        ("ours", "By hand", "· γ + β", result.ours, "→", "Stretched and shifted as learned."),
        ("theirs", "PyTorch", "layer_norm", result.theirs, "=", "PyTorch's own function on the same row."),
    )
    alone = {"mean", "variance", "before"}
    learned = {"weight": _first(run.weight, OF_EACH_NORM), "bias": _first(run.bias, OF_EACH_NORM)}
    made = {
        "mean": OfRow("before", "mean"),
        "variance": OfRow("before", "variance"),
        "normed": Normed("before", run.eps),
        "ours": Stretched("normed", **learned),
    }
    return [
        _by_token(
            name,
            title,
            formula,
            part,
            run.tokens,
            drawn=OF_EACH_NORM,
            origin=made.get(name),
            group=name if name in alone else "after",
            lead=lead,
            told=told,
        )
        for name, title, formula, part, lead, told in rows
    ]


def _by_token(
    name: str,
    title: str,
    formula: str,
    part: Numbers,
    tokens: tuple[str, ...],
    *,
    drawn: int = DRAWN,
    origin: Origin | None = None,
    group: str = "numbers",
    lead: str = "→",
    told: str = "",
) -> Matrix:
    values = _numbers(part)
    return Matrix(
        name,
        title,
        formula,
        values,
        tokens,
        dimensions(values.shape[1]),
        "token",
        "dimension",
        origin,
        group=group,
        shown=drawn,
        lead=lead,
        told=told,
    )


def _operand(name: str, part: Numbers, rows: tuple[str, ...] | None = None) -> Matrix:
    values = _numbers(part)
    return Matrix(
        name,
        name,
        "",
        values,
        rows or dimensions(len(values)),
        dimensions(values.shape[1]),
        "dimension",
        "dimension",
        group=name,
        shown=0,
    )


def _product(left: str, right: str, layer: Affine) -> Product:
    return Product(left, right, bias=_first(layer.bias, DRAWN))


def _first(numbers: Numbers, count: int) -> tuple[float, ...]:
    return tuple(numbers.numpy()[:count].tolist())


def _numbers(part: Numbers) -> np.ndarray:
    return np.ascontiguousarray(part.numpy())


def dimensions(count: int) -> tuple[str, ...]:
    """Name dimensions as a reader counts them."""
    return tuple(str(number + 1) for number in range(count))
