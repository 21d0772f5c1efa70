"""Figures of the summaries: bars to both sides of zero, and heads as points on a map. Arrays and labels in, a figure out."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import plotly.graph_objects as go
import streamlit as st
from jaxtyping import Float, Int

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


MIN_TURN = np.pi / 3.5
"""The smallest angle, in radians, between the directions in which two names stand away from their points."""
NAME_REACH, CHOSEN_NAME_REACH = (23.0, 18.0), (30.0, 24.0)
"""Pixels from a point to the middle of its name, sideways and up or down."""
NAME_BOX = (28, 16)
"""Pixels that a name takes, across and down."""
POINT_SIZE, CHOSEN_POINT_SIZE = 10, 18
"""Pixels that a point takes."""
MAP_SIZES = ((320, 340), (350, 380), (400, 420), (480, 440), (560, 440), (900, 440))
"""Pixels of the map, across and down, from a phone to a wide screen: a name stands where it is free on all of them."""
DETOURS = sorted(
    ((bend * np.pi / 12, 1 + far / 4) for bend in range(-12, 13) for far in range(11)),
    key=lambda detour: abs(detour[0]) + 2 * (detour[1] - 1),
)
"""How far a name turns aside, in radians, and how many times as far it stands away: the smallest change first."""


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

    labels: the heads' names, written at the chosen one and its neighbours; those of the others appear on hover.
    Both axes have the same scale, so that distances can be compared.
    """
    ink = INK[dark]
    points = [
        _points(places, labels, kind, [number for number, one in enumerate(kinds) if one == kind], chosen, ink)
        for kind in dict.fromkeys(kinds)
    ]
    names = [
        {
            "x": float(places[point, 0]),
            "y": float(places[point, 1]),
            "text": plain(labels[point]),
            "font": {"size": 13, "color": ink},
            "borderpad": 0,
            "showarrow": False,
            "xshift": right,
            "yshift": -down,
        }
        for point, (right, down) in name_offsets(places, chosen, neighbours).items()
    ]
    lines = _neighbour_lines(places, chosen, neighbours, ink)
    return go.Figure([lines, *points], _points_layout(ink) | {"annotations": names})


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


def name_offsets(places: Float[np.ndarray, "one axis"], chosen: int, neighbours: Sequence[int]) -> dict[int, tuple[float, float]]:
    """Return where names stand, in pixels to the right of and below their points.

    The name of a neighbour stands on its far side, seen from the chosen point. Neighbours in nearly the same direction get
    names at least `MIN_TURN` apart; that of the chosen point stands opposite to the middle of them all. A name that would
    cover a point or another name turns aside or moves away, as little as it must.
    """
    right, down = (places - places[chosen]).T * [[1.0], [-1.0]]
    away = {point: float(np.arctan2(down[point], right[point])) for point in neighbours}
    turns: dict[int, float] = {}
    for point in sorted(away, key=away.__getitem__):
        turns[point] = max(away[point], max(turns.values(), default=-np.inf) + MIN_TURN)
    excess = np.mean([turns[point] - away[point] for point in turns]) if turns else 0.0
    turns = {point: turn - excess for point, turn in turns.items()}
    middle = np.sum([(np.cos(turn), np.sin(turn)) for turn in away.values()], axis=0) if away else (0.0, 1.0)
    turns[chosen] = float(np.arctan2(-middle[1], -middle[0]))
    screens, offsets = _screens(places), {}
    sizes = np.where(np.arange(len(places)) == chosen, CHOSEN_POINT_SIZE, POINT_SIZE)
    for point, turn in turns.items():
        reach = CHOSEN_NAME_REACH if point == chosen else NAME_REACH
        tried = [_offset(turn + bend, reach, factor) for bend, factor in DETOURS]
        offsets[point] = next((offset for offset in tried if _is_free(screens, sizes, point, offset, offsets)), tried[0])
    return offsets


def _offset(turn: float, reach: tuple[float, float], factor: float) -> tuple[float, float]:
    return factor * reach[0] * float(np.cos(turn)), factor * reach[1] * float(np.sin(turn))


def _screens(places: Float[np.ndarray, "one axis"]) -> list[Float[np.ndarray, "one axis"]]:
    """Return where the points stand on maps of several sizes, in pixels to the right and down."""
    extent = np.ptp(places, axis=0) * 1.1 + 1e-9
    return [places * np.min(np.array(size) / extent) * [1.0, -1.0] for size in MAP_SIZES]


def _is_free(
    screens: Sequence[Float[np.ndarray, "one axis"]],
    sizes: Int[np.ndarray, "one"],
    point: int,
    offset: tuple[float, float],
    others: Mapping[int, tuple[float, float]],
) -> bool:
    """Return whether a name there covers no point and none of the other names, which are given by their offsets.

    sizes: of the points.
    """
    for screen in screens:
        name = screen[point] + offset
        names = np.array([screen[other] + other_offset for other, other_offset in others.items()]).reshape(-1, 2)
        on_points = np.abs(screen - name) < (np.array(NAME_BOX) + sizes[:, None] + 1) / 2
        if on_points.all(axis=1).any() or (np.abs(names - name) < NAME_BOX).all(axis=1).any():
            return False
    return True


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
