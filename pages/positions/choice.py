"""The controls of an encoding: length, width, base, head, model, and the dimensions whose waves are drawn."""

from functools import partial

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from pages.positions import texts
from pages.positions.encodings import ENCODING_VIEWS, Choice
from pages.ui.shell import controls
from pages.ui.shell.address import widget_key
from pages.ui.shell.controls import engine_of
from tx_core.engine import catalogue
from tx_core.engine.engine import Engine
from tx_core.errors import TextProblem
from tx_core.lessons.position_encodings import BIAS_HEADS, ENCODINGS

LENGTHS = range(4, 129)
WIDTHS = range(4, 257, 2)
BASES = (10, 100, 1000, 10_000, 100_000)
CARDS = tuple(card for card in catalogue.catalogue() if card.family == "bert")
BERTS = tuple(card.name for card in CARDS)
MAX_POSITION_HEADS = max(BIAS_HEADS, *(card.num_heads for card in CARDS))
MAX_DRAWN_DIMENSIONS = 8


def ask_choice(page: str, badge: DeltaGenerator, scheme: str, view: str) -> Choice:
    """Ask for what the chosen encoding has: length, width and base, or a head, or a model.

    Raises ExplorerError when the model cannot be had, or the dimensions make no sense.
    """
    encoding, state = ENCODING_VIEWS[scheme], st.session_state
    length, second, third = st.columns(3)
    _ask_length(page, length)
    engine = engine_of(badge, catalogue.DEFAULT)
    if encoding.has_sizes:
        _ask_width_and_base(page, second, third)
    elif encoding.of_model:
        with second:
            engine = ask_model(page, badge)
    width = engine.model.config.hidden_size if encoding.of_model else state[widget_key(page, "width")]
    if view == "waves" and ENCODINGS[scheme].vectors:
        dimension_box(widget_key(page, "dims"), width)
    if view in encoding.head_views:
        heads, head = encoding.num_heads(engine), widget_key(page, "head")
        state[head] = min(state[head], heads)
        (third if encoding.of_model else second).slider(texts.HEAD, 1, heads, key=head)
    return Choice(
        scheme=scheme,
        length=state[widget_key(page, "length")],
        width=width,
        base=float(state[widget_key(page, "base")]),
        head=state[widget_key(page, "head")] - 1,
        dims=tuple(state[widget_key(page, "dims")]),
        engine=engine,
    )


def ask_sizes(page: str) -> None:
    """Ask for length, width and base."""
    length, width, base = st.columns(3)
    _ask_length(page, length)
    _ask_width_and_base(page, width, base)


def ask_model(page: str, badge: DeltaGenerator) -> Engine:
    """Ask for a BERT; raise ExplorerError when it cannot be had."""
    name = st.selectbox(texts.MODEL, BERTS, key=widget_key(page, "model"), format_func=controls.model_title)
    with controls.wait_for(name):
        return engine_of(badge, name)


def _ask_length(page: str, column: DeltaGenerator) -> None:
    column.slider(texts.LENGTH, LENGTHS[0], LENGTHS[-1], key=widget_key(page, "length"))


def _ask_width_and_base(page: str, width: DeltaGenerator, base: DeltaGenerator) -> None:
    width.slider(texts.WIDTH, WIDTHS[0], WIDTHS[-1], step=WIDTHS.step, key=widget_key(page, "width"))
    base.select_slider(texts.BASE, BASES, key=widget_key(page, "base"), format_func="{:,}".format)


def dimension_box(name: str, width: int) -> list[int]:
    """Let the reader write which dimensions to draw: there may be hundreds, too many for buttons.

    name: the session's entry that holds them; only those that a vector of `width` numbers has are kept. Raises TextProblem for
    what is no list of dimensions; it stays in the box.
    """
    box, in_box = f"{name}_box", f"{name}_in_box"
    st.session_state[name] = [number for number in st.session_state[name] if number < width]
    if box not in st.session_state or st.session_state.get(in_box) != st.session_state[name]:
        st.session_state[box], st.session_state[in_box] = " ".join(map(str, st.session_state[name])), st.session_state[name]
    written = st.text_input(
        texts.DIMENSIONS.format(most=MAX_DRAWN_DIMENSIONS, last=width - 1),
        key=box,
        live=controls.TYPING_PAUSE,
        autocomplete="off",
        on_change=partial(_keep_dimensions, name, width),
    )
    return read_dimensions(written, width)


def _keep_dimensions(name: str, width: int) -> None:
    """Keep what was written where it can be read."""
    try:
        numbers = read_dimensions(st.session_state[f"{name}_box"], width)
    except TextProblem:
        return
    st.session_state[name] = st.session_state[f"{name}_in_box"] = numbers


def read_dimensions(written: str, width: int) -> list[int]:
    """Read numbers with spaces or commas between them; raise TextProblem that says what may be written."""
    words = written.replace(",", " ").split()
    numbers = [int(word) if word.isascii() and word.isdigit() and len(word) < 6 else width for word in words]
    if len(numbers) > MAX_DRAWN_DIMENSIONS or any(number >= width for number in numbers) or len(set(numbers)) < len(numbers):
        raise TextProblem(texts.DIMENSIONS_PROBLEM.format(most=MAX_DRAWN_DIMENSIONS, last=width - 1))
    return numbers


def dimensions_from_link(written: str) -> list[int]:
    """Read dimensions as a link writes them, 0-4-20; raise ValueError for nonsense."""
    dims = [int(dim) for dim in written.split("-") if dim.isascii() and dim.isdigit() and len(dim) < 5]
    if dimensions_to_link(dims) != written or len(dims) > MAX_DRAWN_DIMENSIONS or len(set(dims)) < len(dims):
        raise ValueError("dims must be written like 0-4-20")
    return dims


def dimensions_to_link(dims: list[int]) -> str:
    """Write dimensions for a link."""
    return "-".join(map(str, dims))
