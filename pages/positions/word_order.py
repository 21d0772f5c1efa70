"""Shuffled words: how much each word's vector changes, and what the model predicts for a blank."""

import math

import numpy as np
import streamlit as st

from pages.positions import texts
from pages.ui.canvas.charts import probability_chart, show_bars
from pages.ui.canvas.mask_grid import Heatmap, Naming, matrices
from pages.ui.shell.numbers import rounding_verdict, small_number
from tx_core.lessons.word_order import BlankGuess, ShuffleEffect, ShuffleTest


def draw_effects(run: ShuffleTest, shuffled: str, guesses: str) -> None:
    """Draw what shuffling changes: the words' vectors, and the prediction. shuffled, guesses: the keys of both."""
    draw_shuffle(run, shuffled)
    draw_guesses(run, guesses)


def draw_shuffle(run: ShuffleTest, key: str) -> None:
    """Write both orders and draw how much each word's vector changes between them."""
    ordered, shuffled = " ".join(run.encoding.tokens), " ".join(run.tokens_shuffled)
    st.code(texts.BOTH_ORDERS.format(ordered=ordered, shuffled=shuffled), language=None, wrap_lines=True)
    left, right = st.columns(2)
    with left:
        _show_change(texts.CHANGE_WITH, run, run.with_positions, texts.ORDER_MATTERS)
    with right:
        _show_change(texts.CHANGE_WITHOUT, run, run.without_positions, texts.MORE_THAN_ROUNDING)
    cells = np.array([run.with_positions.by_token, run.without_positions.by_token])
    most = {"with_positions": small_number(cells[0].max()), "without": small_number(cells[1].max())}
    shown = [Heatmap(texts.CHANGE_BY_TOKEN, "signed", cells, texts.CHANGE_ALT.format(**most), limit=float(cells.max()))]
    rows = (texts.WITH_POSITIONS, texts.WITHOUT_POSITIONS)
    matrices(rows, run.encoding.tokens, shown, key=key, naming=Naming(texts.CHANGE_CELL), tallest=64)


def _show_change(label: str, run: ShuffleTest, effect: ShuffleEffect, moved: str) -> None:
    same_order = run.tokens_shuffled == run.encoding.tokens
    meaning = texts.SAME_ORDER if same_order else rounding_verdict(effect.greatest_difference, moved)
    st.metric(label, small_number(effect.greatest_difference), meaning, delta_color="off", delta_arrow="off")


def draw_guesses(run: ShuffleTest, key: str) -> None:
    """Draw what the model predicts for the first blank in three runs; without positions both orders give one answer."""
    if run.ordered is None:
        st.caption(texts.NO_BLANK)
        return
    st.markdown(texts.PREDICTIONS)
    shown = (
        (texts.ORDERED_GUESS, run.ordered),
        (texts.SHUFFLED_GUESS, run.shuffled),
        (texts.UNORDERED_GUESS, run.without_ordered),
    )
    limit = math.ceil(10 * max(max(guess.shares) for _, guess in shown)) / 10
    for number, (column, (title, guess)) in enumerate(zip(st.columns(3), shown, strict=True)):
        with column:
            _draw_guess(title, guess, limit, f"{key}_{number}")


def _draw_guess(title: str, guess: BlankGuess, limit: float, key: str) -> None:
    st.caption(title)
    show_bars(probability_chart(title, guess.words, guess.shares, limit=limit), key=key)
