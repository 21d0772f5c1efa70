"""The parts of a block that compute: embeddings, heads, feed-forward, norm; each as text, equation, code, picture."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
import streamlit as st

from pages.heads_and_blocks import matrices as block_matrices
from pages.heads_and_blocks.view import ask_layer, show_matrices, tell_difference
from pages.ui.canvas import matrix_view
from pages.ui.canvas.mask_grid import Matrix, Naming, matrices
from pages.ui.shell import cache
from pages.ui.shell.address import widget_binding, widget_key
from pages.ui.shell.numbers import small_number
from tx_core.lessons import bert_steps
from tx_core.lessons.bert_steps import (
    Affine,
    BlockRun,
    EmbeddingRun,
    FeedForwardRun,
    NormRun,
    block_run,
    embedding_run,
    feed_forward_run,
    likeness,
    matrix_and_bias,
    norm_run,
    on_cpu,
    same_word_twice,
)

if TYPE_CHECKING:
    from tx_core.engine.bert_engine import BertEngine

NORMS = {"attention": "After attention", "feed_forward": "After feed-forward", "embeddings": "After the embeddings"}
BENDS = {"gelu": "GELU", "relu": "ReLU"}
CONVOLVED = 12


def embeddings(page: str, engine: "BertEngine", text: str, pair: str) -> None:
    """Token, position and segment."""
    run = cache.remember((page, "embeddings", text, pair), lambda: embedding_run(engine, text, pair or None))
    show_matrices(page, "embeddings", lambda _: block_matrices.embedding_matrices(run, on_cpu(engine.model.embeddings.norm)))
    st.text(_twice(run))
    st.caption("Dropout stands here, too. It sets random numbers to zero while a model is trained, and rests when it is used.")


def _twice(run: EmbeddingRun) -> str:
    found = same_word_twice(run)
    if found is None:
        return "No word stands here twice. Write one twice and compare its two rows."
    place, again, apart = found
    return (
        f"'{run.tokens[place]}' stands here twice, as token {place + 1} and {again + 1}. Its word row is the same both times; "
        f"with the position added, the two rows differ by up to {apart:.2f}."
    )


def heads(page: str, engine: "BertEngine", text: str, pair: str) -> None:
    """One head, many heads, concatenation, projection."""
    size, count = engine.model.config.hidden_size, engine.num_heads
    width = size // count
    with st.container(horizontal=True, gap="medium"):
        layer = ask_layer(page, engine.num_layers)
        st.pills("Heads that take part", range(1, count + 1), selection_mode="multi", **widget_binding(widget_key(page, "heads")))
    chosen = tuple(head - 1 for head in sorted(st.session_state[widget_key(page, "heads")]) if head <= count)

    def matrices_of(values: Mapping[str, object]) -> list[matrix_view.Matrix]:
        asked = values["layer"] - 1
        output = matrix_and_bias(engine.model.encoder.blocks[asked].attention.output)
        return block_matrices.head_matrices(_block(page, engine, text, pair, asked), chosen, output)

    if not chosen:
        st.info("Without any head the output is the projection's bias alone, the same for every token. Choose a head.")
    show_matrices(page, "heads", matrices_of, {"layer": range(1, engine.num_layers + 1)})
    run = _block(page, engine, text, pair, layer)
    projection = matrix_and_bias(engine.model.encoder.blocks[layer].attention.output)
    tokens = len(run.tokens)
    st.caption(
        f"The shapes: vectors {tokens} × {size} → queries, keys and values {count} × {tokens} × {width} each → answers "
        f"{count} × {tokens} × {width} → end to end {tokens} × {size} → output {tokens} × {size}."
    )
    _what_heads_add(page, run, chosen, projection)


def _block(page: str, engine: "BertEngine", text: str, pair: str, layer: int) -> BlockRun:
    return cache.remember((page, "block", text, pair, layer), lambda: block_run(engine, text, pair or None, layer=layer))


def _what_heads_add(page: str, run: BlockRun, chosen: tuple[int, ...], projection: Affine) -> None:
    st.markdown(
        "The projection is a sum, so it can be taken apart: **what each head adds** is its own answer times its own rows of W. "
        "Some heads write much into a token, some hardly anything."
    )
    lengths = run.head_lengths.numpy()
    whole = bert_steps.TwoWays(run.of_heads(tuple(range(len(lengths))), projection.bias), run.attended)
    head, token = np.unravel_index(lengths.argmax(), lengths.shape)
    told = f"Head {head + 1} adds most, {lengths.max():.2f} to '{run.tokens[token]}'."
    rows = [f"head {number + 1}" for number in range(len(lengths))]
    picture = Matrix("Length of what each head adds", "signed", lengths, told, limit=float(lengths.max()))
    matrices(rows, run.tokens, [picture], key=widget_key(page, "lengths"), across=1, naming=Naming(joint="adds to"), tallest=230)
    st.text(told)
    one, two = st.columns(2)
    with one:
        tell_difference("All heads added up, against the attention's own output", whole)
    of_chosen = likeness(run.of_heads(chosen, projection.bias), run.attended)
    two.metric(
        "The chosen heads' output, against that of all",
        f"{of_chosen:.2f}",
        "mean cosine; 1 is the same direction",
        delta_color="off",
        delta_arrow="off",
    )


def feed_forward(page: str, engine: "BertEngine", text: str, pair: str) -> None:
    """Widen, bend, narrow, and the same as a convolution."""
    with st.container(horizontal=True, gap="medium"):
        layer = ask_layer(page, engine.num_layers)
        st.segmented_control(
            "Bend",
            list(BENDS),
            format_func=BENDS.get,
            required=True,
            **widget_binding(widget_key(page, "bend")),
            help="This model was trained with GELU. Try what ReLU makes of the same weights.",
        )
    bend = st.session_state[widget_key(page, "bend")]

    def fed(layer: int, bend: str) -> FeedForwardRun:
        entered = _block(page, engine, text, pair, layer).attention_normed
        return cache.remember((page, "fed", text, pair, layer, bend), lambda: feed_forward_run(engine, entered, layer, bend))

    def matrices_of(values: Mapping[str, object]) -> list[matrix_view.Matrix]:
        asked, way = values["layer"] - 1, values["bend"]
        weights = engine.model.encoder.blocks[asked].feed_forward
        widen, narrow = matrix_and_bias(weights.widen), matrix_and_bias(weights.narrow)
        block = _block(page, engine, text, pair, asked)
        return block_matrices.feed_forward_matrices(block, fed(asked, way), widen, narrow, BENDS[way])

    show_matrices(page, "feed", matrices_of, {"layer": range(1, engine.num_layers + 1), "bend": list(BENDS)})
    block, run = _block(page, engine, text, pair, layer), fed(layer, bend)
    fate = "become exactly 0" if bend == "relu" else "nearly vanish"
    st.text(f"{run.below_zero:.0%} of the widened numbers are below zero and {fate}.")
    _as_convolution(page, block.tokens, run)


def _as_convolution(page: str, tokens: tuple[str, ...], run: FeedForwardRun) -> None:
    st.markdown(
        "**The same result in two ways.** The convolution slides a window of one token over the sentence; its kernels are the "
        "very weights of the two linear layers."
    )
    ours, theirs = run.both.ours[:, :CONVOLVED].numpy(), run.both.theirs[:, :CONVOLVED].numpy()
    limit = float(abs(ours).max())
    note = f"first {CONVOLVED} of {run.both.ours.shape[1]} dimensions"
    ways = (
        ("Two 1×1 convolutions", theirs, "The result of two convolutions of width 1.", note),
        ("Difference", ours - theirs, "No difference but rounding.", "in the same colours"),
        ("Two linear layers", ours, "The result of two linear layers: the same.", note),
    )
    shown = [Matrix(title, "signed", cells, told, limit, root=True, note=below) for title, cells, told, below in ways]
    naming = Naming(joint="dimension", numbered=True)
    matrices(tokens, block_matrices.dimensions(CONVOLVED), shown, key=widget_key(page, "convolution"), naming=naming, tallest=300)
    one, two = st.columns(2)
    with one:
        tell_difference("Linear layers against convolutions, all dimensions", run.both)
    two.metric(
        "Each token fed alone, against all at once",
        small_number(run.alone),
        "no token knows of the others",
        delta_color="off",
        delta_arrow="off",
    )


def norm(page: str, engine: "BertEngine", text: str, pair: str) -> None:
    """Layer norm by hand."""
    place = st.session_state[widget_key(page, "norm")]
    with st.container(horizontal=True, gap="medium"):
        st.segmented_control(
            "Norm", list(NORMS), format_func=NORMS.get, required=True, **widget_binding(widget_key(page, "norm"))
        )
        layer = 0 if place == "embeddings" else ask_layer(page, engine.num_layers)

    def normed(place: str, layer: int) -> NormRun:
        return cache.remember(
            (page, "norm", text, pair, place, layer), lambda: norm_run(engine, text, pair or None, place=place, layer=layer)
        )

    def matrices_of(values: Mapping[str, object]) -> list[matrix_view.Matrix]:
        asked = values["norm"]
        return block_matrices.norm_matrices(normed(asked, 0 if asked == "embeddings" else values["layer"] - 1))

    show_matrices(page, "norm", matrices_of, {"norm": list(NORMS), "layer": range(1, engine.num_layers + 1)})
    run = normed(place, layer)
    chosen = st.session_state[widget_key(page, "cell")]
    row = chosen.row if chosen and chosen.row < len(run.tokens) else 0
    column = chosen.column if chosen and chosen.matrix in {"before", "normed", "ours", "theirs"} else 0
    st.text(f"Written out for token {row + 1}, '{run.tokens[row]}', dimension {column + 1}:")
    st.text(_written_out(run, row, column))
    tell_difference("By hand against PyTorch, all tokens and dimensions", run.steps.result)


def _written_out(run: NormRun, row: int, column: int) -> str:
    steps = run.steps
    x, mean, variance = (float(number) for number in (steps.before[row, column], steps.mean[row], steps.variance[row]))
    gamma, beta, result = (float(number) for number in (run.weight[column], run.bias[column], steps.result.ours[row, column]))
    before, shift = f"{x:.3f} {_signed(-mean, 4)}", _signed(beta, 3)
    return f"{gamma:.3f} × ({before}) ÷ √({variance:.3f} + 10⁻¹²) {shift} = {result:.3f}".replace("-", "−")


def _signed(number: float, decimals: int) -> str:
    return f"{'-' if number < 0 else '+'} {abs(number):.{decimals}f}"
