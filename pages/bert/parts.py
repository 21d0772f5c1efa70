"""BERT written out: beside the library's, beside an untrained one, and with heads for labels on top."""

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pandas
import streamlit as st

from pages.ui.canvas import prefetch
from pages.ui.canvas.attention_view import Wall, attention_map, chosen_heads, head_wall
from pages.ui.canvas.bars import probability_chart, show_bars
from pages.ui.canvas.mask_grid import Matrix, matrices
from pages.ui.canvas.packing import thumbnails
from pages.ui.shell import cache, readiness
from pages.ui.shell.address import widget_binding, widget_key
from pages.ui.shell.controls import head_name
from pages.ui.shell.numbers import small_number
from tx_core.engine import catalogue
from tx_core.fill_mask import blanks, predictions
from tx_core.lessons import parity, untrained

if TYPE_CHECKING:
    from tx_core.engine.bert_engine import BertEngine
    from tx_core.transformer.trace import Trace

MAX_HEAD_SEEDS = 20
NOT_RUN = (
    "Nothing is compared yet. Switch on “Run the library's BERT, too”: both then read the sentence above, and here you see how "
    "far apart their numbers are in every layer, and one head of both side by side."
)
KINDS = {"first": "The sentence, by [CLS]", "every": "Every token", "max": "The sentence, max-pooled"}
HEAD_NAMES = {"first": "first token", "every": "every token", "max": "max-pooled"}


def compare(page: str, engine: "BertEngine", text: str, pair: str) -> None:
    """Ours and the library's, layer by layer."""
    st.toggle(
        "Run the library's BERT, too",
        **widget_binding(widget_key(page, "run")),
        help="Importing the library takes some seconds the first time; every later sentence is fast.",
    )
    if not st.session_state[widget_key(page, "run")]:
        st.info(NOT_RUN)
        return
    found = _compared(page, engine, text, pair)
    depth = ["embeddings", *(f"block {number + 1}" for number in range(engine.num_layers))]
    one, two, three = st.columns(3)
    one.metric("Vectors, greatest difference", small_number(max(found.hidden)))
    two.metric("Attention weights, greatest difference", small_number(max(found.weights)))
    three.metric("Scores of all words, greatest difference", small_number(found.logits))
    weights = ["", *map(small_number, found.weights)]
    rows = {name: [small_number(hidden), other] for name, hidden, other in zip(depth, found.hidden, weights, strict=True)}
    st.dataframe(
        pandas.DataFrame.from_dict(rows, orient="index", columns=["vectors", "attention weights"]), key=widget_key(page, "layers")
    )
    _side_by_side(page, found)


def _compared(page: str, engine: "BertEngine", text: str, pair: str) -> parity.Parity:
    directory: Path = catalogue.MODELS / catalogue.DEFAULT

    def run() -> parity.Parity:
        with st.spinner("Running both; the first time, the library is imported …", show_time=True):
            found = parity.compare_with_library(engine, directory, text, pair or None)
        if not st.session_state.get(f"{page}_settled"):
            st.session_state[f"{page}_settled"] = True
            readiness.settle()
        return found

    return cache.remember((page, "parity", text, pair), run)


def _side_by_side(page: str, found: parity.Parity) -> None:
    layer, head = ask_head(page, *found.ours.shape[:2])
    ours, theirs = found.ours[layer, head], found.theirs[layer, head]
    tokens, apart = found.encoding.tokens, float(np.abs(ours - theirs).max())
    shown = [
        Matrix("The library's", "weights", theirs, "The attention of the library's BERT.", note="every row sums to 1"),
        Matrix("Difference", "signed", ours - theirs, f"At most {small_number(apart)}.", note=f"at most {small_number(apart)}"),
        Matrix("Ours", "weights", ours, "The attention of our BERT: the same.", note="every row sums to 1"),
    ]  # where there is room for one only, it is the last
    matrices(tokens, tokens, shown, key=widget_key(page, "parity"))


def ask_head(page: str, num_layers: int, num_heads: int) -> tuple[int, int]:
    """Let the reader choose a layer and a head; give them counted from 0."""
    with st.container(horizontal=True, gap="medium"):
        st.segmented_control("Layer", range(1, num_layers + 1), required=True, **widget_binding(widget_key(page, "layer")))
        st.segmented_control("Head", range(1, num_heads + 1), required=True, **widget_binding(widget_key(page, "head")))
    return st.session_state[widget_key(page, "layer")] - 1, st.session_state[widget_key(page, "head")] - 1


def random(page: str, engine: "BertEngine", text: str, pair: str) -> None:
    """An untrained one beside the trained one."""
    with st.container(horizontal=True, gap="medium", vertical_alignment="bottom"):
        st.number_input(
            "Drawn anew",
            1,
            MAX_HEAD_SEEDS,
            width=150,
            **widget_binding(widget_key(page, "seed")),
            help="Other random weights. The same number draws the same ones.",
        )
    other = untrained.untrained_engine(engine, st.session_state[widget_key(page, "seed")])
    runs = (("Trained", "trained", engine), ("Untrained", "untrained", other))
    for column, (title, name, runner) in zip(st.columns(2, gap="large"), runs, strict=True):
        with column:
            st.subheader(title)
            _attention_of(page, name, title, runner, text, pair)
            _words_of(page, name, title, runner, text, pair)


