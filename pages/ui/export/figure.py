"""A view as a figure for a paper, drawn by the page's own code and saved as SVG, PNG or PDF; charts as such figures."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import streamlit as st
from jaxtyping import Float

from pages.ui.canvas.charts import BACKGROUND, BELOW_ZERO, INK, ONE_COLOUR
from pages.ui.canvas.component import component
from pages.ui.canvas.drawings import Chart
from pages.ui.canvas.head_table import HeadCell, LegendEntry
from pages.ui.canvas.packing import pack
from pages.ui.canvas.texts import LAYERS_AND_HEADS
from pages.ui.export import texts
from pages.ui.export.records import Export, WebPage
from pages.ui.shell.address import widget_key
from tx_core.analysis.weights_file import TableValue

MODULE, STYLE = "figure/panel.js", "figure/figure.css"
STILL = "figure/figure.js"
"""Draws any view without reacting to its reader."""
WIDTHS = {"mm": (40.0, 174.0, 400.0), "px": (200.0, 1200.0, 4000.0)}
"""Minimum, default and maximum width by unit; 174 mm is the width of a journal's page."""
THEME_COLOURS = {
    texts.LIGHT: {"--st-background-color": BACKGROUND[False], "--st-text-color": INK[False]},
    texts.DARK: {"--st-background-color": BACKGROUND[True], "--st-text-color": INK[True]},
}


def show_figure(page: str, export: Export) -> None:
    """Draw the choice of a width, the preview of the figure, and the buttons that save it."""
    sizes, colours, words = st.columns([4, 3, 3], vertical_alignment="bottom")
    with sizes, st.container(horizontal=True, vertical_alignment="bottom"):
        unit = st.segmented_control(
            texts.ASK_UNIT, list(WIDTHS), default="mm", required=True, key=widget_key(page, "figure_unit")
        )
        width = _ask_width(page, unit)
    with colours:
        background = st.segmented_control(
            texts.ASK_BACKGROUND,
            list(THEME_COLOURS),
            default=texts.LIGHT,
            required=True,
            key=widget_key(page, "figure_background"),
        )
    with words:
        captioned = st.toggle(texts.ASK_CAPTION, value=True, key=widget_key(page, "figure_captioned"))
    packed = export.figure(
        width=width,
        unit=unit,
        colours=THEME_COLOURS[background],
        captioned=captioned,
        caption=export.full_caption,
        title=export.title,
        file=export.file_name,
        panel=texts.FIGURE_PANEL,
    )
    component("picture", "picture-view", MODULE, STYLE)(key=widget_key(page, "figure"), data=packed)


def _ask_width(page: str, unit: str) -> float:
    """Ask for a width; the limits are checked again here, since a browser may send anything."""
    minimum, default, maximum = WIDTHS[unit]
    width = st.number_input(
        texts.ASK_WIDTH.format(unit=unit),
        minimum,
        maximum,
        default,
        step=1.0,
        format="%.0f",
        key=widget_key(page, f"figure_width_{unit}"),
        help=texts.WIDTH_HELP,
    )
    return min(max(float(width or default), minimum), maximum)


def charts_figure(charts: Sequence[Chart | None], alt: str, *, across: int = 1) -> Callable[..., bytes]:
    """Return a figure of charts in rows of up to `across`; None leaves its place empty. alt: the alternative text."""
    header = {"drawing": "charts", "charts": list(charts), "across": across, "alt": alt}
    return lambda **more: pack(header | more, np.zeros(0, np.uint8))


def charts_page(
    figure: Callable[..., bytes], columns: tuple[str, ...], rows: Callable[[], list[tuple[TableValue, ...]]]
) -> WebPage:
    """Make a web page of charts with their numbers as a table below."""
    return WebPage(STILL, (), texts.STILL_CHARTS, figure, columns, rows)


def signed_chart(title: str, labels: Sequence[str], values: Sequence[float], *, limit: float) -> Chart:
    """Draw bars to both sides of zero. limit: where the axis ends on a side that is used."""
    most = limit or 1.0
    least = -most if min(values, default=0.0) < 0 else 0.0
    return {
        "kind": "bars",
        "title": title,
        "labels": list(labels),
        "values": list(values),
        "names": True,
        "from": least,
        "to": most,
        "ends": [f"{value:.2f}".replace("-", "−") for value in values],
        "ticks": [{"at": 0, "text": "0"}],
        "colours": [ONE_COLOUR if value >= 0 else BELOW_ZERO for value in values],
    }


NAME_REACH = (30.0, 24.0)
"""Pixels from the chosen point to the middle of its name, sideways and up or down."""
MAP_PIXELS = 400
"""About the width of the map, by which the distance of a name from other points is judged."""


@dataclass(frozen=True)
class PointKind:
    """What points of one kind look like on a map."""

    name: str
    colour: str
    symbol: str


def points_chart(
    title: str,
    places: Float[np.ndarray, "one axis"],
    label: str,
    kinds: Sequence[PointKind],
    chosen: int,
    neighbours: Sequence[int],
) -> Chart:
    """Draw heads as points, colour and shape by kind; the chosen one with its label and lines to its neighbours.

    Both axes have the same scale, so that distances can be compared.
    """
    drawn = [
        {
            "name": kind.name,
            "colour": kind.colour,
            "symbol": kind.symbol,
            "members": [number for number, one in enumerate(kinds) if one == kind],
        }
        for kind in dict.fromkeys(kinds)
    ]
    right, down = name_offset(places, chosen)
    return {
        "kind": "points",
        "title": title,
        "places": places.tolist(),
        "kinds": drawn,
        "chosen": chosen,
        "neighbours": list(neighbours),
        "name": {"text": label, "right": right, "down": down},
    }


def name_offset(places: Float[np.ndarray, "one axis"], chosen: int) -> tuple[float, float]:
    """Return where the chosen point's name stands, in pixels to its right and below: where it is farthest from all others."""
    scale = MAP_PIXELS / (np.ptp(places, axis=0).max() + 1e-9)
    others = np.delete(places - places[chosen], chosen, axis=0) * scale * [1, -1]
    tried = [(NAME_REACH[0] * np.cos(turn), NAME_REACH[1] * np.sin(turn)) for turn in np.arange(16) * np.pi / 8]
    right, down = max(tried, key=lambda offset: np.hypot(*(others - offset).T).min(initial=np.inf))
    return float(right), float(down)


def grid_chart(cells: Sequence[Sequence[HeadCell]], legend: Sequence[LegendEntry], chosen: tuple[int, int] | None) -> Chart:
    """Draw a grid of layers × heads."""
    written = [[vars(cell) for cell in row] for row in cells]
    entries = [vars(entry) for entry in legend]
    return {"kind": "grid", "title": "", "cells": written, "legend": entries, "chosen": chosen, "axes": LAYERS_AND_HEADS}


def listing_chart(title: str, head: Sequence[str], rows: Sequence[Sequence[str]]) -> Chart:
    """Draw a small table of words."""
    return {"kind": "listing", "title": title, "head": list(head), "rows": [list(row) for row in rows]}
