"""What a prediction depends on: attention from the blank beside gradients of the answer, token by token."""

from collections.abc import Callable, Sequence

import numpy as np
import streamlit as st
from jaxtyping import Float

from pages.summaries import texts
from pages.summaries.export import Subject, Table, computed, engine_of, show_numbers, summary_export, table_of, trace_call
from pages.ui.canvas.plotly_figures import show_plotly, signed_bars
from pages.ui.export.computation import Computation, call, evaluate, named
from pages.ui.export.figure import charts_figure, signed_chart
from pages.ui.export.records import Code, Export
from pages.ui.panels.predictions import ListSettings, top_predictions, word_label
from pages.ui.panels.texts import EXPLANATION_DEBATE
from pages.ui.panels.tokens import ask_blank, numbered_tokens
from pages.ui.panels.view_options import show_note
from pages.ui.shell import cache
from pages.ui.shell.address import widget_key
from pages.ui.shell.controls import choice_box
from pages.ui.shell.frame import show_source
from pages.ui.shell.level import show_formula
from pages.ui.shell.numbers import percent
from tx_core.analysis import attribution
from tx_core.analysis.attribution import Attribution
from tx_core.engine.engine import Engine
from tx_core.errors import TextProblem
from tx_core.fill_mask.predictions import Prediction
from tx_core.transformer.trace import Trace

TOP_K = 5
"""Answers that a reader may choose from."""
NUM_LARGEST = 5
EQUATION = r"(v - v') \cdot \int_0^1 \nabla_{\!v} \log p\,\bigl(v' + t\,(v - v')\bigr)\,dt"

Charts = dict[str, Float[np.ndarray, "token"]]


def show(page: str, engine: Engine, text: str, pair: str) -> Callable[[], Export]:
    """Draw three bar charts, one bar per token, and say how far they agree."""
    st.markdown(texts.ATTRIBUTION)
    show_formula(EQUATION)
    show_source(attribution.attribute, attribution.integrated_gradients)
    if pair:
        raise TextProblem(texts.SINGLE_SENTENCE)
    filling = top_predictions(engine, text, ListSettings(TOP_K, 1.0, 1.0, 1.0))
    place = ask_blank(page, filling.encoding)
    blank = next(blank for blank in filling.blanks if blank.place == place)
    word = _ask_answer(page, blank.predictions)
    trace = cache.trace_with(engine, text)
    attention, gradients = numbers(trace, place, word.id)
    with st.spinner(texts.COMPUTING_GRADIENTS, show_time=True):
        attributed = computed(page, engine, trace, gradients, place, word.id)
    weights = evaluate(attention, trace=trace)
    charts, description = _draw(page, attributed, weights), describe_agreement(attributed, weights)
    st.text(description)
    show_numbers(widget_key(page, "owed_numbers"), lambda: _table(attributed, charts))
    show_note(f"{texts.ATTRIBUTION_CAVEAT} {EXPLANATION_DEBATE}")
    return lambda: export(trace, attributed, word.id, charts, description)


def _ask_answer(page: str, predictions: Sequence[Prediction]) -> Prediction:
    rank, shown = widget_key(page, "rank"), widget_key(page, "rank_shown")
    st.session_state[rank] = min(st.session_state[rank], len(predictions))
    st.session_state[shown] = st.session_state[rank]

    def store_rank() -> None:
        st.session_state[rank] = st.session_state[shown]

    labels = [texts.ANSWER_OPTION.format(word=word_label(one), probability=percent(one.probability)) for one in predictions]
    choice_box(
        texts.ASK_ANSWER,
        range(1, len(predictions) + 1),
        key=shown,
        on_change=store_rank,
        format_func=lambda number: labels[number - 1],
    )
    return predictions[st.session_state[rank] - 1]


def _draw(page: str, attributed: Attribution, weights: Float[np.ndarray, "token"]) -> Charts:
    labels, dark = numbered_tokens(attributed.encoding.tokens), st.context.theme.type == "dark"
    charts = {
        texts.BLANK_ATTENTION: weights,
        texts.GRADIENT_INPUT: attributed.gradient_input,
        texts.INTEGRATED: attributed.integrated,
    }
    for number, (column, (title, values)) in enumerate(zip(st.columns(len(charts)), charts.items(), strict=True)):
        figure = signed_bars(labels, values.tolist(), limit=float(np.abs(values).max()), dark=dark)
        with column:
            st.markdown(f"**{title}**")
            show_plotly(figure, key=f"{page}_owed_{number}", alt=_alt(title, labels, values))
    return charts


def _alt(title: str, labels: Sequence[str], values: Float[np.ndarray, "token"]) -> str:
    order = np.argsort(-np.abs(values), kind="stable")[:NUM_LARGEST]
    bars = ", ".join(f"{labels[place]} {values[place]:.2f}" for place in order)
    return texts.ATTRIBUTION_ALT.format(title=title, bars=bars)


def describe_agreement(attributed: Attribution, weights: Float[np.ndarray, "token"]) -> str:
    """Return the words' effect on the prediction, and how far attention and gradients rank them alike, as a sentence."""
    special = attributed.encoding.special
    # Ranks compare the words of the text only: no special tokens, and not the blank itself.
    own = [place for place, mark in enumerate(special) if not mark and place != attributed.place]
    agreement = {
        name: _signed(attribution.rank_agreement(weights[own], np.abs(values[own])))
        for name, values in (("integrated", attributed.integrated), ("gradient_input", attributed.gradient_input))
    }
    return texts.ATTRIBUTIONS.format(
        word=attributed.word,
        baseline=_signed(attributed.baseline),
        score=_signed(attributed.score),
        change=_signed(attributed.score - attributed.baseline),
        total=_signed(attributed.integrated.sum()),
        **agreement,
    )


def _signed(number: float) -> str:
    return f"{number:.2f}".replace("-", "−")


def export(trace: Trace, attributed: Attribution, word: int, charts: Charts, description: str) -> Export:
    """Return the export of attention and gradients. word: the id of the answer in the vocabulary."""
    labels = numbered_tokens(attributed.encoding.tokens)
    subject = Subject(trace, texts.ATTRIBUTION_SUBJECT.format(word=attributed.word), description, "attribution")
    drawn = [signed_chart(title, labels, values.tolist(), limit=float(np.abs(values).max())) for title, values in charts.items()]
    written = Code(texts.ATTRIBUTION_RESULT, lambda: _rounded(*numbers(trace, attributed.place, word)))
    return summary_export(subject, charts_figure(drawn, description, across=len(drawn)), _table(attributed, charts), written)


def _table(attributed: Attribution, charts: Charts) -> Table:
    """List every token with its bars."""
    labels = numbered_tokens(attributed.encoding.tokens)
    return table_of(
        [
            {"token": label} | {title: float(values[number]) for title, values in charts.items()}
            for number, label in enumerate(labels)
        ]
    )


def numbers(trace: Trace, place: int, word: int) -> tuple[Computation, Computation]:
    """Return the computation of the attention from a blank, and that of the gradients of an answer."""
    engine, text = engine_of(trace), trace.attention.query_tokens.text
    attention = named("attention", trace_call(engine, trace).attention.weights[:, :, place].mean(axis=(0, 1)))
    return attention, named("attributed", call(attribution.attribute, engine, engine.encode(text), place, word))


def _rounded(attention: Computation, attributed: Computation) -> list[Computation]:
    gradients = [named(name, getattr(attributed, name)) for name in ("gradient_input", "integrated")]
    return [one.round(3) for one in (attention, *gradients)]
