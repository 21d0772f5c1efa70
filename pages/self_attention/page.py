"""How does a token find what matters to it? One head of attention, every step and every number of it."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

import streamlit as st

from pages.self_attention import key_value_table
from pages.self_attention.notes import equation, letters, notes
from pages.ui.canvas.foresight import Drawn, Foresight, by_place
from pages.ui.canvas.lines import show_lines
from pages.ui.canvas.matrix_cells import Cell, cell_from_link, cell_to_link
from pages.ui.canvas.matrix_view import Drawing, chosen_cell, chosen_drawing, matrix_row, row_drawn
from pages.ui.panels.attention_table import warn_of_unknown
from pages.ui.shell import cache, controls
from pages.ui.shell.address import (
    Field,
    choice_field,
    flag_field,
    number_field,
    read_view,
    tell_not_understood,
    text_field,
    widget_key,
    write_view,
)
from pages.ui.shell.frame import engine_of, open_page, share_link, show_engine, ways_on
from pages.ui.shell.live import live

if TYPE_CHECKING:  # the core imports torch: the title is painted without it
    from tx_core.lessons.steps import SentenceSteps
    from tx_core.transformer.trace import Encoding

PAGE = "self_attention"
MODEL = "embedded"
LAYERS, HEADS = controls.embedded_sizes()
WEIGHTS = {"trained": "Trained", "random": "Random", "none": "None"}
DRAWN = (2, 32)  # the fewest and the most dimensions that a reader can look at; all are computed with
NORMALISE = {"softmax": "Soft", "sparsemax": "Sparse", "hardmax": "Hard"}
CHOICES = {"weights": list(WEIGHTS), "layer": range(1, LAYERS + 1), "head": range(1, HEADS + 1), "normalise": list(NORMALISE)}
TITLE = "Tokens"
FIELDS = (
    text_field("text", "time flies like an arrow"),
    choice_field("weights", tuple(WEIGHTS)),
    number_field("layer", 1, 1, LAYERS),
    number_field("head", min(8, HEADS), 1, HEADS),
    number_field("seed", 1, 1, 999),
    choice_field("normalise", tuple(NORMALISE)),
    flag_field("unscaled"),
    flag_field("causal"),
    flag_field("numbers"),
    number_field("dimensions", 6, *DRAWN),
    Field("cell", Cell("matches", 3, 2), cell_from_link, cell_to_link),
    *key_value_table.FIELDS,
)
SIZES = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024)
TEXT = """
Every token asks for something (its **query**), shows what it can be found by (its **key**) and has something to hand over
(its **value**). The better a query matches a key, the more of that token's value is mixed into the answer, the **context**.
"""
STORE_TEXT = """
A dictionary returns the value whose key equals the query. Attention compares the query with every key and returns a mix of
all values, each weighed by how well its key matches. Change any number and ask again. The matches are divided by 8, as
in the first transformer, whose keys had 64 numbers (√64 = 8); for these short keys √3 would do, and give the same shares.
"""


def value(name: str) -> object:
    """Tell what a field of this page holds."""
    return st.session_state[widget_key(PAGE, name)]


def show_code() -> None:
    """Show the functions of the core that compute the picture."""
    from pages.ui.shell.source_code import show_source
    from tx_core.transformer import attention, normalise

    chosen = {"softmax": attention.softmax, "sparsemax": normalise.sparsemax, "hardmax": normalise.hardmax}
    show_source(attention.attend, attention.attention_scores, attention.attention_weights, chosen[value("normalise")])


def ask_weights() -> None:
    """Ask whose matrices project the vectors, and which layer they enter."""
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        st.segmented_control(
            "Projections", list(WEIGHTS), key=widget_key(PAGE, "weights"), format_func=WEIGHTS.get, required=True
        )
        st.segmented_control("Layer", range(1, LAYERS + 1), key=widget_key(PAGE, "layer"), required=True)
        if value("weights") == "trained":
            st.segmented_control("Head", range(1, HEADS + 1), key=widget_key(PAGE, "head"), required=True)
        if value("weights") == "random":
            st.session_state[widget_key(PAGE, "seed")] = value("seed")  # a browser that draws late then shows it, too
            st.number_input(
                "Draw number",
                1,
                999,
                key=widget_key(PAGE, "seed"),
                width=150,
                help="Another number draws other matrices; the same number draws the same ones again.",
            )


def ask_steps() -> None:
    """Ask for the switches of the computation."""
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        st.segmented_control(
            "Attention",
            list(NORMALISE),
            key=widget_key(PAGE, "normalise"),
            format_func=NORMALISE.get,
            required=True,
            help="Soft (softmax) shares, hard (argmax) decides, sparse (sparsemax) does a little of both.",
        )
        st.toggle("Without scaling", key=widget_key(PAGE, "unscaled"), help="Leave out the division by √d.")
        st.toggle("Causal mask", key=widget_key(PAGE, "causal"), help="No token may look at a later one.")


def compute(values: Mapping[str, object]) -> "tuple[SentenceSteps, Encoding]":
    """Run the model on the sentence and the head that `values` ask for, step by step; ExplorerError where it cannot be."""
    from tx_core.lessons.steps import StepChoice, sentence_steps

    trace = cache.trace(MODEL, values["text"], keep=("hidden",))
    choice = StepChoice(
        values["layer"] - 1,
        values["head"] - 1,
        values["weights"],
        values["seed"],
        not values["unscaled"],
        values["normalise"],
        values["causal"],
    )
    return sentence_steps(cache.engine(MODEL), trace, choice), trace.attention.query_tokens


def steps() -> None:
    """One head of the reader's choice: its equation, its code, and every step of it."""
    formula = st.container()
    show_code()
    ask_weights()
    ask_steps()
    engine = engine_of(badge, MODEL)
    show_engine(badge, engine.title, engine.device)
    values = {field.name: value(field.name) for field in FIELDS}
    found, encoding = compute(values)
    warn_of_unknown([encoding])
    formula.latex(equation(found))
    formula.markdown(letters(found))
    live(PAGE, FIELDS, draw_steps, found, values)
    for note in notes(found, encoding):
        st.text(note)
    if value("unscaled") and value("normalise") == "softmax":
        draw_saturation()


