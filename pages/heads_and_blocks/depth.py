"""What many blocks do to vectors: residual connections, pre- and post-norm, and a word on its way through the layers."""

from collections.abc import Mapping, Sequence

import pandas
import streamlit as st

from pages.heads_and_blocks import texts
from pages.ui.canvas.charts import depths, draw_lines
from pages.ui.panels.tokens import escape_markdown
from pages.ui.shell import cache
from pages.ui.shell.address import widget_binding, widget_key
from pages.ui.shell.frame import show_source
from pages.ui.shell.level import show_formula
from pages.ui.shell.numbers import whole_percent
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
MAX_DEPTH_SEEDS = 20
MAX_FOLLOWED_TOKENS = 8
COSINES = (-0.15, 1.05)
"""The ends of an axis of cosines."""
ALIKE_AFTER = 4
"""Blocks after which the page names the similarity of tokens without residual connections."""


def introduce_depth(engine: BertEngine) -> None:
    """Explain residual connections, pre-norm and post-norm."""
    st.markdown(texts.DEPTH_TEXT.format(blocks=BLOCKS))
    for formula in texts.DEPTH_FORMULAS:
        show_formula(formula)
    show_source(layers.EncoderBlock, run_without_skips)


def draw_depth(page: str, engine: BertEngine, text: str, pair: str) -> None:
    """Draw what happens to vectors in many blocks, pre-norm and post-norm, with and without residual connections."""
    with st.container(horizontal=True, gap="medium", vertical_alignment="bottom"):
        st.toggle(texts.CUT, **widget_binding(widget_key(page, "cut")))
        seeds = widget_binding(widget_key(page, "seed"))
        st.number_input(texts.SEED, 1, MAX_DEPTH_SEEDS, width=150, **seeds, help=texts.SEED_HELP)
    residuals, seed = not st.session_state[widget_key(page, "cut")], st.session_state[widget_key(page, "seed")]
    post, pre = (_run_blocks(page, norm_first, residuals, seed) for norm_first in (False, True))
    st.markdown((texts.UNTRAINED_WITH if residuals else texts.UNTRAINED_WITHOUT).format(blocks=BLOCKS))
    _draw_untrained(page, {texts.POST_NORM: post, texts.PRE_NORM: pre})
    st.text(_note_on_depth(post, pre) if residuals else _note_without_residuals(post, pre))
    _draw_trained(page, engine, text, pair)
    st.caption(texts.RESIDUAL_BUG)


def _run_blocks(page: str, norm_first: bool, residuals: bool, seed: int) -> StackRun:
    return cache.get_or_compute(
        (page, "depth", norm_first, residuals, seed),
        lambda: run_random_blocks(norm_first=norm_first, skips=residuals, blocks=BLOCKS, seed=seed),
    )


def _draw_untrained(page: str, runs: Mapping[str, StackRun]) -> None:
    charts = (
        ("length", texts.MEAN_LENGTH, None, False),
        ("cosine", texts.SIMILARITY, COSINES, False),
        ("gradient", texts.GRADIENT, None, True),
    )
    for column, (name, title, limits, logarithmic) in zip(st.columns(3), charts, strict=True):
        series = {label: getattr(run, name) for label, run in runs.items()}
        with column:
            draw_lines(f"{page}_{name}", title, depths(BLOCKS), series, limits, logarithmic=logarithmic)


def _note_on_depth(post: StackRun, pre: StackRun) -> str:
    return texts.WITH_RESIDUALS.format(
        pre_start=pre.length[0],
        pre_end=pre.length[-1],
        post_end=post.length[-1],
        post_similarity=post.cosine[-1],
        pre_similarity=pre.cosine[-1],
        post_gradient=min(post.gradient),
        pre_gradient=min(pre.gradient),
    )


def _note_without_residuals(post: StackRun, pre: StackRun) -> str:
    similarities = {"post": f"{post.cosine[ALIKE_AFTER]:.2f}", "pre": f"{pre.cosine[ALIKE_AFTER]:.2f}"}
    return texts.WITHOUT_RESIDUALS.format(blocks=ALIKE_AFTER, **similarities)


