"""The parts of a block, each computed and made into pictures; residual connections and a word's path are in `depth`."""

from collections.abc import Callable, Sequence

import streamlit as st

from pages.heads_and_blocks import texts
from pages.heads_and_blocks.depth import depth_part, journey_part
from pages.heads_and_blocks.inputs import BlockInputs
from pages.heads_and_blocks.matrices import (
    EMBEDDING_STEPS,
    NORM_STEPS,
    count,
    embedding_matrices,
    feed_forward_matrices,
    feed_forward_steps,
    head_matrices,
    head_steps,
    norm_matrices,
)
from pages.heads_and_blocks.part import Part
from pages.ui.shell import cache
from pages.ui.shell.numbers import small_number, whole_percent
from pages.ui.stage.charts import matrix_drawing
from pages.ui.stage.pictures import MatrixSteps, Picture
from tx_core.engine.bert_engine import BertEngine
from tx_core.lessons.bert_parts import (
    Affine,
    BlockRun,
    ComparedResults,
    EmbeddingRun,
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


def embeddings_part(inputs: BlockInputs, engine: BertEngine) -> Part:
    """Compute the three look-ups, their sum, and its norm."""
    run = cache.get_or_compute(
        _key(inputs, engine, "embeddings"), lambda: embedding_run(engine, inputs.text, inputs.pair or None)
    )
    named = (texts.TOKEN_ID.format(token=token, id=number) for token, number in zip(run.tokens, run.ids.tolist(), strict=True))
    shown = MatrixSteps(embedding_matrices(run, on_cpu(engine.model.embeddings.norm)), EMBEDDING_STEPS, texts.TOKENS)
    said = [texts.IDS.format(ids=" · ".join(named)), _word_twice(run)]

    def below() -> None:
        st.caption(texts.DROPOUT)

    return Part(
        [Picture(shown, " ".join(said))], texts.EMBEDDINGS_TEXT, [texts.EMBEDDINGS_FORMULA], (bert.BertEmbeddings,), below
    )


def _word_twice(run: EmbeddingRun) -> str:
    twice = repeated_word(run)
    if twice is None:
        return texts.NO_WORD_TWICE
    first, second, difference = twice
    return texts.WORD_TWICE.format(token=run.tokens[first], first=first + 1, second=second + 1, difference=difference)


def heads_part(inputs: BlockInputs, engine: BertEngine) -> Part:
    """Compute what each head adds, then the results of the chosen heads, their concatenation and projection."""
    run, sizes = _block(inputs, engine), _head_sizes(engine)
    projection = matrix_and_bias(engine.model.encoder.blocks[inputs.block].attention.output)
    shown = MatrixSteps(head_matrices(run, inputs.heads, projection), head_steps(inputs.heads), texts.TOKENS)
    said = _most_added(run) if inputs.heads else texts.NO_HEAD
    formulas = [formula.format(**sizes) for formula in (texts.HEAD_FORMULA, texts.HEADS_FORMULA)]

    def below() -> None:
        st.caption(texts.SHAPES.format(tokens=len(run.tokens), **sizes))
        _compare_outputs(run, inputs.heads, projection)

    sources = (layers.MultiHeadAttention, attention.split_heads, attention.merge_heads)
    return Part([Picture(shown, said)], f"{texts.HEADS_ADD_TEXT} {texts.HEADS_TEXT.format(**sizes)}", formulas, sources, below)


def _head_sizes(engine: BertEngine) -> dict[str, int]:
    size = engine.model.config.hidden_size
    return {"size": size, "heads": engine.info.num_heads, "width": size // engine.info.num_heads}


def _most_added(run: BlockRun) -> str:
    lengths = run.head_lengths
    head, token = divmod(int(lengths.argmax()), lengths.shape[1])
    means = lengths.mean(dim=1)
    ends = {"most": int(means.argmax()) + 1, "most_mean": float(means.max())}
    ends |= {"least": int(means.argmin()) + 1, "least_mean": float(means.min())}
    return texts.HEAD_ADDS_MOST.format(head=head + 1, length=float(lengths.max()), token=run.tokens[token], **ends)


def _compare_outputs(run: BlockRun, chosen: tuple[int, ...], projection: Affine) -> None:
    one, two = st.columns(2)
    with one:
        all_heads = run.output_of(tuple(range(len(run.by_head))), projection.bias)
        _show_difference(texts.HEADS_SUM, ComparedResults(all_heads, run.attention_output))
    cosine = mean_token_cosine(run.output_of(chosen, projection.bias), run.attention_output)
    two.metric(texts.HEADS_CHOSEN, f"{cosine:.2f}", texts.HEADS_CHOSEN_NOTE, **QUIET_DELTA)


def feed_part(inputs: BlockInputs, engine: BertEngine) -> Part:
    """Compute a feed-forward layer, and the same as a convolution."""
    block, bend, config = _block(inputs, engine), inputs.bend, engine.model.config
    key = (*_key(inputs, engine, "fed"), inputs.block, bend)
    run = cache.get_or_compute(key, lambda: feed_forward_run(engine, block.attention_normed, inputs.block, bend))
    weights, name = engine.model.encoder.blocks[inputs.block].feed_forward, texts.ACTIVATIONS[bend]
    up, down = matrix_and_bias(weights.up), matrix_and_bias(weights.down)
    shown = MatrixSteps(feed_forward_matrices(block, run, up, down, name), feed_forward_steps(name), texts.TOKENS)
    shares = {"share": whole_percent(run.share_below_zero), "carried": whole_percent(run.share_passed_below_zero)}
    pictures = [Picture(shown, texts.BELOW_ZERO[bend].format(**shares)), *_convolution(block.tokens, run.convolution)]

    def below() -> None:
        one, two = st.columns(2)
        with one:
            _show_difference(texts.CONVOLUTION_DIFFERENCE, run.convolution)
        two.metric(texts.ALONE, small_number(run.difference_alone), texts.ALONE_NOTE, **QUIET_DELTA)

    said = texts.FEED_FORWARD_TEXT.format(size=config.hidden_size, inner=config.intermediate_size)
    sources = (layers.FeedForward, layers.gelu, feed_forward_as_convolution)
    return Part(pictures, f"{said}\n\n{texts.CONVOLUTION_TEXT}", texts.FEED_FORWARD_FORMULAS, sources, below)


def _convolution(tokens: Sequence[str], both: ComparedResults) -> list[Picture]:
    """Return the same result in two ways, side by side, with what differs between them."""
    ours, theirs = both.ours[:, :CONVOLVED].numpy(), both.theirs[:, :CONVOLVED].numpy()
    note = texts.FIRST_DIMENSIONS.format(shown=CONVOLVED, size=both.ours.shape[1])
    limit = float(abs(ours).max())
    ways = (
        (texts.LINEAR_LAYERS, ours, note),
        (texts.CONVOLUTIONS, theirs, note),
        (texts.DIFFERENCE, ours - theirs, texts.DIFFERENCE_NOTE),
    )

    def picture(title: str, cells: object, note: str) -> Picture:
        drawing = matrix_drawing(
            title, "signed", cells, tokens, count(CONVOLVED), limit=limit, root=True, note=note, numbered=True
        )
        return Picture(drawing, row=1, cell=texts.DIMENSION)

    return [picture(*way) for way in ways]


def norm_part(inputs: BlockInputs, engine: BertEngine) -> Part:
    """Compute a layer norm step by step."""
    layer = 0 if inputs.norm == "embeddings" else inputs.block
    key = (*_key(inputs, engine, "norm"), inputs.norm, layer)
    run = cache.get_or_compute(key, lambda: norm_run(engine, inputs.text, inputs.pair or None, place=inputs.norm, layer=layer))
    shown = MatrixSteps(norm_matrices(run), NORM_STEPS, texts.TOKENS)

    def below() -> None:
        _show_difference(texts.NORM_DIFFERENCE, run.tensors.result)

    return Part([Picture(shown)], texts.NORM_TEXT, texts.NORM_FORMULAS, (layers.layer_norm, norm_tensors), below)


def _key(inputs: BlockInputs, engine: BertEngine, what: str) -> tuple:
    return ("block", what, cache.engine_key(engine), inputs.text, inputs.pair)


def _block(inputs: BlockInputs, engine: BertEngine) -> BlockRun:
    key = (*_key(inputs, engine, "run"), inputs.block)
    return cache.get_or_compute(key, lambda: block_run(engine, inputs.text, inputs.pair or None, layer=inputs.block))


def _show_difference(label: str, both: ComparedResults) -> None:
    """Show the largest difference of two results, and how large their numbers are."""
    difference = both.greatest_difference
    rounding = texts.DIFFERENCE_IS_ROUNDING.format(size=float(both.ours.abs().max()))
    st.metric(label, small_number(difference), rounding if difference else texts.NO_DIFFERENCE, **QUIET_DELTA)


PARTS: dict[str, Callable[[BlockInputs, BertEngine], Part]] = {
    "heads": heads_part,
    "embeddings": embeddings_part,
    "feed": feed_part,
    "norm": norm_part,
    "depth": depth_part,
    "journey": journey_part,
}
