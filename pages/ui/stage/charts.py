"""Charts as the stage draws them (assets/canvas/figure/charts.js), and the same with their numbers, as they are exported."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from pages.ui.shell.numbers import SIGN, percent, points, signed
from pages.ui.stage import texts

Chart = dict[str, object]


@dataclass(frozen=True)
class Drawing:
    """One drawing.

    chart: what a figure draws (assets/canvas/figure/charts.js). rows, columns: the names of the axes of `values`. values: the
    numbers; −∞ where a mask forbids.
    """

    chart: Chart
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    values: Float[np.ndarray, "row column"]

    @property
    def title(self) -> str:
        """The title over the drawing."""
        return str(self.chart["title"])


def matrix_drawing(
    title: str,
    kind: str,
    cells: Float[np.ndarray, "row column"],
    rows: Sequence[str],
    columns: Sequence[str],
    *,
    limit: float = 1.0,
    root: bool = False,
    note: str = "",
    axes: str | None = None,
    numbered: bool = False,
) -> Drawing:
    """Draw a matrix as cells.

    kind: "weights" (0 to 1, by their square root), "signed" (zero in the middle) or "mask" (1 = allowed, 0 = forbidden).
    limit: the number, on either side of zero, with the strongest colour. root: colours follow the square root, so that small
    numbers show. note: small print below.
    """
    values = np.asarray(cells, np.float64)
    shown = [[float(f"{value:.6g}") if np.isfinite(value) else None for value in row] for row in values]
    chart = {
        "kind": "matrix",
        "title": title,
        "colouring": kind,
        "rows": list(rows),
        "columns": list(columns),
        "square": tuple(rows) == tuple(columns),
        "cells": shown,
        "limit": max(limit, 1e-9),
        "root": root,
        "note": note,
        "axes": axes,
        "numbered": numbered,
    }
    return Drawing(chart, tuple(rows), tuple(columns), values)


def numbered_once(names: Sequence[str]) -> tuple[str, ...]:
    """Number names of which several are the same, so that each is found: "the (2)"."""
    seen: dict[str, count] = {}
    numbers = [next(seen.setdefault(name, count(1))) for name in names]
    return tuple(name if names.count(name) == 1 else f"{name} ({number})" for name, number in zip(names, numbers, strict=True))


ONE_COLOUR = "#3f83cf"
"""At least 3:1 on the white and on the dark background."""
LINE_COLOURS = ("#3f83cf", "#c7722b", "#3a9468", "#a267cf", "#c4577f", "#8c7f2c", "#5f7f8f", "#c0564a")
"""At least 3:1 on the white and on the dark background; dashes and marks tell lines apart without colour."""
DASHES = ("solid", "dash", "dot", "dashdot")
BELOW_ZERO = "#c7722b"
"""At least 3:1 on the white and on the dark background, and distinct from blue with any kind of colour vision."""
INK = {False: "#0f1720", True: "#e8edf2"}
"""Text, on a light and on a dark background; as in .streamlit/config.toml."""
BACKGROUND = {False: "#ffffff", True: "#10151b"}
"""The page, light and dark; as in .streamlit/config.toml."""
PAPER = {
    name: {"--st-background-color": BACKGROUND[dark], "--st-text-color": INK[dark]}
    for name, dark in (("light", False), ("dark", True))
}
"""The colours of a figure, by its background."""


def bars_end(most: float) -> float:
    """Return where the axis of bars ends: at the first round share that the largest fits into."""
    return next((end for end in (0.1, 0.25, 0.5) if most <= end), 1.0)


def bars_drawing(title: str, labels: Sequence[str], shares: Sequence[float], *, limit: float) -> Drawing:
    """Draw a horizontal bar of each label, the first on top, with its share in words at its end.

    shares: 0 to 1. limit: where the axis ends, the same for all charts that are compared. Raises ValueError when there
    are not as many labels as shares.
    """
    if len(labels) != len(shares):
        raise ValueError(f"every share needs a label, got {len(shares)} and {len(labels)}")
    chart = {
        "kind": "bars",
        "title": title,
        "labels": list(labels),
        "values": [min(share, limit) for share in shares],
        "shares": list(shares),
        "ends": [percent(share) for share in shares],
        "colours": [ONE_COLOUR],
        "names": True,
        "from": 0,
        "to": limit,
        "ticks": _shares_of(limit),
        "cut": [share > limit for share in shares],
    }
    return Drawing(chart, tuple(labels), ("probability",), np.array(shares, np.float64).reshape(-1, 1))


def moved_drawing(
    title: str,
    labels: Sequence[str],
    before: Sequence[float],
    after: Sequence[float],
    *,
    limit: float,
    sides: tuple[str, str] = (texts.BEFORE, texts.AFTER),
) -> Drawing:
    """Draw a row of each label: its share before in outline, after filled, an arrow between, both numbers and the difference.

    Shares and limit are as for `bars_drawing`. sides: what the two shares are of, where they are not before and after.
    """
    pairs = list(zip(before, after, strict=True))
    chart = {
        "kind": "moved",
        "title": title,
        "labels": list(labels),
        "ends": [_two_shares(*pair) for pair in pairs],
        "deltas": [points(other - one) for one, other in pairs],
        "delta": texts.DELTA,
        "sides": list(sides),
        "colour": ONE_COLOUR,
        "to": limit,
        "before": [min(one, limit) for one, _ in pairs],
        "after": [min(other, limit) for _, other in pairs],
        "ticks": _shares_of(limit),
        "cut": [[share > limit for share in pair] for pair in pairs],
    }
    return Drawing(chart, tuple(labels), sides, np.array(pairs, np.float64).reshape(-1, 2))


def _two_shares(before: float, after: float) -> str:
    """Write two shares, with one percent sign where both have one."""
    one, other = percent(before), percent(after)
    return f"{one.removesuffix(SIGN) if other.endswith(SIGN) else one} → {other}"


def _shares_of(limit: float) -> list[dict[str, object]]:
    return [{"at": share, "text": f"{100 * share:.3g}{SIGN}"} for share in (0, limit / 2, limit)]


MARKERS = ("circle", "square", "diamond", "triangle-up")


def lines_drawing(
    title: str,
    steps: Sequence[str],
    series: Mapping[str, Sequence[float]],
    *,
    tall: int = 250,
    limits: tuple[float, float] | None = None,
    band: tuple[Sequence[float], Sequence[float]] | None = None,
    logarithmic: bool = False,
    note: str = "",
) -> Drawing:
    """Draw a line of each series: one number a step, from the input to the last block.

    tall: pixels from the top to the axis. limits: fixed ends of the axis, so that charts compare; logarithms of ten where it
    is logarithmic. band: the lower and the upper border of a shaded range behind the lines.
    Raises ValueError for a series, or a border, that does not have a number for each step.
    """
    borders = dict(zip(("lower border", "upper border"), band or (), strict=False))
    for name, values in (*series.items(), *borders.items()):
        if len(values) != len(steps):
            raise ValueError(f"every step needs a number, got {len(steps)} steps and {len(values)} numbers of {name}")
    chart = {
        "kind": "lines",
        "title": title,
        "steps": list(steps),
        "series": [_line(name, values, number) for number, (name, values) in enumerate(series.items())],
        "limits": limits,
        "tall": tall,
        "note": note,
        "band": [list(border) for border in band] if band else None,
        "logarithmic": logarithmic,
    }
    return Drawing(chart, tuple(series), tuple(steps), np.array(list(series.values()), np.float64).reshape(len(series), -1))


def _line(name: str, values: Sequence[float], number: int) -> dict[str, object]:
    """Describe a line of a chart; its number tells it apart by colour, dashes and marks."""
    return {
        "name": name,
        "values": list(values),
        "colour": LINE_COLOURS[number % len(LINE_COLOURS)],
        "dash": DASHES[number % len(DASHES)],
        "mark": MARKERS[number % len(MARKERS)],
    }


def depths(num_blocks: int) -> list[str]:
    """Return the labels of a model's depths: its input and each block."""
    return [texts.INPUT, *map(str, range(1, num_blocks + 1))]


