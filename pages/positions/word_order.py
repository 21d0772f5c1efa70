"""Shuffled words, drawn: how far each word's vector moved, and what the model guesses at a blank."""

import math
from typing import TYPE_CHECKING

import numpy as np
import streamlit as st

from pages.ui.canvas.bars import probability_chart, show_bars
from pages.ui.canvas.mask_grid import Matrix, Naming, matrices
from pages.ui.shell.numbers import rounding_verdict, small_number

if TYPE_CHECKING:
    from tx_core.lessons.word_order import BlankGuess, ShuffleEffect, ShuffleTest


def draw_shuffle(found: "ShuffleTest", key: str) -> None:
    """Write both orders and draw how far each word's output moved between them."""
    orders = ("In order", found.encoding.tokens), ("Shuffled", found.tokens_shuffled)
    st.code("\n\n".join(f"{name}:\n{' '.join(tokens)}" for name, tokens in orders), language=None, wrap_lines=True)
    positions, none = found.with_positions, found.without_positions
    left, right = st.columns(2)
    left.metric(
        "Greatest change, with positions",
        small_number(positions.greatest_difference),
        _verdict(found, positions, "order matters"),
        delta_color="off",
        delta_arrow="off",
    )
    right.metric(
        "Greatest change, without positions",
        small_number(none.greatest_difference),
        _verdict(found, none, "more than rounding"),
        delta_color="off",
        delta_arrow="off",
    )
    cells = np.array([positions.by_token, none.by_token])
    told = (
        f"With positions each token moves by up to {small_number(cells[0].max())}, "
        f"without by up to {small_number(cells[1].max())}."
    )
    shown = [Matrix("Change of each token's vector", "signed", cells, told, limit=float(cells.max()))]
    matrices(("positions", "no positions"), found.encoding.tokens, shown, key=key, naming=Naming(joint="·"), tallest=64)


def _verdict(found: "ShuffleTest", effect: "ShuffleEffect", moved: str) -> str:
    same = found.tokens_shuffled == found.encoding.tokens
    return "the words stand as before" if same else rounding_verdict(effect.greatest_difference, moved)


def draw_guesses(found: "ShuffleTest", key: str) -> None:
    """Draw what the model puts at the first blank in three runs; without positions both orders give one answer."""
    if found.ordered is None:
        st.caption("Write [MASK] in the sentence to see what shuffling does to a guess.")
        return
    st.markdown("**What would it put at the blank?**")
    columns = st.columns(3)
    shown = (
        ("In order, with positions", found.ordered),
        ("Shuffled, with positions", found.shuffled),
        ("Without positions, in any order", found.without_ordered),
    )
    limit = math.ceil(10 * max(max(guess.shares) for _, guess in shown)) / 10
    for number, (column, (title, guess)) in enumerate(zip(columns, shown, strict=True)):
        with column:
            _draw_guess(title, guess, limit, f"{key}_{number}")


def _draw_guess(title: str, guess: "BlankGuess", limit: float, key: str) -> None:
    st.caption(title)
    show_bars(probability_chart(title, guess.words, guess.shares, limit=limit), key=key)
