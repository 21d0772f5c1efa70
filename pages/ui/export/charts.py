"""Charts as figures to carry away: the arrays, labels and colours that the page's own charts are drawn from."""

from collections.abc import Callable, Sequence

import numpy as np
from jaxtyping import Float

from pages.ui.canvas.bars import Chart
from pages.ui.canvas.figures import ONE_COLOUR
from pages.ui.canvas.head_table import HeadCell, LegendEntry
from pages.ui.canvas.packing import pack
from pages.ui.canvas.plotly_figures import BELOW_ZERO, PointKind
from pages.ui.canvas.point_names import place_names
from pages.ui.export.exhibit import Alone
from pages.ui.export.picture import STILL

Row = tuple[str | float | int | None, ...]


def picture_of(charts: Sequence[Chart | None], told: str, *, across: int = 1) -> Callable[..., bytes]:
    """Lay charts out in rows of `across` where there is room; None leaves its place empty. told: what is seen, in words."""
    header = {"drawing": "charts", "charts": list(charts), "across": across, "label": told}
    return lambda **more: pack(header | more, np.zeros(0, np.uint8))


def still_page(picture: Callable[..., bytes], columns: tuple[str, ...], rows: Callable[[], list[Row]]) -> Alone:
    """Make a web page of charts: as on the screen, with their numbers as a table below."""
    return Alone(STILL, (), "the charts, and their numbers as a table", picture, columns, rows)


def signed_chart(title: str, labels: Sequence[str], values: Sequence[float], *, limit: float) -> Chart:
    """Draw what `summary_figures.signed_bars` draws: a bar to each side of zero."""
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


def points_chart(
    title: str,
    places: Float[np.ndarray, "one axis"],
    labels: Sequence[str],
    kinds: Sequence[PointKind],
    chosen: int,
    neighbours: Sequence[int],
) -> Chart:
    """Draw what `summary_figures.head_points` draws: every head as a point, the chosen one with lines to its neighbours."""
    drawn = [
        {
            "name": kind.name,
            "colour": kind.colour,
            "symbol": kind.symbol,
            "members": [number for number, one in enumerate(kinds) if one == kind],
        }
        for kind in dict.fromkeys(kinds)
    ]
    names = [vars(name) for name in place_names(places, labels, chosen, neighbours)]
    return {
        "kind": "points",
        "title": title,
        "places": places.tolist(),
        "labels": list(labels),
        "kinds": drawn,
        "chosen": chosen,
        "neighbours": list(neighbours),
        "names": names,
    }


def grid_chart(
    title: str, cells: Sequence[Sequence[HeadCell]], legend: Sequence[LegendEntry], chosen: tuple[int, int] | None
) -> Chart:
    """Draw what `head_table.head_table` draws: a row for each layer, a column for each head."""
    written = [[vars(cell) for cell in row] for row in cells]
    return {"kind": "grid", "title": title, "cells": written, "legend": [vars(entry) for entry in legend], "chosen": chosen}


def listing_chart(title: str, head: Sequence[str], rows: Sequence[Sequence[str]]) -> Chart:
    """Draw a small table of words."""
    return {"kind": "listing", "title": title, "head": list(head), "rows": [list(row) for row in rows]}
