"""A page with nothing but the canvas component, as a page of the app uses it: 2 layers, 3 heads, hostile tokens on request."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[4]))

import numpy as np
import streamlit as st

from pages.ui.canvas import attention_view
from pages.ui.canvas.packing import thumbnails

LAYERS, HEADS = 2, 3
WORDS = ("[CLS]", "time", "flies", "like", "an", "arrow", "[SEP]")
HOSTILE = ("<img src=x onerror=alert(1)>", "</script><script>alert(2)</script>", "שלום", "👩‍👩‍👧", "\x00\u202e", "", "a" * 300)

parameters = st.query_params
tokens = HOSTILE if parameters.get("hostile") else WORDS * int(parameters.get("times", "1"))
scores = np.random.default_rng(3).normal(0, 2, (LAYERS, HEADS, len(tokens), len(tokens)))
example = (np.exp(scores) / np.exp(scores).sum(-1, keepdims=True)).astype(np.float32)
st.session_state["example"] = example


def keep_heads() -> None:
    parameters["heads"] = attention_view.heads_to_link(attention_view.chosen_heads("wall", LAYERS, HEADS))


def keep_token() -> None:
    parameters["token"] = attention_view.token_to_link(attention_view.focused_token("map", len(tokens)))


@st.fragment
def explore() -> None:
    chosen = attention_view.heads_from_link(parameters.get("heads", ""), LAYERS, HEADS) or [(0, 0)]
    focus = attention_view.token_from_link(parameters.get("token", ""), len(tokens))
    attention_view.head_wall(thumbnails(example), chosen, scale="blues", key="wall", on_choose=keep_heads)
    weights = np.mean([example[layer, head] for layer, head in chosen], axis=0, dtype=np.float32)
    attention_view.attention_map(
        tokens,
        tokens,
        weights,
        alt="'flies' gives most of its attention to 'time'.",
        scale="blues",
        strongest=20,
        show="both",
        focus=focus,
        key="map",
        on_focus=keep_token,
    )


st.title("The canvas alone")
explore()
