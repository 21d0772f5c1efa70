"""How does a token find what matters to it? One head of attention, every matrix and every number of it."""

from collections.abc import Mapping

import streamlit as st

from pages.ui.shell.frame import open_page

PAGE = "self_attention"
badge = open_page(PAGE)

# The title is on its way: what follows imports torch.
from pages.self_attention import store, texts
from pages.self_attention.one_head import (
    equation,
    head_choice,
    head_matrices,
    head_numbers,
    letters,
    notes,
    saturation_numbers,
)
from pages.ui.canvas.charts import show_lines
from pages.ui.canvas.matrix_view import (
    Cell,
    MatrixOptions,
    cell_from_link,
    cell_to_link,
    chosen_cell,
    chosen_drawing,
    matrix_row,
    row_drawn,
)
from pages.ui.canvas.prefetch import Picture, Prefetch, read_option
from pages.ui.export.lessons import draw_and_export
from pages.ui.panels.parts_page import explain_built_in
from pages.ui.panels.tokens import SPECIAL_FIELD, ask_special_tokens, note_special_tokens, warn_of_unknown
from pages.ui.shell import cache, controls
from pages.ui.shell.address import (
    KEPT_PARAMETERS,
    Field,
    choice_field,
    flag_field,
    is_offered,
    number_field,
    read_view,
    text_field,
    widget_key,
    write_view,
)
from pages.ui.shell.controls import ask_option, engine_of, live
from pages.ui.shell.frame import page_links, share_link, show_engine, show_source
from pages.ui.shell.level import is_hidden, show_formula
from pages.ui.shell.numbers import small_number
from tx_core.engine.catalogue import DEFAULT
from tx_core.lessons.self_attention import HeadRun, head_run, saturation
from tx_core.transformer import attention
from tx_core.transformer.attention import NORMALISE
from tx_core.transformer.trace import Encoding

LAYERS, HEADS = controls.embedded_sizes()
LAYER_NUMBERS, HEAD_NUMBERS = range(1, LAYERS + 1), range(1, HEADS + 1)
DIMENSIONS_SHOWN = (2, 32)
"""The fewest and the most dimensions that can be shown; all are computed with."""
FIRST_TEXT, FIRST_LAYER, FIRST_HEAD = "The boy read a very old book.", 2, 6
"""A head that finds the noun of an article and the object of a verb, one to four tokens ahead: what it looks at is no place."""
FIRST_CELL = Cell("matches", 4, 7)
"""How well the query of 'a' matches the key of 'book'."""
SATURATION_SIZES = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024)
FIELDS = (
    text_field("text", FIRST_TEXT),
    SPECIAL_FIELD,
    choice_field("weights", tuple(texts.WEIGHTS)),
    number_field("layer", 0, 1, LAYERS),
    number_field("head", 0, 1, HEADS),
    number_field("seed", 1, 1, 999),
    choice_field("normalise", tuple(texts.NORMALISE)),
    flag_field("unscaled"),
    flag_field("causal"),
    flag_field("numbers"),
    number_field("dimensions", 6, *DIMENSIONS_SHOWN),
    Field("cell", Cell("matches", 3, 2), cell_from_link, cell_to_link),
    *store.FIELDS,
)
FIRST_VIEW = {"layer": FIRST_LAYER, "head": FIRST_HEAD, "cell": FIRST_CELL}
EARLIER_TEXT, EARLIER_HEAD = "time flies like an arrow", {"layer": 1, "head": 8}
"""What older links left out: the page opened on it when they were written."""


def value(name: str) -> object:
    """Get the current value of a field of this page."""
    return st.session_state[widget_key(PAGE, name)]


def complete_view(arriving: bool) -> None:
    """Fill in what an address leaves out: the first head beside a sentence alone, else what older links meant."""
    given = st.query_params.keys() - set(KEPT_PARAMETERS)
    for name, earlier in EARLIER_HEAD.items():
        if not value(name):
            st.session_state[widget_key(PAGE, name)] = FIRST_VIEW[name] if given <= {"text"} else earlier
    if arriving and given and "text" not in given:
        st.session_state[widget_key(PAGE, "text")] = EARLIER_TEXT


def ask_weights() -> None:
    """Ask whose matrices project the vectors, and which layer they enter."""
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        ask_option(texts.PROJECTIONS, texts.WEIGHTS, key=widget_key(PAGE, "weights"))
        st.segmented_control(texts.LAYER, LAYER_NUMBERS, key=widget_key(PAGE, "layer"), required=True)
        if value("weights") == "trained":
            st.segmented_control(texts.HEAD, HEAD_NUMBERS, key=widget_key(PAGE, "head"), required=True)
        if value("weights") == "random":
            st.session_state[widget_key(PAGE, "seed")] = value("seed")  # a browser that draws late then shows it, too
            st.number_input(texts.SEED, 1, 999, key=widget_key(PAGE, "seed"), width=150, help=texts.SEED_HELP)


