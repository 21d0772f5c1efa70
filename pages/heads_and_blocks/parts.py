"""The parts of a block that compute (embeddings, heads, feed-forward, norm): what stands above each, and its drawing."""

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

import numpy as np
import streamlit as st

from pages.heads_and_blocks import texts
from pages.heads_and_blocks.matrices import count, embedding_matrices, feed_forward_matrices, head_matrices, norm_matrices
from pages.ui.canvas import matrix_view
from pages.ui.canvas.mask_grid import Heatmap, Naming, matrices
from pages.ui.canvas.matrix_view import Cell, chosen_cell, matrix_row, row_drawn
from pages.ui.canvas.prefetch import Prefetch, read_option
from pages.ui.shell import cache, controls
from pages.ui.shell.address import widget_binding, widget_key
from pages.ui.shell.controls import ask_option
from pages.ui.shell.frame import show_source
from pages.ui.shell.level import show_formula
from pages.ui.shell.numbers import small_number, whole_percent
from tx_core.engine.bert_engine import BertEngine
from tx_core.lessons.bert_parts import (
    Affine,
    BlockRun,
    ComparedResults,
    EmbeddingRun,
    FeedForwardRun,
    NormRun,
    block_run,
    embedding_run,
    feed_forward_as_convolution,
    feed_forward_run,
    matrix_and_bias,
    mean_token_cosine,
    norm_run,
    norm_tensors,
    on_cpu,
    repeated_word,
)
from tx_core.transformer import attention, bert, layers

CONVOLVED = 12
"""Dimensions shown of what the two convolutions give."""
QUIET_DELTA = {"delta_color": "off", "delta_arrow": "off"}


def introduce_embeddings(engine: BertEngine) -> None:
    """Explain the embeddings of token, position and segment."""
    st.markdown(texts.EMBEDDINGS_TEXT)
    show_formula(texts.EMBEDDINGS_FORMULA)
    show_source(bert.BertEmbeddings)


def draw_embeddings(page: str, engine: BertEngine, text: str, pair: str) -> None:
    """Draw the three look-ups, their sum, and its norm."""
    run = cache.get_or_compute(
        (page, cache.engine_key(engine), "embeddings", text, pair), lambda: embedding_run(engine, text, pair or None)
    )
    named = (texts.TOKEN_ID.format(token=token, id=number) for token, number in zip(run.tokens, run.ids.tolist(), strict=True))
    st.text(texts.IDS.format(ids=" · ".join(named)))
    _show_matrices(page, "embeddings", lambda _: embedding_matrices(run, on_cpu(engine.model.embeddings.norm)))
    st.text(_word_twice(run))
    st.caption(texts.DROPOUT)


def _word_twice(run: EmbeddingRun) -> str:
    twice = repeated_word(run)
    if twice is None:
        return texts.NO_WORD_TWICE
    first, second, difference = twice
    return texts.WORD_TWICE.format(token=run.tokens[first], first=first + 1, second=second + 1, difference=difference)


def introduce_heads(engine: BertEngine) -> None:
    """Explain one head, many heads, concatenation, projection."""
    sizes = _head_sizes(engine)
    st.markdown(texts.HEADS_TEXT.format(**sizes))
    show_formula(texts.HEAD_FORMULA.format(**sizes))
    show_formula(texts.HEADS_FORMULA.format(**sizes))
    show_source(layers.MultiHeadAttention, attention.split_heads, attention.merge_heads)


