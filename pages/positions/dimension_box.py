"""Dimensions of a vector chosen by their numbers, in a box: there may be hundreds, too many for buttons."""

from functools import partial

import streamlit as st

from tx_core.errors import TextProblem

MAX_DRAWN_DIMENSIONS = 8


def dimension_box(name: str, width: int) -> list[int]:
    """Let the reader write which dimensions to draw; give those that a vector of `width` numbers has.

    name: the session's entry that holds them. Raises TextProblem for what is no list of them; it stays in the box.
    """
    box, told = f"{name}_box", f"{name}_told"
    st.session_state[name] = [number for number in st.session_state[name] if number < width]
    if box not in st.session_state or st.session_state.get(told) != st.session_state[name]:
        st.session_state[box], st.session_state[told] = write_list(st.session_state[name]), st.session_state[name]
    written = st.text_input(
        f"Dimensions drawn: up to {MAX_DRAWN_DIMENSIONS} of 0 to {width - 1}",
        key=box,
        live="250ms",
        autocomplete="off",
        on_change=partial(_take, name, width),
    )
    return read_list(written, width)


def _take(name: str, width: int) -> None:
    """Keep what was written where it can be read."""
    try:
        found = read_list(st.session_state[f"{name}_box"], width)
    except TextProblem:
        return
    st.session_state[name] = st.session_state[f"{name}_told"] = found


def read_list(written: str, width: int) -> list[int]:
    """Read numbers with spaces or commas between them; raise TextProblem that says what may stand there."""
    words = written.replace(",", " ").split()
    numbers = [int(word) if word.isascii() and word.isdigit() and len(word) < 6 else width for word in words]
    if len(numbers) > MAX_DRAWN_DIMENSIONS or any(number >= width for number in numbers) or len(set(numbers)) < len(numbers):
        raise TextProblem(
            f"Write up to {MAX_DRAWN_DIMENSIONS} different whole numbers from 0 to {width - 1}, "
            "with spaces between them, as in 0 1 2."
        )
    return numbers


def write_list(numbers: list[int]) -> str:
    """Write numbers as a reader does."""
    return " ".join(map(str, numbers))
