"""Figures of the summaries: bars to both sides of zero, and heads as points on a map. Arrays and labels in, a figure out."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import plotly.graph_objects as go
import streamlit as st
from jaxtyping import Float

from pages.ui.canvas.charts import BAR_HEIGHT, BELOW_ZERO, INK, ONE_COLOUR, QUIET, plain
from pages.ui.shell.address import is_presented

PROJECTOR_SCALE, TEXT_SIZE = 2, 13
"""How much larger texts are on a projector, and the size in pixels of those that have none of their own."""


def signed_bars(labels: Sequence[str], values: Sequence[float], *, limit: float, dark: bool = False) -> go.Figure:
    """Draw a horizontal bar for each label, to the right above zero and to the left below; the number at its end.

    limit: where the axis ends on a side that is used.
    Raises ValueError when there are not as many labels as values.
    """
    if len(labels) != len(values):
        raise ValueError(f"every value needs a label, got {len(values)} and {len(labels)}")
    rows, most = list(range(len(labels))), limit or 1.0
    least = -most if min(values, default=0.0) < 0 else 0.0
    bars = {
        "type": "bar",
        "orientation": "h",
        "x": list(values),
        "y": rows,
        "marker": {"color": [ONE_COLOUR if value >= 0 else BELOW_ZERO for value in values], "line": {"width": 0}},
        "text": [f"{value:.2f}".replace("-", "−") for value in values],
        "textposition": "outside",
        "cliponaxis": False,
        "textfont": {"size": 13, "color": INK[dark]},
        "customdata": [plain(label) for label in labels],
        "hovertemplate": "%{customdata}: %{x:.4f}<extra></extra>",
    }
    return go.Figure([bars], _bars_layout(labels, (least * 1.3, most * 1.3), INK[dark]))


def _bars_layout(labels: Sequence[str], ends: tuple[float, float], ink: str) -> dict[str, object]:
    axis = {"fixedrange": True, "tickfont": {"size": 13, "color": ink}, "zeroline": True, "showgrid": False}
    rows = {
        "tickvals": list(range(len(labels))),
        "ticktext": [plain(label) + "  " for label in labels],
        "range": [len(labels) - 0.5, -0.5],
        "automargin": True,
        "zeroline": False,
    }
    return {
        "xaxis": axis | {"range": ends, "nticks": 4},
        "yaxis": axis | rows,
        "height": BAR_HEIGHT * len(labels) + 40,
        "bargap": 0.3,
        "margin": {"l": 0, "r": 8, "t": 4, "b": 28},
        "dragmode": False,
        "showlegend": False,
        "hoverlabel": {"align": "left"},
    }


POINT_SIZE, CHOSEN_POINT_SIZE = 10, 18
"""Pixels that a point takes."""
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


def head_points(
    places: Float[np.ndarray, "one axis"],
    labels: Sequence[str],
    kinds: Sequence[PointKind],
    chosen: int,
    neighbours: Sequence[int],
    *,
    dark: bool = False,
) -> go.Figure:
    """Draw every head as a point, colour and shape by its kind; the chosen one large, with lines to its neighbours.

    labels: the heads' names; that of the chosen one is written beside it, the others appear on hover.
    Both axes have the same scale, so that distances can be compared.
    """
    ink = INK[dark]
    points = [
        _points(places, labels, kind, [number for number, one in enumerate(kinds) if one == kind], chosen, ink)
        for kind in dict.fromkeys(kinds)
    ]
    right, down = name_offset(places, chosen)
    name = {
        "x": float(places[chosen, 0]),
        "y": float(places[chosen, 1]),
        "text": plain(labels[chosen]),
        "font": {"size": 13, "color": ink},
        "borderpad": 0,
        "showarrow": False,
        "xshift": right,
        "yshift": -down,
    }
    lines = _neighbour_lines(places, chosen, neighbours, ink)
    return go.Figure([lines, *points], _points_layout(ink) | {"annotations": [name]})


def _neighbour_lines(
    places: Float[np.ndarray, "one axis"], chosen: int, neighbours: Sequence[int], ink: str
) -> dict[str, object]:
    """Draw a dotted line from the chosen point to each of its neighbours."""
    ends = [(places[chosen, axis], places[other, axis], None) for axis in (0, 1) for other in neighbours]
    return {
        "type": "scatter",
        "mode": "lines",
        "hoverinfo": "skip",
        "line": {"color": ink, "width": 1.2, "dash": "dot"},
        "x": [number for end in ends[: len(neighbours)] for number in end],
        "y": [number for end in ends[len(neighbours) :] for number in end],
        "showlegend": False,
    }


def _points_layout(ink: str) -> dict[str, object]:
    axis = {"fixedrange": True, "showticklabels": False, "zeroline": False, "showgrid": False}
    return {
        "xaxis": axis,
        "yaxis": axis | {"scaleanchor": "x"},
        "height": 480,
        "margin": {"l": 4, "r": 4, "t": 4, "b": 4},
        "dragmode": False,
        "hoverlabel": {"align": "left"},
        "showlegend": True,
        "legend": {
            "orientation": "h",
            "y": -0.02,
            "yanchor": "top",
            "x": 0,
            "font": {"size": 13, "color": ink},
            "itemclick": False,
            "itemdoubleclick": False,
            "itemsizing": "constant",
        },
    }


def name_offset(places: Float[np.ndarray, "one axis"], chosen: int) -> tuple[float, float]:
    """Return where the chosen point's name stands, in pixels to its right and below: where it is farthest from all others."""
    scale = MAP_PIXELS / (np.ptp(places, axis=0).max() + 1e-9)
    others = np.delete(places - places[chosen], chosen, axis=0) * scale * [1, -1]
    tried = [(NAME_REACH[0] * np.cos(turn), NAME_REACH[1] * np.sin(turn)) for turn in np.arange(16) * np.pi / 8]
    right, down = max(tried, key=lambda offset: np.hypot(*(others - offset).T).min(initial=np.inf))
    return float(right), float(down)


