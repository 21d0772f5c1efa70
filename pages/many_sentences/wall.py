"""The wall of heads over many sentences: what kind each is and how surely, or how widely and how far it looks."""

from typing import TYPE_CHECKING

import streamlit as st

from pages.ui.canvas.attention_view import Head
from pages.ui.canvas.head_cells import Cells, distance_cells, kind_cells, spread_cells
from pages.ui.canvas.head_table import HeadCell, LegendEntry, chosen_head, head_table
from pages.ui.shell.address import widget_binding, widget_key

if TYPE_CHECKING:  # the core imports torch: the title is painted without it
    from tx_core.corpus.statistics import HeadReport

COLOURS = {
    "pattern": "Kind of head",
    "agreement": "In how many sentences",
    "spread": "How widely it looks",
    "distance": "How far it looks",
}


def wall(page: str, report: "HeadReport", chosen: Head) -> tuple[str, list[list[HeadCell]], list[LegendEntry], Head]:
    """Show all heads; a click chooses one. Give what is shown: by what it is coloured, in words, cells, legend, choice."""
    st.segmented_control(
        "Colour by", list(COLOURS), format_func=COLOURS.get, required=True, **widget_binding(widget_key(page, "colour"))
    )
    colour, name = st.session_state[widget_key(page, "colour")], widget_key(page, "wall")
    layers, heads = report.entropy.shape

    def take() -> None:
        if (head := chosen_head(name, layers, heads)) is not None:
            st.session_state[widget_key(page, "heads")] = [head]

    cells, legend = _cells(report, colour)
    rows = [cells[start : start + heads] for start in range(0, len(cells), heads)]
    head_table(
        rows, legend, chosen, label=f"{COLOURS[colour]}: a row for each layer, a column for each head", key=name, on_choose=take
    )
    return COLOURS[colour], rows, legend, chosen


def _cells(report: "HeadReport", colour: str) -> Cells:
    if colour == "pattern":
        return kind_cells(
            report.patterns,
            report.example,
            lambda head: (f"{head.confidence:.2f}", head.confidence),
            lambda head: f", confidence {head.confidence:.2f}, in {head.agreement:.0%} of the sentences",
        )
    if colour == "agreement":
        return kind_cells(
            report.patterns,
            report.example,
            lambda head: (f"{head.agreement:.0%}", head.agreement),
            lambda head: f" in {head.agreement:.0%} of the sentences",
        )
    return spread_cells(report.spread) if colour == "spread" else distance_cells(report.distance)
