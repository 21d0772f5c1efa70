"""Curves over positions and distances: numbers and names in, a plotly figure out."""

from collections.abc import Mapping, Sequence

import plotly.graph_objects as go

from pages.positions import texts
from pages.ui.canvas.figures import DASHES, INK, LINE_COLOURS, ONE_COLOUR, plain

SHADE = "rgba(63, 131, 207, 0.22)"
HEIGHT = 340


def curves(places: Sequence[int], series: Mapping[str, Sequence[float]], *, across: str, dark: bool = False) -> go.Figure:
    """Draw a curve for each series over positions or distances; `across` names what runs along.

    Raises ValueError for a series that does not have a number for each place.
    """
    for name, values in series.items():
        if len(values) != len(places):
            raise ValueError(f"every place needs a number, got {len(places)} places and {len(values)} numbers of {name}")
    lines = [
        {
            "type": "scatter",
            "mode": "lines",
            "x": list(places),
            "y": list(values),
            "name": plain(name),
            "line": {"color": LINE_COLOURS[number % len(LINE_COLOURS)], "dash": DASHES[number % len(DASHES)], "width": 2},
            "hovertemplate": "%{x}: %{y:.3f}<extra>" + plain(name) + "</extra>",
        }
        for number, (name, values) in enumerate(series.items())
    ]
    return go.Figure(lines, _layout(across, dark, legend=len(lines) > 1))


def curve_in_range(
    places: Sequence[int],
    mean: Sequence[float],
    lowest: Sequence[float],
    highest: Sequence[float],
    *,
    across: str,
    dark: bool = False,
) -> go.Figure:
    """Draw a mean with the range around it as a band; where there is no band, all values are the same."""
    there = list(places)
    band = {
        "type": "scatter",
        "mode": "lines",
        "x": there + there[::-1],
        "y": [*highest, *list(lowest)[::-1]],
        "fill": "toself",
        "fillcolor": SHADE,
        "line": {"width": 0},
        "hoverinfo": "skip",
        "name": texts.LOWEST_TO_HIGHEST,
    }
    line = {
        "type": "scatter",
        "mode": "lines",
        "x": there,
        "y": list(mean),
        "name": texts.MEAN,
        "line": {"color": ONE_COLOUR, "width": 2.5},
        "hovertemplate": across + " %{x}: %{y:.3f}<extra></extra>",
    }
    return go.Figure([band, line], _layout(across, dark, legend=True))


def _layout(across: str, dark: bool, *, legend: bool) -> dict[str, object]:
    ink = {"size": 13, "color": INK[dark]}
    axis = {"fixedrange": True, "tickfont": ink, "zeroline": False}
    return {
        "height": HEIGHT,
        "margin": {"l": 0, "r": 10, "t": 8, "b": 0},
        "dragmode": False,
        "showlegend": legend,
        "xaxis": axis | {"title": {"text": across, "font": ink}, "showgrid": False},
        "yaxis": axis | {"automargin": True},
        "legend": {"orientation": "h", "y": -0.24, "yanchor": "top", "x": 0, "font": ink},
        "hoverlabel": {"align": "left"},
    }
