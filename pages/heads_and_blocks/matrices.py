"""The parts of a block as matrices, each knowing how its cells come about where a sum makes them."""

from collections.abc import Sequence
from typing import Protocol

import numpy as np

from pages.heads_and_blocks import texts
from pages.ui.stage.matrices import Activated, Added, Matrix, MatrixStep, Normalised, Origin, Product, RowStatistic
from tx_core.lessons.bert_parts import Affine, BlockRun, EmbeddingRun, FeedForwardRun, NormRun
from tx_core.transformer.layers import LayerNorm

SHOWN = 16
"""Dimensions that can be shown; all of them are computed with."""
SHOWN_OF_HEAD = 3
"""Of the results of a head, since they stand beside those of all others."""


class Numbers(Protocol):
    """A matrix of the core."""

    def numpy(self) -> np.ndarray: ...


def embedding_matrices(run: EmbeddingRun, norm: LayerNorm) -> list[Matrix]:
    """Return the three look-ups, their sum and its norm as matrices. norm: the model's own, on the CPU."""
    tokens, learned = run.tokens, _weight_and_bias(norm.weight, norm.bias, SHOWN)

    def row(
        name: str,
        title: str,
        formula: str,
        part: Numbers,
        alt: str,
        lead: str,
        origin: Origin | None = None,
        group: str = "looked up",
    ) -> Matrix:
        return _by_token(name, title, formula, part, tokens, alt, origin=origin, group=group, lead=lead)

    summed, normed = Added(("words", "positions", "segments")), Normalised("sum", norm.eps, **learned)
    return [
        row("words", texts.WORD, "W[id]", run.words, texts.WORD_ALT, ""),
        row("positions", texts.POSITION, texts.POSITION_FORMULA, run.positions, texts.POSITION_ALT, "+"),
        row("segments", texts.SEGMENT, texts.SEGMENT_FORMULA, run.segments, texts.SEGMENT_ALT, "+"),
        row("sum", texts.SUM, texts.SUM_FORMULA, run.summed, texts.SUM_ALT, "=", summed),
        row("normed", texts.NORMED_SUM, "LayerNorm", run.normed, texts.NORMED_SUM_ALT, "→", normed, "normed"),
    ]


def head_matrices(run: BlockRun, heads: Sequence[int], projection: Affine) -> list[Matrix]:
    """Concatenate the results of some heads, counted from 0, and mix them by the output projection."""
    output = run.output_of(tuple(heads), projection.bias)
    names = tuple(texts.HEAD_ROW.format(head=head + 1) for head in range(len(run.by_head)))
    lengths = Matrix(
        "lengths",
        texts.HEADS_ADD,
        texts.LENGTH_FORMULA,
        _numbers(run.head_lengths),
        names,
        run.tokens,
        "",
        "token",
        group="lengths",
        alt=texts.LENGTH_ALT,
    )
    panels = [
        _by_token(
            f"head{chr(97 + head)}",
            texts.HEAD_TITLE.format(head=head + 1),
            texts.HEAD_FORMULA_SHORT,
            run.context[head],
            run.tokens,
            texts.HEAD_ALT.format(head=head + 1),
            shown=SHOWN_OF_HEAD,
            group="heads",
            lead="" if place == 0 else "|",
        )
        for place, head in enumerate(heads)
    ]
    product = _product("joined", "projection", projection)
    return [
        lengths,
        *panels,
        _operand("joined", run.concatenated_of(tuple(heads)), run.tokens),
        _operand("projection", projection.matrix[:, :SHOWN]),
        _by_token("output", texts.OUTPUT, texts.OUTPUT_FORMULA, output, run.tokens, texts.OUTPUT_ALT, origin=product),
    ]


def feed_forward_matrices(block: BlockRun, run: FeedForwardRun, up: Affine, down: Affine, activation: str) -> list[Matrix]:
    """Return a feed-forward layer as matrices: up projection, activation function (named as readers know it), down projection."""
    tokens, into, back = block.tokens, _product("vectors", "widen", up), _product("bent", "narrow", down)
    alt, down_projected = texts.ACTIVATED_ALT.format(function=activation), run.convolution.ours
    return [
        _by_token("vectors", texts.VECTORS, "X", block.attention_normed, tokens, texts.VECTORS_ALT),
        _operand("widen", up.matrix[:, :SHOWN]),
        _by_token("widened", texts.UP, "X · W₁ + b₁", run.up_projected, tokens, texts.UP_ALT, origin=into, group="wide"),
        _by_token(
            "bent", texts.ACTIVATED, activation, run.activated, tokens, alt, origin=Activated("widened", activation), group="wide"
        ),
        _operand("narrow", down.matrix[:, :SHOWN]),
        _by_token("output", texts.DOWN, "· W₂ + b₂", down_projected, tokens, texts.DOWN_ALT, origin=back, group="output"),
    ]


