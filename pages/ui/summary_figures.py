"""Figures of the summaries: bars to both sides of zero, and heads as points on a map. Arrays and labels in, a figure out."""

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go
from jaxtyping import Float

from pages.ui.figures import BAR_HEIGHT, INK, ONE_COLOUR, plain

BELOW_ZERO = "#c7722b"
"""At least 3:1 on the white and on the dark background, and told from blue with any kind of colour vision."""


def signed_bars(
    labels: Sequence[str], values: Sequence[float], *, limit: float, names: bool = True, dark: bool = False
) -> go.Figure:
    """Draw a horizontal bar for each label, to the right above zero and to the left below; the number at its end.

    limit: where the axis ends on a side that is used. names: write the labels, which charts side by side need only once.
    Raises ValueError when there are not as many labels as values.
    """
    if len(labels) != len(values):
        raise ValueError(f"every value needs a label, got {len(values)} and {len(labels)}")
    rows, most = list(range(len(labels))), limit or 1.0
    least = -most if min(values, default=0.0) < 0 else 0.0
    bars = {
        "type": "bar", "orientation": "h", "x": list(values), "y": rows,
        "marker": {"color": [ONE_COLOUR if value >= 0 else BELOW_ZERO for value in values], "line": {"width": 0}},
        "text": [f"{value:.2f}".replace("-", "−") for value in values], "textposition": "outside", "cliponaxis": False,
        "textfont": {"size": 13, "color": INK[dark]}, "customdata": [plain(label) for label in labels],
        "hovertemplate": "%{customdata}: %{x:.4f}<extra></extra>",
    }  # fmt: skip
    axis = {"fixedrange": True, "tickfont": {"size": 13, "color": INK[dark]}, "zeroline": True, "showgrid": False}
    layout = {
        "xaxis": axis | {"range": [least * 1.3, most * 1.3], "nticks": 4},
        "yaxis": axis | {"tickvals": rows, "ticktext": [plain(label) + "  " for label in labels], "showticklabels": names,
                         "range": [len(rows) - 0.5, -0.5], "automargin": True, "zeroline": False},
        "height": BAR_HEIGHT * len(rows) + 40, "bargap": 0.3, "margin": {"l": 0, "r": 8, "t": 4, "b": 28},
        "dragmode": False, "showlegend": False, "hoverlabel": {"align": "left"},
    }  # fmt: skip
    return go.Figure([bars], layout)


def head_points(
    places: Float[np.ndarray, "one axis"],
    labels: Sequence[str],
    hover: Sequence[str],
    colours: Sequence[str],
    chosen: int,
    neighbours: Sequence[int],
    *,
    dark: bool = False,
) -> go.Figure:
    """Draw every head as a point with its name; the chosen one ringed, and lines to its neighbours.

    Both axes have the same scale, so that distances can be compared in any direction.
    """
    ink = INK[dark]
    lines = {
        "type": "scatter", "mode": "lines", "hoverinfo": "skip", "line": {"color": ink, "width": 1.2, "dash": "dot"},
        "x": [number for other in neighbours for number in (places[chosen, 0], places[other, 0], None)],
        "y": [number for other in neighbours for number in (places[chosen, 1], places[other, 1], None)],
    }  # fmt: skip
    points = {
        "type": "scatter", "mode": "markers+text", "x": places[:, 0].tolist(), "y": places[:, 1].tolist(),
        "text": list(labels), "textposition": "top center", "textfont": {"size": 12, "color": ink},
        "marker": {"size": [15 if number == chosen else 10 for number in range(len(labels))], "color": list(colours),
                   "line": {"color": ink, "width": [2.5 if number == chosen else 0.5 for number in range(len(labels))]}},
        "customdata": [plain(text) for text in hover], "hovertemplate": "%{customdata}<extra></extra>",
    }  # fmt: skip
    axis = {"fixedrange": True, "showticklabels": False, "zeroline": False, "showgrid": False}
    layout = {
        "xaxis": axis, "yaxis": axis | {"scaleanchor": "x"}, "height": 460, "margin": {"l": 4, "r": 4, "t": 4, "b": 4},
        "dragmode": False, "showlegend": False, "hoverlabel": {"align": "left"},
    }  # fmt: skip
    return go.Figure([lines, points], layout)