def _draw_trained(page: str, engine: BertEngine, text: str, pair: str) -> None:
    st.markdown(texts.TRAINED.format(model=engine.title))
    run = cache.get_or_compute(
        (page, cache.engine_key(engine), "cut", text, pair), lambda: skip_effect(engine, text, pair or None)
    )
    series = {texts.AS_TRAINED: run.with_skips, texts.RESIDUALS_CUT: run.without_skips}
    draw_lines(widget_key(page, "trained"), texts.TRAINED_SIMILARITY, depths(engine.info.num_layers), series, COSINES)
    st.text(texts.TRAINED_NOTE.format(kept=run.with_skips[-1], cut=run.without_skips[-1]))


def introduce_word_path(engine: BertEngine) -> None:
    """Explain that there is a vector for every token at every depth."""
    st.markdown(texts.WORD_PATH_TEXT)
    for formula in texts.WORD_PATH_FORMULAS:
        show_formula(formula)
    show_source(layers.Encoder, token_path)


def draw_word_path(page: str, engine: BertEngine, text: str, pair: str) -> None:
    """Follow the chosen tokens through the layers: how far their vectors turn, and what the model predicts from them."""
    trace = cache.trace_with(engine, text, pair, keep=("hidden",))
    positions = _ask_tokens(page, trace)
    if not positions:
        st.info(texts.FOLLOW_NONE)
        return
    tokens = trace.attention.query_tokens.tokens
    names = [texts.TOKEN_NAME.format(token=tokens[position], position=position + 1) for position in positions]
    paths = dict(zip(names, token_paths(trace, positions), strict=True))
    charts = (
        ("cosine_to_embedding", texts.COSINE_TO_START, COSINES),
        ("cosine_to_previous", texts.COSINE_TO_LAST, COSINES),
        ("length", texts.LENGTH, None),
    )
    for column, (name, title, limits) in zip(st.columns(3), charts, strict=True):
        with column:
            series = {label: getattr(path, name) for label, path in paths.items()}
            draw_lines(f"{page}_journey_{name}", title, depths(engine.info.num_layers), series, limits)
    _show_readings(page, engine, trace, positions, names)


def _ask_tokens(page: str, trace: Trace) -> list[int]:
    """Ask which tokens to follow; return their positions in the text, from 0."""
    tokens, key = trace.attention.query_tokens.tokens, widget_key(page, "words")
    numbers = range(1, len(tokens) + 1)
    before = st.session_state[key] = [number for number in st.session_state[key] if number in numbers][:MAX_FOLLOWED_TOKENS]

    def keep_few() -> None:
        """Drop the first of the earlier choices beyond the limit, so that the newest stays."""
        chosen = sorted(st.session_state[key])
        while len(chosen) > MAX_FOLLOWED_TOKENS:
            # `chosen` is sorted by position, so the order of choosing is known only from `before`.
            chosen.remove(next(number for number in chosen if number in before))
        st.session_state[key] = chosen

    st.pills(
        texts.FOLLOW.format(most=MAX_FOLLOWED_TOKENS),
        numbers,
        selection_mode="multi",
        format_func=lambda number: texts.TOKEN_NAME.format(token=escape_markdown(tokens[number - 1]), position=number),
        **widget_binding(key, keep_few),
    )
    return [number - 1 for number in st.session_state[key]]


def _show_readings(page: str, engine: BertEngine, trace: Trace, positions: Sequence[int], names: Sequence[str]) -> None:
    encoding = trace.attention.query_tokens
    if not engine.info.has_head:
        st.caption(texts.NO_READINGS)
        return
    run = cache.get_or_compute(
        (page, cache.engine_key(engine), "readings", encoding.text, encoding.pair), lambda: layer_words(engine, trace)
    )
    st.markdown(texts.READINGS_TEXT)
    rows = [texts.AFTER_EMBEDDINGS, *(texts.AFTER_BLOCK.format(block=number + 1) for number in range(engine.info.num_layers))]
    cells = {
        row: [f"{run.words[depth][position]} {whole_percent(run.shares[depth, position])}" for position in positions]
        for depth, row in enumerate(rows)
    }
    st.dataframe(pandas.DataFrame.from_dict(cells, orient="index", columns=list(names)), key=widget_key(page, "readings"))