def norm_matrices(run: NormRun) -> list[Matrix]:
    """Return a norm as matrices: its input, mean, variance, normalised, scaled and shifted, and PyTorch's result."""
    tokens, tensors, result = run.tokens, run.tensors, run.tensors.result

    def row(
        name: str, title: str, formula: str, part: Numbers, alt: str, lead: str, origin: Origin | None, group: str = "after"
    ) -> Matrix:
        return _by_token(name, title, formula, part, tokens, alt, origin=origin, group=group, lead=lead)

    mean, variance, normed = RowStatistic("before", "mean"), RowStatistic("before", "variance"), Normalised("before", run.eps)
    stretched = Normalised("before", run.eps, **_weight_and_bias(run.weight, run.bias, SHOWN))
    formula = "(x − μ) ÷ √(σ² + ε)"
    return [
        row("before", texts.BEFORE, "x", tensors.before, texts.BEFORE_ALT, "", None, "before"),
        row("mean", texts.MEAN, "μ", tensors.mean[:, None], texts.MEAN_ALT, "→", mean, "mean"),
        row("variance", texts.VARIANCE, "σ²", tensors.variance[:, None], texts.VARIANCE_ALT, "", variance, "variance"),
        row("normed", texts.NORMALISED, formula, tensors.normed, texts.NORMALISED_ALT, "→", normed),
        row("ours", texts.BY_HAND, "· γ + β", result.ours, texts.BY_HAND_ALT, "→", stretched),
        row("theirs", texts.PYTORCH, "layer_norm", result.theirs, texts.PYTORCH_ALT, "=", None),
    ]


def count(number: int) -> tuple[str, ...]:
    """Return dimension labels: their numbers, from 1."""
    return tuple(str(place) for place in range(1, number + 1))


def _by_token(
    name: str,
    title: str,
    formula: str,
    part: Numbers,
    tokens: tuple[str, ...],
    alt: str,
    *,
    shown: int = SHOWN,
    origin: Origin | None = None,
    group: str = "numbers",
    lead: str = "→",
) -> Matrix:
    values = _numbers(part)
    columns = count(values.shape[1])
    look = {"group": group, "shown": shown, "lead": lead, "alt": alt}
    return Matrix(name, title, formula, values, tokens, columns, "token", "dimension", origin, **look)


def _operand(name: str, part: Numbers, rows: tuple[str, ...] | None = None) -> Matrix:
    """A matrix that is not drawn, only multiplied with."""
    values = _numbers(part)
    rows, columns = rows or count(len(values)), count(values.shape[1])
    return Matrix(name, name, "", values, rows, columns, "dimension", "dimension", group=name, shown=0)


def _product(left: str, right: str, layer: Affine) -> Product:
    return Product(left, right, bias=_first_columns(layer.bias, SHOWN))


def _weight_and_bias(weight: Numbers, bias: Numbers, columns: int) -> dict[str, tuple[float, ...]]:
    return {"weight": _first_columns(weight, columns), "bias": _first_columns(bias, columns)}


def _first_columns(numbers: Numbers, columns: int) -> tuple[float, ...]:
    return tuple(numbers.numpy()[:columns].tolist())


def _numbers(part: Numbers) -> np.ndarray:
    return np.ascontiguousarray(part.numpy())


def head_steps(heads: Sequence[int]) -> list[MatrixStep]:
    """Return the steps of the heads: what each adds, and how some of them, counted from 0, are joined."""
    names = tuple(f"head{chr(97 + head)}" for head in heads)
    leads = ("", *("|" for _ in names[1:]), *("→" for _ in names[:1]))
    joined = MatrixStep("joined", texts.JOINED_SIGN, texts.OUTPUT, (*names, "output"), leads or ("",), ("output", *names))
    return [MatrixStep("adds", texts.ADDS_SIGN, texts.ADDS_TITLE, ("lengths",), ("",), ("lengths",), numbers=True), joined]


EMBEDDING_STEPS = [
    MatrixStep(
        "sum",
        "W + P + S",
        texts.SUM,
        ("words", "positions", "segments", "sum"),
        ("", "+", "+", "="),
        ("sum", "words", "positions", "segments"),
    ),
    MatrixStep("norm", "LayerNorm", texts.NORMED_SUM, ("sum", "normed"), ("", "→"), ("normed",)),
]
NORM_STEPS = [
    MatrixStep(
        "statistics", "μ, σ²", texts.STATISTICS, ("before", "mean", "variance"), ("", "→", ""), ("mean", "before", "variance")
    ),
    MatrixStep("normed", "(x − μ) ÷ √(σ² + ε)", texts.NORMALISED, ("before", "normed"), ("", "→"), ("normed",)),
    MatrixStep("ours", "· γ + β", texts.BY_HAND, ("before", "ours", "theirs"), ("", "→", "="), ("ours", "theirs")),
]


def feed_forward_steps(activation: str) -> list[MatrixStep]:
    """Return the steps of a feed-forward layer, whose activation function readers know by this name."""
    return [
        MatrixStep("widened", "· W₁ + b₁", texts.UP, ("vectors", "widened"), ("", "→"), ("widened", "vectors")),
        MatrixStep("bent", activation, texts.ACTIVATED, ("widened", "bent"), ("", "→"), ("bent",)),
        MatrixStep("output", "· W₂ + b₂", texts.DOWN, ("bent", "output"), ("", "→"), ("output",)),
    ]