def draw_heads(page: str, engine: BertEngine, text: str, pair: str) -> None:
    """Draw what each head adds, then the results of the chosen heads, their concatenation and projection."""
    layer = _ask_layer(page, engine)
    run = _block(page, engine, text, pair, layer)
    _draw_head_lengths(page, run)
    st.markdown(texts.HEADS_JOIN_TEXT)
    numbers = _keep_heads(page, engine)
    st.pills(texts.HEADS_USED, numbers, selection_mode="multi", **widget_binding(widget_key(page, "heads")))
    chosen = tuple(head - 1 for head in sorted(st.session_state[widget_key(page, "heads")]) if head in numbers)

    def matrices_of(values: Mapping[str, object]) -> list[matrix_view.Matrix]:
        block = _block(page, engine, text, pair, values["layer"] - 1)
        return head_matrices(block, chosen, _output_projection(engine, values["layer"] - 1))

    if not chosen:
        st.info(texts.NO_HEAD)
    _show_matrices(page, "heads", matrices_of, {"layer": range(1, engine.info.num_layers + 1)})
    st.caption(texts.SHAPES.format(tokens=len(run.tokens), **_head_sizes(engine)))
    _compare_outputs(run, chosen, _output_projection(engine, layer))


def _keep_heads(page: str, engine: BertEngine) -> range:
    """Fit the chosen heads to the model, all where all were chosen and no link names them; return its heads, from 1."""
    key, known, count = widget_key(page, "heads"), f"{page}_head_count", engine.info.num_heads
    before, heads = st.session_state.get(known, controls.embedded_sizes()[1]), st.session_state[key]
    if before != count:
        # Heads in the link were chosen for this model, even where their number equals all heads of the one before.
        had_all = heads == list(range(1, before + 1)) and "heads" not in st.query_params
        st.session_state[key] = list(range(1, count + 1)) if had_all else [head for head in heads if head <= count]
        st.session_state[known] = count
    return range(1, count + 1)


