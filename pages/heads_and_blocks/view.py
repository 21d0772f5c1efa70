"""What the parts of the page on blocks have in common: the layer, the matrices with a chosen cell, a difference in words."""

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING

import streamlit as st

from pages.ui.canvas.foresight import Foresight, by_place
from pages.ui.canvas.matrix_cells import Cell
from pages.ui.canvas.matrix_view import Matrix, chosen_cell, matrix_row, row_drawn
from pages.ui.shell.address import widget_binding, widget_key
from pages.ui.shell.numbers import small_number

if TYPE_CHECKING:  # the core imports torch: only a page that computes waits for it
    from tx_core.lessons.bert_steps import TwoWays

TITLE = "Tokens"
"""What heads the names of the rows."""


def ask_layer(page: str, num_layers: int) -> int:
    """Let the reader choose a block; give it counted from 0."""
    st.segmented_control("Block", range(1, num_layers + 1), required=True, **widget_binding(widget_key(page, "layer")))
    return st.session_state[widget_key(page, "layer")] - 1


def show_matrices(
    page: str,
    part: str,
    matrices_of: Callable[[Mapping[str, object]], Sequence[Matrix]],
    choices: Mapping[str, Sequence[object]] = MappingProxyType({}),
) -> None:
    """Draw matrices and keep the cell that the reader chooses.

    matrices_of: makes them of the values of fields that they follow. choices: the options of these fields' controls; as soon as
    one is used, the browser draws what it leads to.
    """
    name, values = widget_key(page, f"{part}_row"), {field: st.session_state[widget_key(page, field)] for field in choices}
    matrices = matrices_of(values)

    def choose() -> None:
        st.session_state[widget_key(page, "cell")] = chosen_cell(name, matrices)

    chosen: Cell | None = st.session_state[widget_key(page, "cell")]
    controls = {field: by_place(field, options) for field, options in choices.items()}
    ahead = Foresight(page, values, controls, lambda asked: row_drawn(matrices_of(asked), chosen, names_title=TITLE))
    matrix_row(matrices, chosen, names_title=TITLE, key=name, on_choose=choose, foresight=ahead)


def tell_difference(label: str, both: "TwoWays") -> None:
    """Show how far two results are apart at their worst number, and how large the numbers are."""
    size, apart = float(both.ours.abs().max()), both.greatest_difference
    told = f"in numbers of up to {size:.1f}: rounding" if apart else "not even rounding differs"
    st.metric(label, small_number(apart), told, delta_color="off", delta_arrow="off")
