"""What a page draws: charts of a figure, with the numbers behind them."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import count

import numpy as np
from jaxtyping import Bool, Float

Chart = dict[str, object]


@dataclass(frozen=True)
class Drawing:
    """One drawing.

    Attributes:
        chart: what a figure draws (assets/canvas/figure/charts.js).
        rows, columns: the names of the axes of `values`.
        values: the numbers; −∞ where a mask forbids.
    """

    chart: Chart
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    values: Float[np.ndarray, "row column"]

    @property
    def title(self) -> str:
        """The title over the drawing."""
        return str(self.chart["title"])


def lines_drawing(chart: Chart) -> Drawing:
    """Return the numbers of a line chart (`charts.lines_chart`), for export."""
    series = chart["series"]
    names, values = tuple(one["name"] for one in series), [one["values"] for one in series]
    return Drawing(chart, names, tuple(chart["steps"]), np.array(values, np.float64).reshape(len(names), -1))


def bars_drawing(chart: Chart) -> Drawing:
    """Return the numbers of a bar chart (`charts.probability_chart`, or `charts.moved_chart`, two per bar), for export."""
    if chart["kind"] == "moved":
        return Drawing(chart, tuple(chart["labels"]), tuple(chart["sides"]), np.array([chart["before"], chart["after"]]).T)
    return Drawing(chart, tuple(chart["labels"]), ("probability",), np.array(chart["shares"], np.float64).reshape(-1, 1))


def matrix_drawing(
    title: str,
    kind: str,
    cells: Float[np.ndarray, "row column"] | Bool[np.ndarray, "row column"],
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

    kind: "mask" (1 = may look, 0 = may not), "weights" (0 to 1, by their square root) or "signed" (zero in the middle).
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