def _head_sizes(engine: BertEngine) -> dict[str, int]:
    size = engine.model.config.hidden_size
    return {"size": size, "heads": engine.info.num_heads, "width": size // engine.info.num_heads}


def _output_projection(engine: BertEngine, layer: int) -> Affine:
    return matrix_and_bias(engine.model.encoder.blocks[layer].attention.output)


def _draw_head_lengths(page: str, run: BlockRun) -> None:
    st.markdown(texts.HEADS_ADD_TEXT)
    lengths = run.head_lengths.numpy()
    (head, token), means = np.unravel_index(lengths.argmax(), lengths.shape), lengths.mean(axis=1)
    ends = {"most": means.argmax() + 1, "most_mean": means.max(), "least": means.argmin() + 1, "least_mean": means.min()}
    most = texts.HEAD_ADDS_MOST.format(head=head + 1, length=lengths.max(), token=run.tokens[token], **ends)
    rows = [texts.HEAD_ROW.format(head=number + 1) for number in range(len(lengths))]
    picture = Heatmap(texts.HEADS_ADD, "signed", lengths, most, limit=float(lengths.max()))
    naming = Naming(texts.ADDS_TO)
    matrices(rows, run.tokens, [picture], key=widget_key(page, "lengths"), across=1, naming=naming, tallest=230)
    st.text(most)


def _compare_outputs(run: BlockRun, chosen: tuple[int, ...], projection: Affine) -> None:
    one, two = st.columns(2)
    with one:
        all_heads = run.output_of(tuple(range(len(run.by_head))), projection.bias)
        _show_difference(texts.HEADS_SUM, ComparedResults(all_heads, run.attention_output))
    cosine = mean_token_cosine(run.output_of(chosen, projection.bias), run.attention_output)
    two.metric(texts.HEADS_CHOSEN, f"{cosine:.2f}", texts.HEADS_CHOSEN_NOTE, **QUIET_DELTA)


def introduce_feed_forward(engine: BertEngine) -> None:
    """Explain up projection, activation function, down projection."""
    config = engine.model.config
    st.markdown(texts.FEED_FORWARD_TEXT.format(size=config.hidden_size, inner=config.intermediate_size))
    for formula in texts.FEED_FORWARD_FORMULAS:
        show_formula(formula)
    show_source(layers.FeedForward, layers.gelu, feed_forward_as_convolution)


def _ask_activation(page: str) -> str:
    """Ask which activation function the feed-forward layer is run with."""
    return ask_option(texts.ACTIVATION, texts.ACTIVATIONS, **widget_binding(widget_key(page, "bend")), help=texts.ACTIVATION_HELP)


def draw_feed_forward(page: str, engine: BertEngine, text: str, pair: str) -> None:
    """Draw a feed-forward layer, and the same as a convolution."""
    with st.container(horizontal=True, gap="medium"):
        layer, activation = _ask_layer(page, engine), _ask_activation(page)

    def run_of(layer: int, activation: str) -> FeedForwardRun:
        vectors = _block(page, engine, text, pair, layer).attention_normed
        key = (page, cache.engine_key(engine), "fed", text, pair, layer, activation)
        return cache.get_or_compute(key, lambda: feed_forward_run(engine, vectors, layer, activation))

    def matrices_of(values: Mapping[str, object]) -> list[matrix_view.Matrix]:
        layer, activation = values["layer"] - 1, values["bend"]
        weights = engine.model.encoder.blocks[layer].feed_forward
        up, down = matrix_and_bias(weights.up), matrix_and_bias(weights.down)
        block, run = _block(page, engine, text, pair, layer), run_of(layer, activation)
        return feed_forward_matrices(block, run, up, down, texts.ACTIVATIONS[activation])

    choices = {"layer": range(1, engine.info.num_layers + 1), "bend": list(texts.ACTIVATIONS)}
    _show_matrices(page, "feed", matrices_of, choices)
    block, run = _block(page, engine, text, pair, layer), run_of(layer, activation)
    shares = {"share": whole_percent(run.share_below_zero), "carried": whole_percent(run.share_passed_below_zero)}
    st.text(texts.BELOW_ZERO[activation].format(**shares))
    _draw_convolution(page, block.tokens, run)


def _draw_convolution(page: str, tokens: tuple[str, ...], run: FeedForwardRun) -> None:
    st.markdown(texts.CONVOLUTION_TEXT)
    ours, theirs = run.convolution.ours[:, :CONVOLVED].numpy(), run.convolution.theirs[:, :CONVOLVED].numpy()
    note = texts.FIRST_DIMENSIONS.format(shown=CONVOLVED, size=run.convolution.ours.shape[1])
    ways = (
        (texts.CONVOLUTIONS, theirs, texts.CONVOLUTIONS_ALT, note),
        (texts.DIFFERENCE, ours - theirs, texts.DIFFERENCE_ALT, texts.DIFFERENCE_NOTE),
        (texts.LINEAR_LAYERS, ours, texts.LINEAR_LAYERS_ALT, note),
    )
    limit = float(abs(ours).max())
    shown = [Heatmap(title, "signed", cells, alt, limit, root=True, note=note) for title, cells, alt, note in ways]
    naming = Naming(texts.DIMENSION, numbered=True)
    matrices(tokens, count(CONVOLVED), shown, key=widget_key(page, "convolution"), naming=naming, tallest=300)
    one, two = st.columns(2)
    with one:
        _show_difference(texts.CONVOLUTION_DIFFERENCE, run.convolution)
    two.metric(texts.ALONE, small_number(run.difference_alone), texts.ALONE_NOTE, **QUIET_DELTA)


def introduce_norm(engine: BertEngine) -> None:
    """Explain layer norm."""
    st.markdown(texts.NORM_TEXT)
    for formula in texts.NORM_FORMULAS:
        show_formula(formula)
    show_source(layers.layer_norm, norm_tensors)


def draw_norm(page: str, engine: BertEngine, text: str, pair: str) -> None:
    """Draw a layer norm step by step, and write one number of it out."""
    which = st.session_state[widget_key(page, "norm")]
    with st.container(horizontal=True, gap="medium"):
        ask_option(texts.WHICH_NORM, texts.NORMS, **widget_binding(widget_key(page, "norm")))
        layer = 0 if which == "embeddings" else _ask_layer(page, engine)

    def run_of(which: str, layer: int) -> NormRun:
        layer = 0 if which == "embeddings" else layer
        key = (page, cache.engine_key(engine), "norm", text, pair, which, layer)
        return cache.get_or_compute(key, lambda: norm_run(engine, text, pair or None, place=which, layer=layer))

    def matrices_of(values: Mapping[str, object]) -> list[matrix_view.Matrix]:
        return norm_matrices(run_of(values["norm"], values["layer"] - 1))

    _show_matrices(page, "norm", matrices_of, {"norm": list(texts.NORMS), "layer": range(1, engine.info.num_layers + 1)})
    run = run_of(which, layer)
    chosen = st.session_state[widget_key(page, "cell")]
    row = chosen.row if chosen and chosen.row < len(run.tokens) else 0
    column = chosen.column if chosen and chosen.matrix in {"before", "normed", "ours", "theirs"} else 0
    st.text(texts.WRITTEN_OUT.format(row=row + 1, token=run.tokens[row], column=column + 1))
    st.text(_arithmetic(run, row, column))
    _show_difference(texts.NORM_DIFFERENCE, run.tensors.result)


def _arithmetic(run: NormRun, row: int, column: int) -> str:
    tensors = run.tensors
    return texts.ARITHMETIC.format(
        gamma=f"{float(run.weight[column]):.3f}",
        value=f"{float(tensors.before[row, column]):.3f}",
        mean=_signed(-float(tensors.mean[row]), 4),
        variance=f"{float(tensors.variance[row]):.3f}",
        beta=_signed(float(run.bias[column]), 3),
        result=f"{float(tensors.result.ours[row, column]):.3f}",
    ).replace("-", "−")


def _signed(number: float, decimals: int) -> str:
    return f"{'-' if number < 0 else '+'} {abs(number):.{decimals}f}"


def _block(page: str, engine: BertEngine, text: str, pair: str, layer: int) -> BlockRun:
    return cache.get_or_compute(
        (page, cache.engine_key(engine), "block", text, pair, layer), lambda: block_run(engine, text, pair or None, layer=layer)
    )


def _ask_layer(page: str, engine: BertEngine) -> int:
    """Ask for a block; return it counted from 0."""
    numbers = range(1, engine.info.num_layers + 1)
    st.session_state[widget_key(page, "layer")] = min(st.session_state[widget_key(page, "layer")], numbers[-1])
    st.segmented_control(texts.BLOCK, numbers, required=True, **widget_binding(widget_key(page, "layer")))
    return st.session_state[widget_key(page, "layer")] - 1


def _show_matrices(
    page: str,
    part: str,
    matrices_of: Callable[[Mapping[str, object]], Sequence[matrix_view.Matrix]],
    choices: Mapping[str, Sequence[object]] = MappingProxyType({}),
) -> None:
    """Draw matrices and keep the cell that the reader chooses.

    matrices_of: makes them from the values of the fields that they follow. choices: the options of these fields' controls; as
    soon as one is used, the browser draws what it leads to.
    """
    name, values = widget_key(page, f"{part}_row"), {field: st.session_state[widget_key(page, field)] for field in choices}
    shown = matrices_of(values)

    def keep_cell() -> None:
        st.session_state[widget_key(page, "cell")] = chosen_cell(name, shown)

    chosen: Cell | None = st.session_state[widget_key(page, "cell")]
    controls = {field: read_option(field, options) for field, options in choices.items()}
    prefetch = Prefetch(page, values, controls, lambda changed: row_drawn(matrices_of(changed), chosen, names_title=texts.TOKENS))
    matrix_row(shown, chosen, names_title=texts.TOKENS, key=name, on_choose=keep_cell, prefetch=prefetch)


def _show_difference(label: str, both: ComparedResults) -> None:
    """Show the largest difference of two results, and how large their numbers are."""
    difference = both.greatest_difference
    rounding = texts.DIFFERENCE_IS_ROUNDING.format(size=float(both.ours.abs().max()))
    st.metric(label, small_number(difference), rounding if difference else texts.NO_DIFFERENCE, **QUIET_DELTA)
