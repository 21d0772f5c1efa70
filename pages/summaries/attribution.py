"""What a prediction is owed to: attention from the blank beside gradients of the answer, token by token."""

from typing import TYPE_CHECKING

import numpy as np
import streamlit as st
from jaxtyping import Float

from pages.summaries import export
from pages.ui.canvas.figures import QUIET
from pages.ui.canvas.plotly_figures import signed_bars
from pages.ui.export.menu import export_menu
from pages.ui.panels import answers
from pages.ui.panels.attention_table import numbered
from pages.ui.panels.choices import NO_EXPLANATION, ask_blank, tell
from pages.ui.panels.prediction_settings import Settings
from pages.ui.shell import cache
from pages.ui.shell.address import widget_key
from pages.ui.shell.numbers import percent
from pages.ui.shell.source_code import show_source
from tx_core.analysis import attribution
from tx_core.errors import TextProblem

if TYPE_CHECKING:
    from tx_core.analysis.attribution import Attribution
    from tx_core.engine.engine import Engine
    from tx_core.fill_mask.predictions import Prediction

FAVOURITES = 5


def owed(page: str, engine: "Engine", text: str, pair: str) -> None:
    """Three charts of bars, a bar a token, and how far they agree."""
    st.markdown(
        "Where did the blank look, and **what was the answer owed to?** Gradients ask the model: by how much would the answer's "
        "log-probability move if a word's vector did? Integrated gradients gather that on the way from the text with every "
        "word blanked to the text as it is."
    )
    st.latex(r"(v - v') \cdot \int_0^1 \nabla_{\!v} \log p\,\bigl(v' + t\,(v - v')\bigr)\,dt")
    show_source(attribution.attribute, attribution.integrated_gradients)
    if pair:
        raise TextProblem("Predictions are asked about in a single sentence here: leave the second sentence empty.")
    filling = answers.favourites(engine.name, text, Settings(FAVOURITES, 1.0, 1.0, 1.0))
    place = ask_blank(page, filling.encoding)
    blank = next(blank for blank in filling.blanks if blank.place == place)
    word = _ask_word(page, blank.predictions)
    with st.spinner("Following the gradients …", show_time=True):
        found = cache.remember(
            (page, "owed", engine.name, engine.device, text, place, word.id),
            lambda: attribution.attribute(engine, filling.encoding, place, word.id),
        )
    trace = cache.trace(engine.name, text)
    weights = trace.attention.weights[:, :, place].mean(axis=(0, 1))
    charts, told = _draw(page, found, weights), _in_words(found, weights)
    st.text(told)
    tell(
        "The bars of integrated gradients sum to what knowing the words changed, and say how much of that each word gets; "
        "another starting point than blanks would share it out otherwise, and words that matter only together split what they "
        "do. Gradient × input looks at the very spot and can miss a word that has already convinced the model (Sundararajan et "
        f"al. 2017). Weights here are the mean of all heads and layers. {NO_EXPLANATION}"
    )
    export_menu(page, {"Attention and gradients": lambda: export.owed_export(trace, found, word.id, charts, told)})


def _ask_word(page: str, predictions: "tuple[Prediction, ...]") -> "Prediction":
    name, named = widget_key(page, "rank"), widget_key(page, "rank_named")
    st.session_state[name] = min(st.session_state[name], len(predictions))
    st.session_state[named] = st.session_state[name]

    def take() -> None:
        st.session_state[name] = st.session_state[named]

    labels = [f"{answers.spelled(one)} ({percent(one.probability)})" for one in predictions]
    st.selectbox(
        "Answer to ask about",
        range(1, len(predictions) + 1),
        key=named,
        on_change=take,
        format_func=lambda rank: labels[rank - 1],
    )
    return predictions[st.session_state[name] - 1]


def _draw(page: str, found: "Attribution", weights: Float[np.ndarray, "token"]) -> dict[str, Float[np.ndarray, "token"]]:
    labels, dark = numbered(found.encoding.tokens), st.context.theme.type == "dark"
    charts = {
        "Attention from the blank": weights,
        "Gradient × input": found.gradient_input,
        "Integrated gradients": found.integrated,
    }
    for number, (column, (title, values)) in enumerate(zip(st.columns(3), charts.items(), strict=True)):
        figure = signed_bars(labels, values.tolist(), limit=float(np.abs(values).max()), dark=dark)
        with column:
            st.markdown(f"**{title}**")
            st.plotly_chart(figure, key=f"{page}_owed_{number}", config=QUIET, alt=_bars_in_words(title, labels, values))
    return charts


def _bars_in_words(title: str, labels: list[str], values: Float[np.ndarray, "token"]) -> str:
    order = np.argsort(-np.abs(values), kind="stable")[:5]
    return f"{title}, greatest: " + ", ".join(f"{labels[place]} {values[place]:.2f}" for place in order) + "."


def _in_words(found: "Attribution", weights: Float[np.ndarray, "token"]) -> str:
    own = [place for place, mark in enumerate(found.encoding.special) if not mark and place != found.place]
    with_path = attribution.rank_agreement(weights[own], np.abs(found.integrated[own]))
    with_slope = attribution.rank_agreement(weights[own], np.abs(found.gradient_input[own]))
    changed = f"from {_signed(found.baseline)} to {_signed(found.score)}, by {_signed(found.score - found.baseline)}"
    return (
        f"Knowing the words changes the log-probability of {found.word} {changed}. Integrated gradients sum to "
        f"{_signed(found.integrated.sum())}. Over your other words, the order by attention agrees with the order by integrated "
        f"gradients to {_signed(with_path)}, and with that by gradient × input to {_signed(with_slope)} "
        "(Kendall's tau: 1 is the same order, 0 no relation)."
    )


def _signed(number: float) -> str:
    return f"{number:.2f}".replace("-", "−")