def _attention_of(page: str, name: str, title: str, runner: "BertEngine", text: str, pair: str) -> None:
    trace = cache.remember((page, "trace", runner.name, text, pair), lambda: runner.trace(text, pair or None))
    weights, tokens = trace.attention.weights, trace.attention.query_tokens.tokens
    wall = widget_key(page, f"wall_{name}")
    layer, head = (st.session_state[widget_key(page, part)] - 1 for part in ("layer", "head"))

    def take() -> None:
        if chosen := chosen_heads(wall, *weights.shape[:2]):
            st.session_state[widget_key(page, "layer")], st.session_state[widget_key(page, "head")] = (
                number + 1 for number in chosen[-1]
            )

    small = cache.remember((page, "small", runner.name, text, pair), lambda: thumbnails(weights))
    maps_path = prefetch.offer_head_maps((page, runner.name, text, pair), weights)
    head_wall(small, [(layer, head)], scale="blues", key=wall, on_choose=take, maps_path=maps_path)
    shown = weights[layer, head]
    even = f"spread evenly it would be {1 / len(tokens):.2f}"
    told = f"{title}, {head_name((layer, head)).lower()}: the greatest weight is {shown.max():.2f}; {even}."
    st.text(told)
    attention_map(
        tokens,
        tokens,
        shown,
        label=told,
        scale="blues",
        strongest=30,
        show="heatmap",
        focus=None,
        key=widget_key(page, f"map_{name}"),
        on_focus=lambda: None,
        wall=Wall(wall, ((layer, head),), maps_path),
    )


def _words_of(page: str, name: str, title: str, runner: "BertEngine", text: str, pair: str) -> None:
    if pair or not blanks.text_parts(text) or not runner.encode(text).blanks:
        st.caption("Write [MASK] into a single sentence to see the words that this model finds likely there.")
        return
    found = predictions.predict(runner, text, top_k=5).blanks[0].predictions
    labels, shares = [one.piece for one in found], [one.probability for one in found]
    st.markdown("**Most likely words at the first blank**")
    chart = probability_chart(f"{title}, first blank", labels, shares, limit=1.0)
    show_bars(chart, [one.sentence for one in found], key=widget_key(page, f"words_{name}"))


def labels(page: str, engine: "BertEngine", text: str, pair: str) -> None:
    """Heads for labels."""
    with st.container(horizontal=True, gap="medium", vertical_alignment="bottom"):
        st.segmented_control(
            "Label", list(KINDS), format_func=KINDS.get, required=True, **widget_binding(widget_key(page, "kind"))
        )
        st.segmented_control(
            "Number of labels",
            range(2, untrained.MAX_UNTRAINED_LABELS + 1),
            required=True,
            **widget_binding(widget_key(page, "labels")),
        )
        st.number_input("Drawn anew", 1, MAX_HEAD_SEEDS, width=150, **widget_binding(widget_key(page, "seed")))
    kind, count = HEAD_NAMES[st.session_state[widget_key(page, "kind")]], st.session_state[widget_key(page, "labels")]
    trace = cache.trace(engine.name, text, pair, keep=("hidden",))
    found = untrained.predict_labels(trace, kind, count, st.session_state[widget_key(page, "seed")])
    st.info("Nobody has trained this head: its weights are random, so its labels mean nothing. What counts is what it reads.")
    st.markdown(f"Vectors {(1, *trace.hidden.shape[1:])} → logits {tuple(found.logits.shape)} → softmax, which sums to 1:")
    _label_table(page, trace, found)
    if found.wins:
        _who_speaks(page, trace, found.wins)


def _label_table(page: str, trace: "Trace", found: untrained.LabelScores) -> None:
    tokens = trace.attention.query_tokens.tokens
    logits, shares = (part.reshape(-1, part.shape[-1]).numpy() for part in (found.logits, found.shares))
    names = (
        ["the sentence"] if len(logits) == 1 != len(tokens) else [f"{number + 1} {token}" for number, token in enumerate(tokens)]
    )
    columns = [f"{what} {number + 1}" for what in ("logit", "softmax") for number in range(logits.shape[1])]
    table = pandas.DataFrame(np.hstack([logits, shares]), index=names, columns=columns)
    st.dataframe(table.round(3), key=widget_key(page, "answers"))


def _who_speaks(page: str, trace: "Trace", wins: tuple[int, ...]) -> None:
    tokens, total = trace.attention.query_tokens.tokens, sum(wins)
    best = max(range(len(wins)), key=wins.__getitem__)
    st.text(f"Each of the {total} dimensions is spoken for by one token. '{tokens[best]}' speaks for most of them: {wins[best]}.")
    shares, told = [won / total for won in wins], [f"{won} dimensions" for won in wins]
    chart = probability_chart("Share of the dimensions that each token speaks for", tokens, shares, limit=max(shares))
    show_bars(chart, told, key=widget_key(page, "wins"))
