"""One head of 128 tokens after another, drawn as ?kind= says: by our canvas, by plotly, or not at all."""

import gc
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[3]))

import numpy as np
import plotly.graph_objects as go
import streamlit as st

from pages.ui.canvas.attention_view import attention_map

HEADS, TOKENS = 12, 128
WORDS = [f"word{place}" for place in range(TOKENS)]


@st.cache_resource(max_entries=1)
def weights() -> np.ndarray:
    scores = np.random.default_rng(5).normal(0, 2, (HEADS, TOKENS, TOKENS))
    gc.collect()
    gc.freeze()  # as the app does once everything is loaded
    return (np.exp(scores) / np.exp(scores).sum(-1, keepdims=True)).astype(np.float32)


@st.fragment
def explore(kind: str) -> None:
    head = st.session_state.get("head", 0)
    if st.button("Next head"):
        head = st.session_state["head"] = (head + 1) % HEADS
    st.text(f"Head {head}")
    if kind == "canvas":
        attention_map(
            WORDS,
            WORDS,
            weights()[head],
            alt="A head.",
            scale="blues",
            strongest=60,
            show="heatmap",
            focus=None,
            key="map",
            on_focus=lambda: None,
        )
    if kind == "plotly":
        figure = go.Figure(go.Heatmap(z=weights()[head], x=WORDS, y=WORDS, zmin=0, zmax=1, colorscale="Blues"))
        st.plotly_chart(figure, key="map")


weights()
explore(st.query_params.get("kind", "canvas"))
