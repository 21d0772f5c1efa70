"""What many blocks do to vectors: residual connections, pre- and post-norm, and a word on its way through the layers."""

import streamlit as st

from pages.heads_and_blocks import texts
from pages.heads_and_blocks.inputs import BlockInputs
from pages.heads_and_blocks.part import Part
from pages.ui.shell import cache
from pages.ui.shell.numbers import whole_percent
from pages.ui.stage.charts import Drawing, depths, lines_chart, lines_drawing, listing_chart
from pages.ui.stage.pictures import Picture
from tx_core.engine.bert_engine import BertEngine
from tx_core.lessons.residual_stream import (
    StackRun,
    layer_words,
    run_random_blocks,
    run_without_skips,
    skip_effect,
    token_path,
    token_paths,
)
from tx_core.transformer import layers
from tx_core.transformer.trace import Trace

BLOCKS = 24
COSINES = (-0.15, 1.05)
"""The ends of an axis of cosines."""
ALIKE_AFTER = 4
"""Blocks after which the page names the similarity of tokens without residual connections."""


def depth_part(inputs: BlockInputs, engine: BertEngine) -> Part:
    """Compute what happens to vectors in many blocks, pre-norm and post-norm, with and without residual connections."""
    post, pre = (_run_blocks(inputs, norm_first) for norm_first in (False, True))
    runs = {texts.POST_NORM: post, texts.PRE_NORM: pre}
    charts = (
        ("length", texts.MEAN_LENGTH, None, False),
        ("cosine", texts.SIMILARITY, COSINES, False),
        ("gradient", texts.GRADIENT, None, True),
    )
    drawn = [
        lines_chart(
            title, depths(BLOCKS), {label: getattr(run, name) for label, run in runs.items()}, limits=limits, logarithmic=log
        )
        for name, title, limits, log in charts
    ]
    own = cache.get_or_compute(
        ("block", "cut", cache.engine_key(engine), inputs.text, inputs.pair),
        lambda: skip_effect(engine, inputs.text, inputs.pair or None),
    )
    series = {texts.AS_TRAINED: own.with_skips, texts.RESIDUALS_CUT: own.without_skips}
    trained = lines_chart(texts.TRAINED_SIMILARITY, depths(engine.info.num_layers), series, limits=COSINES)
    notes = _notes_on_depth(post, pre) if inputs.residuals else ("", _note_without_residuals(post, pre), "")
    title = texts.TRAINED.format(model=engine.title)
    kept = texts.TRAINED_NOTE.format(kept=own.with_skips[-1], cut=own.without_skips[-1])
    pictures = [
        *(Picture(lines_drawing(chart), note, cell=texts.AT_DEPTH) for chart, note in zip(drawn, notes, strict=True)),
        Picture(lines_drawing(trained), f"{title} {kept}", row=1, cell=texts.AT_DEPTH),
    ]

    def below() -> None:
        st.caption(texts.RESIDUAL_BUG)

    said = f"{texts.DEPTH_TEXT.format(blocks=BLOCKS)}\n\n{texts.WARM_UP}"
    return Part(pictures, said, texts.DEPTH_FORMULAS, (layers.EncoderBlock, run_without_skips), below)


def _run_blocks(inputs: BlockInputs, norm_first: bool) -> StackRun:
    settings = {"norm_first": norm_first, "skips": inputs.residuals, "blocks": BLOCKS, "seed": inputs.seed}
    return cache.get_or_compute(("block", "depth", *settings.values()), lambda: run_random_blocks(**settings))


def _notes_on_depth(post: StackRun, pre: StackRun) -> tuple[str, str, str]:
    """Return what is to be seen in each of the three charts of untrained blocks."""
    numbers = {
        "pre_start": pre.length[0],
        "pre_end": pre.length[-1],
        "post_end": post.length[-1],
        "post_similarity": post.cosine[-1],
        "pre_similarity": pre.cosine[-1],
        "post_gradient": min(post.gradient),
        "pre_gradient": min(pre.gradient),
    }
    return tuple(text.format(**numbers) for text in texts.WITH_RESIDUALS)


def _note_without_residuals(post: StackRun, pre: StackRun) -> str:
    similarities = {"post": f"{post.cosine[ALIKE_AFTER]:.2f}", "pre": f"{pre.cosine[ALIKE_AFTER]:.2f}"}
    return texts.WITHOUT_RESIDUALS.format(blocks=ALIKE_AFTER, **similarities)


def journey_part(inputs: BlockInputs, engine: BertEngine) -> Part:
    """Follow every token through the layers: how far its vector turns, and what the model predicts from it.

    All of them are sent: the browser shows those that the reader follows.
    """
    trace = cache.trace_with(engine, *inputs.sentences, keep=("hidden",))
    tokens = trace.attention.query_tokens.tokens
    names = [texts.TOKEN_NAME.format(token=token, position=number) for number, token in enumerate(tokens, 1)]
    paths = token_paths(trace, range(len(tokens)))
    charts = (
        ("cosine_to_embedding", texts.COSINE_TO_START, COSINES),
        ("cosine_to_previous", texts.COSINE_TO_LAST, COSINES),
        ("length", texts.LENGTH, None),
    )
    shown = [
        lines_chart(
            title,
            depths(engine.info.num_layers),
            dict(zip(names, (getattr(path, name) for path in paths), strict=True)),
            limits=limits,
        )
        for name, title, limits in charts
    ]
    pictures = [Picture(lines_drawing(chart), cell=texts.AT_DEPTH, picks="words") for chart in shown]
    if engine.info.has_head:
        pictures.append(Picture(_readings(inputs, engine, trace, names), texts.READINGS_NOTE, row=1, picks="words"))

    def below() -> None:
        st.markdown(texts.READINGS_TEXT if engine.info.has_head else texts.NO_READINGS)

    return Part(pictures, texts.WORD_PATH_TEXT, texts.WORD_PATH_FORMULAS, (layers.Encoder, token_path), below)


def _readings(inputs: BlockInputs, engine: BertEngine, trace: Trace, names: list[str]) -> Drawing:
    """Return what the masked-word head predicts at each depth, a column for each token."""
    key = ("block", "readings", cache.engine_key(engine), inputs.text, inputs.pair)
    run = cache.get_or_compute(key, lambda: layer_words(engine, trace))
    rows = [texts.AFTER_EMBEDDINGS, *(texts.AFTER_BLOCK.format(block=number + 1) for number in range(engine.info.num_layers))]
    words = [
        [row, *(f"{word} {whole_percent(share)}" for word, share in zip(found, shares, strict=True))]
        for row, found, shares in zip(rows, run.words, run.shares, strict=True)
    ]
    return Drawing(listing_chart(texts.READINGS, ["", *names], words), tuple(rows), tuple(names), run.shares)
