"""What many blocks do to vectors: pre- and post-norm, skip connections on and off, and a word on its way through."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import pandas
import streamlit as st

from pages.ui.canvas.lines import depths, draw_lines
from pages.ui.panels.word_pills import as_typed
from pages.ui.shell import cache
from pages.ui.shell.address import widget_binding, widget_key
from tx_core.lessons import residual_stream

if TYPE_CHECKING:
    from tx_core.engine.bert_engine import BertEngine
    from tx_core.transformer.trace import Trace

BLOCKS = 24
MAX_DEPTH_SEEDS = 20
MAX_FOLLOWED_TOKENS = 8


def depth(page: str, engine: "BertEngine", text: str, pair: str) -> None:
    """Pre-norm, post-norm, skip connections."""
    with st.container(horizontal=True, gap="medium", vertical_alignment="bottom"):
        st.toggle("Cut the skip connections", **widget_binding(widget_key(page, "cut")))
        st.number_input(
            "Drawn anew",
            1,
            MAX_DEPTH_SEEDS,
            width=150,
            **widget_binding(widget_key(page, "seed")),
            help="Untrained blocks with other random weights. The same number draws the same ones.",
        )
    skips, seed = not st.session_state[widget_key(page, "cut")], st.session_state[widget_key(page, "seed")]
    found = {"post-norm": _through(page, False, skips, seed), "pre-norm": _through(page, True, skips, seed)}
    st.markdown(f"**{BLOCKS} untrained blocks**, random vectors, {'with' if skips else 'without'} skip connections:")
    _three_charts(page, found)
    st.text(_depth_in_words(found, skips))
    _trained(page, engine, text, pair)
    st.caption(
        "A mistake that is easy to make in code: computing the attention and then adding x to x instead of adding it. "
        "The vectors keep their lengths, nothing fails, and no token ever learns of another. The block shown above adds it."
    )


def _through(page: str, norm_first: bool, skips: bool, seed: int) -> residual_stream.Depth:
    return cache.remember(
        (page, "depth", norm_first, skips, seed),
        lambda: residual_stream.through_depth(norm_first=norm_first, skips=skips, blocks=BLOCKS, seed=seed),
    )


def _three_charts(page: str, found: "Mapping[str, blocks.Depth]") -> None:
    charts = (
        ("length", "Mean length of the vectors", None, False),
        ("alike", "How alike the tokens are (mean cosine)", (-0.15, 1.05), False),
        ("gradient", "What learning sends back (1 at the end)", None, True),
    )
    for column, (name, title, limits, logarithmic) in zip(st.columns(3), charts, strict=True):
        series = {label: getattr(one, name) for label, one in found.items()}
        with column:
            draw_lines(f"{page}_{name}", title, depths(BLOCKS), series, limits, logarithmic=logarithmic)


def _depth_in_words(found: "Mapping[str, blocks.Depth]", skips: bool) -> str:
    post, pre = found["post-norm"], found["pre-norm"]
    if not skips:
        return (
            f"Without skip connections every token is soon the same vector (mean cosine {post.alike[4]:.2f} and "
            f"{pre.alike[4]:.2f} after four blocks): attention only ever averages, and the words are lost."
        )
    return (
        f"Pre-norm vectors grow from {pre.length[0]:.1f} to {pre.length[-1]:.1f}, since nothing shrinks what is added up. "
        f"Post-norm vectors stay at {post.length[-1]:.1f}, the square root of their size, but every norm also shrinks what "
        f"skips past it: the tokens end at a mean cosine of {post.alike[-1]:.2f} against {pre.alike[-1]:.2f}, and of what "
        f"learning sends back, as little as {min(post.gradient):.2f} arrives at some depth against {min(pre.gradient):.2f}."
    )


def _trained(page: str, engine: "BertEngine", text: str, pair: str) -> None:
    st.markdown(f"**Your sentence in {engine.title}**, as it was trained, and with all its skip connections cut:")
    found = cache.remember((page, "cut", text, pair), lambda: residual_stream.sentence_depth(engine, text, pair or None))
    series = {"as trained": found.kept, "skip connections cut": found.lost}
    title = "How alike the tokens are after each block (mean cosine)"
    draw_lines(widget_key(page, "trained"), title, depths(engine.num_layers), series, (-0.15, 1.05))
    st.text(
        f"As trained, the tokens end at a mean cosine of {found.kept[-1]:.2f}; without skip connections at {found.lost[-1]:.2f}, "
        "where 1 means that all tokens have become the same."
    )


def journey(page: str, engine: "BertEngine", text: str, pair: str) -> None:
    """A word's vector from block to block."""
    trace = cache.trace(engine.name, text, pair, keep=("hidden",))
    places = ask_words(page, trace)
    if not places:
        st.info("Choose a token to follow.")
        return
    names = [f"{trace.attention.query_tokens.tokens[place]} ({place + 1})" for place in places]
    found = dict(zip(names, residual_stream.journeys(trace, places), strict=True))
    charts = (
        ("stay", "Cosine with its embedding", (-0.15, 1.05)),
        ("step", "Cosine with the block before", (-0.15, 1.05)),
        ("length", "Length of the vector", None),
    )
    for column, (name, title, limits) in zip(st.columns(3), charts, strict=True):
        with column:
            series = {label: getattr(one, name) for label, one in found.items()}
            draw_lines(f"{page}_journey_{name}", title, depths(engine.num_layers), series, limits)
    _readings(page, engine, trace, places, names)


def ask_words(page: str, trace: "Trace") -> list[int]:
    """Let the reader choose tokens to follow; give their places counted from 0, those that the text has."""
    tokens, name = trace.attention.query_tokens.tokens, widget_key(page, "words")
    before = st.session_state[name] = [place for place in st.session_state[name] if 0 < place <= len(tokens)][
        :MAX_FOLLOWED_TOKENS
    ]

    def keep_few() -> None:
        """Beyond the most that can be told apart, the first of the others gives way to the one just chosen."""
        chosen = sorted(st.session_state[name])
        while len(chosen) > MAX_FOLLOWED_TOKENS:
            chosen.remove(next(place for place in chosen if place in before))
        st.session_state[name] = chosen

    st.pills(
        f"Tokens to follow, up to {MAX_FOLLOWED_TOKENS}",
        range(1, len(tokens) + 1),
        selection_mode="multi",
        format_func=lambda place: f"{as_typed(tokens[place - 1])} ({place})",
        **widget_binding(name, keep_few),
    )
    return [place - 1 for place in st.session_state[name]]


def _readings(page: str, engine: "BertEngine", trace: "Trace", places: Sequence[int], names: Sequence[str]) -> None:
    encoding = trace.attention.query_tokens
    found = cache.remember((page, "readings", encoding.text, encoding.pair), lambda: residual_stream.readings(engine, trace))
    st.markdown(
        "**What the masked-word head reads off** each vector at each depth, though it learned to read the last one only. See "
        "where it first reads your word, and how sure it is; a [MASK] hides its word, so that one has to be worked out."
    )
    rows = {
        name: [f"{found.words[depth][place]} {found.shares[depth, place]:.0%}" for place in places]
        for depth, name in enumerate(["embeddings", *(f"block {number + 1}" for number in range(engine.num_layers))])
    }
    st.dataframe(pandas.DataFrame.from_dict(rows, orient="index", columns=list(names)), key=widget_key(page, "readings"))
