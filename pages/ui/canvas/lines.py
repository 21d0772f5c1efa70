"""Numbers over the depth of a model as lines: a chart as words and numbers, for the page and for exported figures.

Both are drawn by assets/canvas/lines/line_chart.js; on the page, lines/chart.js shows the numbers of a step.
"""

from collections.abc import Mapping, Sequence

import streamlit as st

from pages.ui.canvas import drawings, texts
from pages.ui.canvas.component import component
from pages.ui.canvas.drawings import Chart
from pages.ui.canvas.figures import DASHES, LINE_COLOURS

MODULE = "lines/chart.js"
MARKERS = ("circle", "square", "diamond", "triangle-up")


def lines_chart(
    title: str,
    steps: Sequence[str],
    series: Mapping[str, Sequence[float]],
    *,
    tall: int = 250,
    limits: tuple[float, float] | None = None,
    band: tuple[Sequence[float], Sequence[float]] | None = None,
    logarithmic: bool = False,
    note: str = "",
) -> Chart:
    """Make a line of each series: one number a step, from the input to the last block.

    tall: pixels from the top to the axis. limits: fixed ends of the axis, so that charts compare; logarithms of ten where it
    is logarithmic. band: the lower and the upper border of a shaded range behind the lines.
    Raises ValueError for a series, or a border, that does not have a number for each step.
    """
    borders = dict(zip(("lower border", "upper border"), band or (), strict=False))
    for name, values in (*series.items(), *borders.items()):
        if len(values) != len(steps):
            raise ValueError(f"every step needs a number, got {len(steps)} steps and {len(values)} numbers of {name}")
    lines = [
        {
            "name": name,
            "values": list(values),
            "colour": LINE_COLOURS[number % len(LINE_COLOURS)],
            "dash": DASHES[number % len(DASHES)],
            "mark": MARKERS[number % len(MARKERS)],
        }
        for number, (name, values) in enumerate(series.items())
    ]
    return {
        "kind": "lines",
        "title": title,
        "steps": list(steps),
        "series": lines,
        "limits": limits,
        "tall": tall,
        "note": note,
        "band": [list(border) for border in band] if band else None,
        "logarithmic": logarithmic,
    }


def show_lines(
    title: str,
    steps: Sequence[str],
    series: Mapping[str, Sequence[float]],
    *,
    key: str,
    step_name: str = texts.BLOCK,
    tall: int = 215,
    limits: tuple[float, float] | None = None,
    band: tuple[Sequence[float], Sequence[float]] | None = None,
    logarithmic: bool = False,
) -> None:
    """Draw lines on the page; whoever points at a step, or comes to it by keyboard, reads each line's number there.

    title: what is seen, for those who cannot see it; the page writes its own over the chart. step_name: how a step is
    called that has a number, as in "block {step}". Everything else is as for `lines_chart`, and so is the ValueError.
    """
    chart = lines_chart(title, steps, series, tall=tall, limits=limits, band=band, logarithmic=logarithmic)
    places = [step_name.format(step=step) if step.isdigit() else step for step in steps]
    drawing = {"alt": lines_in_words(title, series), "places": places, "size": 13, "texts": texts.LINES}
    drawings.note(lambda: [drawings.lines_drawing(chart)])
    component("lines", "lines-view", MODULE, "lines/lines.css", height=309)(key=key, data=chart | drawing)


def lines_in_words(title: str, series: Mapping[str, Sequence[float]]) -> str:
    """Say where each line of a chart begins and ends, for those who cannot see it."""
    ends = (texts.LINE_ENDS.format(name=name, first=values[0], last=values[-1]) for name, values in series.items())
    return texts.LINES_ALT.format(title=title, lines="; ".join(ends))


def draw_lines(
    name: str,
    title: str,
    steps: Sequence[str],
    series: Mapping[str, Sequence[float]],
    limits: tuple[float, float] | None = None,
    *,
    logarithmic: bool = False,
) -> None:
    """Draw a chart of lines over the depth of a model, and say in words what it shows."""
    st.markdown(f"**{title}**")
    show_lines(title, steps, series, limits=limits, logarithmic=logarithmic, key=name)


def depths(num_blocks: int) -> list[str]:
    """Name the depths of a model: its input and each block."""
    return [texts.INPUT, *map(str, range(1, num_blocks + 1))]
