"""Numbers over the depth of a model as lines: arrays and labels in, a plotly figure out."""

from collections.abc import Mapping, Sequence

import plotly.graph_objects as go

from pages.ui.figures import INK, plain

LINE_COLOURS = ("#3f83cf", "#c7722b", "#3a9468", "#a267cf", "#c4577f", "#8c7f2c", "#5f7f8f", "#c0564a")
"""At least 3:1 on the white and on the dark background; dashes and marks tell lines apart without colour."""
SHADE = "rgba(128, 140, 152, 0.22)"
DASHES = ("solid", "dash", "dot", "dashdot")
MARKS = ("circle", "square", "diamond", "triangle-up")


def lines_over_depth(
    steps: Sequence[str],
    series: Mapping[str, Sequence[float]],
    *,
    limits: tuple[float, float] | None = None,
    band: tuple[Sequence[float], Sequence[float]] | None = None,
    logarithmic: bool = False,
    height: int = 270,
    dark: bool = False,
) -> go.Figure:
    """Draw a line for each series: one number a step, from the input to the last block.

    limits: fixed ends of the axis, so that charts compare. band: the lower and the upper border of a shaded range behind
    the lines. dark: the page's background is.
    Raises ValueError for a series, or a border, that does not have a number for each step.
    """
    borders = dict(zip(("lower border", "upper border"), band or (), strict=False))
    for name, values in (*series.items(), *borders.items()):
        if len(values) != len(steps):
            raise ValueError(f"every step needs a number, got {len(steps)} steps and {len(values)} numbers of {name}")
    lines = [
        {
            "type": "scatter", "mode": "lines+markers", "name": plain(name), "customdata": list(steps),
            "x": list(range(len(steps))), "y": list(values),
            "line": {"color": LINE_COLOURS[number % len(LINE_COLOURS)], "dash": DASHES[number % len(DASHES)], "width": 2},
            "marker": {"symbol": MARKS[number % len(MARKS)], "size": 7 if len(steps) < 12 else 5},
            "hovertemplate": "%{customdata}: %{y:.3g}<extra>" + plain(name) + "</extra>",
        }
        for number, (name, values) in enumerate(series.items())
    ]  # fmt: skip
    if band:
        lines.insert(0, _shade(*band))
    every = max(1, (len(steps) - 1) // 6)
    ink = {"size": 13, "color": INK[dark]}
    axis = {"tickfont": ink, "fixedrange": True, "zeroline": False}
    depth = {"tickvals": list(range(0, len(steps), every)), "ticktext": list(steps)[::every], "tickangle": 0, "showgrid": False}
    size = {"type": "log", "dtick": 1, "exponentformat": "power"} if logarithmic else {"type": "linear"}
    layout = {
        "xaxis": axis | depth, "yaxis": axis | size | ({"range": list(limits)} if limits else {}),
        "height": height, "margin": {"l": 0, "r": 12, "t": 6, "b": 24}, "dragmode": False, "showlegend": len(series) > 1,
        "legend": {"orientation": "h", "y": -0.16, "yanchor": "top", "x": 0, "font": ink},
    }  # fmt: skip
    return go.Figure(lines, layout)  # much faster than building it up by plotly's update methods


def _shade(lower: Sequence[float], upper: Sequence[float]) -> dict[str, object]:
    along = list(range(len(lower)))
    return {
        "type": "scatter", "mode": "lines", "x": [*along, *along[::-1]], "y": [*upper, *list(lower)[::-1]], "fill": "toself",
        "fillcolor": SHADE, "line": {"width": 0}, "hoverinfo": "skip", "showlegend": False,
    }  # fmt: skip


def lines_in_words(title: str, series: Mapping[str, Sequence[float]]) -> str:
    """Say where each line of a chart begins and ends, for those who cannot see it."""
    told = "; ".join(f"{name} from {values[0]:.3g} to {values[-1]:.3g}" for name, values in series.items())
    return f"{title}: {told}."