def _points(
    places: Float[np.ndarray, "one axis"], labels: Sequence[str], kind: PointKind, members: Sequence[int], chosen: int, ink: str
) -> dict[str, object]:
    sizes = [CHOSEN_POINT_SIZE if number == chosen else POINT_SIZE for number in members]
    return {
        "type": "scatter",
        "mode": "markers",
        "name": plain(kind.name),
        "x": places[members, 0].tolist(),
        "y": places[members, 1].tolist(),
        "marker": {
            "size": sizes,
            "color": kind.colour,
            "symbol": kind.symbol,
            "line": {"color": ink, "width": [2.5 if size > POINT_SIZE else 0.5 for size in sizes]},
        },
        "customdata": [labels[number] for number in members],
        "hovertemplate": "layer-head %{customdata}: " + plain(kind.name) + "<extra></extra>",
    }


def show_plotly(figure: go.Figure, *, key: str, alt: str) -> None:
    """Show a figure; on a projector as tall as the screen, with larger texts, since it cannot be enlarged as a whole."""
    if is_presented():
        st.plotly_chart(for_projector(figure), key=key, config=QUIET, alt=alt, height="stretch")
    else:
        st.plotly_chart(figure, key=key, config=QUIET, alt=alt)


def for_projector(figure: go.Figure) -> go.Figure:
    """Return a figure for the projector: texts and margins of twice the size, and no height of its own."""
    enlarged = _enlarged(figure.to_dict())
    del enlarged["layout"]["height"]
    enlarged["layout"]["font"] = {"size": PROJECTOR_SCALE * TEXT_SIZE}
    return go.Figure(enlarged)


def _enlarged(part: object, name: str = "") -> object:
    """Enlarge the sizes of texts, margins and shifts in a part of a figure."""
    if isinstance(part, int | float):
        return PROJECTOR_SCALE * part
    if not isinstance(part, dict):
        return [_enlarged(one) for one in part] if name in ("data", "annotations") else part
    sized = name.endswith("font") or name == "margin"
    inner = {key: value for key, value in part.items() if isinstance(value, dict) or key in ("data", "annotations")}
    numbers = {key: value for key, value in part.items() if isinstance(value, int | float) and (sized or key.endswith("shift"))}
    return part | {key: _enlarged(value, key) for key, value in (inner | numbers).items()}