def ask_head() -> None:
    """Ask for the switches of the computation."""
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        ask_option(texts.ATTENTION, texts.NORMALISE, key=widget_key(PAGE, "normalise"), help=texts.ATTENTION_HELP)
        st.toggle(texts.UNSCALED, key=widget_key(PAGE, "unscaled"), help=texts.UNSCALED_HELP)
        st.toggle(texts.CAUSAL, key=widget_key(PAGE, "causal"), help=texts.CAUSAL_HELP)


def compute(values: Mapping[str, object]) -> tuple[HeadRun, Encoding]:
    """Run one head on the sentence, step by step, as `values` of the page's fields say.

    Raises ExplorerError where the text cannot be read.
    """
    engine = cache.engine(DEFAULT, special_tokens=not values[SPECIAL_FIELD.name], weights=True)
    trace = cache.trace_with(engine, values["text"], keep=("hidden",))
    return head_run(engine, trace, head_choice(values)), trace.attention.query_tokens


def draw_head() -> None:
    """One head of the reader's choice: its equation, its code, and its matrices."""
    formula = st.container()
    chosen = NORMALISE[value("normalise")]
    show_source(attention.attend, attention.attention_scores, attention.attention_weights, chosen)
    ask_weights()
    ask_head()
    engine = engine_of(badge, DEFAULT, weights=True)
    show_engine(badge, engine.title, engine.device)
    values = {field.name: value(field.name) for field in FIELDS}
    run, encoding = compute(values)
    note_special_tokens(engine, encoding.special_tokens)
    warn_of_unknown([encoding])
    with formula:
        show_formula(equation(run))
        if not is_hidden("formulas"):
            st.markdown(letters(run))
    live(PAGE, FIELDS, draw_and_export, PAGE, lambda: head_numbers(PAGE), draw_matrices, run, values)
    for note in notes(run):
        st.text(note)
    if value("unscaled") and value("normalise") == "softmax":
        draw_and_export(PAGE, lambda: saturation_numbers(SATURATION_SIZES), draw_saturation, place="saturation")


def draw_matrices(run: HeadRun, values: Mapping[str, object]) -> None:
    """Draw the matrices, and keep the cell and the number of dimensions that are chosen. values: what `run` was computed of."""
    name, drawing = widget_key(PAGE, "row"), MatrixOptions(value("dimensions"), *DIMENSIONS_SHOWN, value("numbers"))
    matrices, cell = head_matrices(run, drawing.dimensions, drawing.most), value("cell")

    def keep_cell() -> None:
        st.session_state[widget_key(PAGE, "cell")] = chosen_cell(name, matrices)

    def keep_drawing() -> None:
        chosen = chosen_drawing(name, drawing)
        st.session_state[widget_key(PAGE, "dimensions")] = chosen.dimensions
        st.session_state[widget_key(PAGE, "numbers")] = chosen.numbers

    def draw(changed: Mapping[str, object]) -> Picture:
        others = head_matrices(compute(changed)[0], drawing.dimensions, drawing.most)
        return row_drawn(others, cell, names_title=texts.TOKENS, drawing=drawing)

    options = {
        "weights": list(texts.WEIGHTS),
        "layer": LAYER_NUMBERS,
        "head": HEAD_NUMBERS,
        "normalise": list(texts.NORMALISE),
    }
    matrix_row(
        matrices,
        cell,
        names_title=texts.TOKENS,
        key=name,
        on_choose=keep_cell,
        drawing=drawing,
        on_draw=keep_drawing,
        prefetch=Prefetch(PAGE, values, {field: read_option(field, offered) for field, offered in options.items()}, draw),
    )


def draw_saturation() -> None:
    """Draw what softmax does to random scores as vectors get longer, with and without scaling."""
    sizes = SATURATION_SIZES
    run = cache.get_or_compute(("saturation", sizes), lambda: saturation(sizes))
    series = {texts.NOT_DIVIDED: run.largest_unscaled, texts.DIVIDED: run.largest_scaled}
    slopes = {"unscaled": small_number(run.slope_unscaled[-1]), "scaled": small_number(run.slope_scaled[-1])}
    st.subheader(texts.WHY_SCALED, anchor=False)
    st.markdown(texts.WHY_SCALED_TEXT.format(keys=run.keys, size=sizes[-1], **slopes))
    st.markdown(f"**{texts.LARGEST_WEIGHT}**")
    show_lines(
        texts.LARGEST_WEIGHT,
        [str(size) for size in sizes],
        series,
        step_name=texts.DIMENSION,
        limits=(0, 1.02),
        key=widget_key(PAGE, "saturation"),
    )


arriving = widget_key(PAGE, "text") not in st.session_state
read_view(PAGE, FIELDS, FIRST_VIEW)
complete_view(arriving)
controls.sentence(widget_key(PAGE, "text"))
ask_special_tokens(PAGE)
st.markdown(texts.INTRO)
live(PAGE, FIELDS, draw_head)
explain_built_in()
if not is_hidden("store"):
    st.header(texts.STORE, anchor=False)
    st.markdown(texts.STORE_TEXT)
    live(PAGE, FIELDS, store.show_store, PAGE)
if is_offered("links"):
    st.header(texts.ELSEWHERE, anchor=False)
write_view(PAGE, FIELDS, FIRST_VIEW)
page_links(value("text"), "", "attention", "heads_and_blocks", "masks", "fill_mask")
share_link()