def draw_steps(found: "SentenceSteps", values: Mapping[str, object]) -> None:
    """Draw the matrices, and keep the cell and the way of drawing that are chosen. values: what `found` was computed of."""
    from pages.self_attention.matrices import step_matrices

    name, drawing = widget_key(PAGE, "row"), Drawing(value("dimensions"), *DRAWN, value("numbers"))
    matrices, cell = step_matrices(found, drawing.dimensions, drawing.most), value("cell")

    def choose() -> None:
        st.session_state[widget_key(PAGE, "cell")] = chosen_cell(name, matrices)

    def draw() -> None:
        asked = chosen_drawing(name, drawing)
        st.session_state[widget_key(PAGE, "dimensions")], st.session_state[widget_key(PAGE, "numbers")] = (
            asked.dimensions,
            asked.numbers,
        )

    def foreseen(asked: Mapping[str, object]) -> Drawn:
        others = step_matrices(compute(asked)[0], drawing.dimensions, drawing.most)
        return row_drawn(others, cell, names_title=TITLE, drawing=drawing)

    controls = {name: by_place(name, options) for name, options in CHOICES.items()}
    matrix_row(
        matrices,
        cell,
        names_title=TITLE,
        key=name,
        on_choose=choose,
        drawing=drawing,
        on_draw=draw,
        foresight=Foresight(PAGE, values, controls, foreseen),
    )


def draw_saturation() -> None:
    """Draw what softmax does to random scores as vectors get longer, with and without scaling."""
    from tx_core.lessons.steps import saturation

    seen = cache.remember(("saturation", SIZES), lambda: saturation(SIZES))
    series = {"not divided": seen.largest_unscaled, "divided by √d": seen.largest_scaled}
    title = "Greatest weight of a row, by the number of dimensions d"
    st.subheader("Why scores are divided by √d", anchor=False)
    st.markdown(
        f"Random queries, {seen.keys} random keys each. The longer the vectors, the larger their products: without division "
        "softmax gives nearly everything to one key. A change of a score then moves its weight by a mere "
        f"{seen.slope_unscaled[-1]:.2f} of itself at d = {SIZES[-1]} (divided: {seen.slope_scaled[-1]:.2f}), so that "
        "there is little left to learn from."
    )
    st.markdown(f"**{title}**")
    show_lines(title, [str(size) for size in SIZES], series, unit="d =", limits=(0, 1.02), key=widget_key(PAGE, "saturation"))


badge = open_page(PAGE)
read_view(PAGE, FIELDS, {})
tell_not_understood(PAGE)
controls.sentence(widget_key(PAGE, "text"))
st.markdown(TEXT)
live(PAGE, FIELDS, steps)
st.header("Attention is a store that one can ask", anchor=False)
st.markdown(STORE_TEXT)
live(PAGE, FIELDS, key_value_table.key_value_table, PAGE)
st.header("The same function elsewhere", anchor=False)
write_view(PAGE, FIELDS, {})
ways_on(value("text"), "", "attention", "heads_and_blocks", "masks", "fill_mask")
share_link()