def signed_drawing(
    title: str,
    labels: Sequence[str],
    values: Sequence[float],
    *,
    limit: float,
    intervals: Sequence[tuple[float, float]] = (),
) -> Drawing:
    """Draw bars to both sides of zero.

    limit: where the axis ends on the right; on the left it ends with the lowest bar or whisker.
    intervals: a whisker for each bar.
    """
    chart = {
        "kind": "bars",
        "title": title,
        "labels": list(labels),
        "values": list(values),
        "names": True,
        "from": min(0.0, *values, *(low for low, _ in intervals)),
        "to": limit or 1.0,
        "ends": list(map(signed, values)),
        "ticks": [{"at": 0, "text": "0"}],
        "colours": [ONE_COLOUR if value >= 0 else BELOW_ZERO for value in values],
        "intervals": [list(ends) for ends in intervals],
    }
    return Drawing(chart, tuple(labels), (title,), np.array(values, np.float64).reshape(-1, 1))


class PointKind(NamedTuple):
    """What points of one kind look like on a map."""

    name: str
    colour: str
    symbol: str


def kinds_of_points(kinds: Sequence[PointKind]) -> list[dict[str, object]]:
    """Return the kinds of some points as a chart has them, each with the numbers of its points."""
    members = {kind: [number for number, one in enumerate(kinds) if one == kind] for kind in dict.fromkeys(kinds)}
    return [kind._asdict() | {"members": numbers} for kind, numbers in members.items()]


def listing_drawing(
    title: str = "",
    head: Sequence[str] = (),
    rows: Sequence[Sequence[str]] = (),
    numbers: Float[np.ndarray, "row column"] | None = None,
) -> Drawing:
    """Draw a small table of words. numbers: of the cells behind the first of each row, for export; None where there are none."""
    chart = {"kind": "listing", "title": title, "head": list(head), "rows": [list(row) for row in rows]}
    if numbers is None:
        return Drawing(chart, (), (), np.empty((0, 0)))
    return Drawing(chart, tuple(row[0] for row in rows), tuple(head[1:]), numbers)
