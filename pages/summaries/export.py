"""The parts of the summaries page for export: each with its drawing, its numbers and its Python."""

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from pages.summaries import snippets
from pages.summaries.subject import Subject, Table, table_of
from pages.ui.canvas.head_kinds import AXES
from pages.ui.canvas.head_table import HeadCell, LegendEntry
from pages.ui.canvas.lines import lines_chart
from pages.ui.canvas.mask_grid import MODULE, STYLE, Matrices
from pages.ui.canvas.plotly_figures import PointKind
from pages.ui.export.data import Cell
from pages.ui.export.figure import Chart, charts_figure, grid_chart, listing_chart, points_chart, signed_chart
from pages.ui.export.records import Code, Export, WebPage
from pages.ui.panels.attention_table import numbered
from pages.ui.shell import controls
from tx_core.analysis import similarity

if TYPE_CHECKING:
    from tx_core.analysis.attribution import Attribution
    from tx_core.analysis.logit_lens import LayerAnswers
    from tx_core.transformer.trace import Trace

COLOURED = "Cells are coloured by the square root of their number, from 0 to 1."
ALIKE_AXES = "alike: a row and a column for each head, in the order of heads (layer-head); places: x and y of each head"


def glance_export(
    trace: "Trace",
    title: str,
    cells: Sequence[Sequence[HeadCell]],
    legend: Sequence[LegendEntry],
    chosen: tuple[int, int],
    rows: Sequence[dict[str, Cell]],
    measured: dict[str, np.ndarray],
) -> Export:
    """Make the table of all heads ready for export."""
    told = "A row for each layer, a column for each head."
    subject = Subject(trace, f"All heads: {title[0].lower()}{title[1:]}", told, "heads")
    picture = charts_figure([grid_chart("", cells, legend, chosen)], f"{title}: a row for each layer, a column for each head")
    code = Code(
        "`kinds`, `spread` and `distance` of every head",
        lambda: snippets.core_glance(subject.heading, trace),
    )
    return subject.export(picture, None, table_of(rows, AXES, **measured), code)


def _matrix_table(drawn: Matrices, row_name: str) -> Table:
    names = numbered(drawn.rows) if drawn.rows == drawn.columns else drawn.rows

    def rows() -> list[tuple[Cell, ...]]:
        cells = [matrix.cells.tolist() for matrix in drawn.shown]
        return [
            (name, key, *(one[row][column] for one in cells))
            for row, name in enumerate(names)
            for column, key in enumerate(numbered(drawn.columns))
        ]

    def arrays() -> dict[str, np.ndarray]:
        named = {re.sub(r"\W+", "_", matrix.title.lower()): np.asarray(matrix.cells, np.float64) for matrix in drawn.shown}
        return named | {"rows": np.array(drawn.rows, np.str_), "keys": np.array(drawn.columns, np.str_)}

    columns = (row_name, "key", *(matrix.title for matrix in drawn.shown))
    axes = f"every matrix: a row for each {row_name}, as in rows, a column for each key, as in keys"
    return Table(columns, len(drawn.rows) * len(drawn.columns), rows, arrays, axes)


def _matrices_export(subject: Subject, drawn: Matrices, row_name: str, code: Code) -> Export:
    def packed(**more: object) -> bytes:
        return drawn.packed(**{"drawing": "matrices"} | more)

    alone = WebPage(MODULE, (STYLE,), "Point at a cell to read its numbers.", drawn.packed)
    subject = replace(subject, told=f"{subject.told} {COLOURED}")
    return subject.export(packed, alone, _matrix_table(drawn, row_name), code)


def layers_export(trace: "Trace", place: int, drawn: Matrices, told: str) -> Export:
    """Make one token's way through the layers ready for export."""
    label = numbered(trace.attention.query_tokens.tokens)[place]
    subject = Subject(trace, f"Attention of {label} through the layers", told, "through-the-layers")
    flows = len(drawn.shown) > 2
    code = Code(
        f"`in_layer`, `rolled`{' and `flow`' if flows else ''}: a row for each layer, a column for each token",
        lambda: snippets.core_layers(subject.heading, trace, place, flows),
    )
    return _matrices_export(subject, drawn, "layer", code)


def values_export(trace: "Trace", head: tuple[int, int], drawn: Matrices, told: str) -> Export:
    """Make weights and what they mix ready for export."""
    named = controls.head_name(head).lower()
    subject = Subject(trace, f"Weights and what is mixed, {named}", f"{told} Rows look, columns are looked at.", "what-is-mixed")
    code = Code(
        "`weights`, `by_values` of this head and `together` of all heads of its layer; every row sums to 1",
        lambda: snippets.core_values(subject.heading, trace, head),
    )
    return _matrices_export(subject, drawn, "query", code)


def alike_export(
    trace: "Trace", found: np.ndarray, chosen: int, near: Sequence[tuple[int, float]], kinds: Sequence[PointKind], told: str
) -> Export:
    """Make the map of like heads, and the nearest ones, ready for export."""
    heads, places = trace.attention.weights.shape[1], similarity.head_map(found)
    numbers = [divmod(number, heads) for number in range(len(found))]
    labels = [f"{layer + 1}-{head + 1}" for layer, head in numbers]
    subject = Subject(trace, "Heads that look alike", f"{told} Points are named layer-head.", "heads-alike")
    rows = [[controls.head_name(numbers[other]), kinds[other].name, f"{share:.3f}"] for other, share in near]
    charts = [
        points_chart("", places, labels, kinds, chosen, [other for other, _ in near]),
        listing_chart(f"Nearest to {controls.head_name(numbers[chosen]).lower()}", ["head", "kind", "alike (0 to 1)"], rows),
    ]
    listed = [
        {
            "layer": layer + 1,
            "head": head + 1,
            "kind": kinds[number].name,
            "x": float(places[number, 0]),
            "y": float(places[number, 1]),
            "alike to the chosen head": float(found[chosen, number]),
        }
        for number, (layer, head) in enumerate(numbers)
    ]
    code = Code(
        "`alike`: how much the chosen head is like every head, counted through the layers",
        lambda: snippets.core_alike(subject.heading, trace, chosen),
    )
    table = table_of(listed, ALIKE_AXES, alike=found, places=places, heads=np.array(labels))
    return subject.export(charts_figure(charts, told), None, table, code)


def lens_export(
    trace: "Trace",
    found: "LayerAnswers",
    head: Sequence[str],
    rows: Sequence[Sequence[str]],
    steps: Sequence[str],
    limits: tuple[float, float],
    told: str,
) -> Export:
    """Make the answers of every layer ready for export."""
    label = numbered(trace.attention.query_tokens.tokens)[found.place]
    subject = Subject(trace, f"Early answers at {label}", told, "early-answers")
    series = {"probability": found.probability.tolist()}
    charts: list[Chart] = [
        listing_chart("", head, rows),
        lines_chart("Probability of the final answer", steps, series, limits=limits, tall=200),
    ]
    depths, many = [row[0] for row in rows], len(found.words[0])
    listed = [
        {
            "depth": depth,
            "place": place + 1,
            "word": word,
            "probability": float(share),
            "probability of the final answer": float(found.probability[number]),
            "its rank": int(found.rank[number]),
        }
        for number, depth in enumerate(depths)
        for place, (word, share) in enumerate(zip(found.words[number], found.shares[number], strict=True))
    ]
    code = Code(
        "`shares` of the favourites after each layer, and `probability` and `rank` of the final answer",
        lambda: snippets.core_lens(subject.heading, trace, found.place, many),
    )
    return subject.export(charts_figure(charts, told), None, table_of(listed), code)


def owed_export(trace: "Trace", found: "Attribution", word: int, charts: dict[str, np.ndarray], told: str) -> Export:
    """Make attention and gradients of a prediction ready for export. word: the entry of the vocabulary."""
    labels = numbered(found.encoding.tokens)
    subject = Subject(trace, f"What “{found.word}” is owed to", told, "attention-and-gradients")
    drawn = [signed_chart(title, labels, values.tolist(), limit=float(np.abs(values).max())) for title, values in charts.items()]
    listed = [
        {"token": label} | {title: float(values[number]) for title, values in charts.items()}
        for number, label in enumerate(labels)
    ]
    code = Code(
        "`attention`, `gradient_input` and `integrated`: a number for each token",
        lambda: snippets.core_owed(subject.heading, trace, found.place, word),
    )
    return subject.export(charts_figure(drawn, told, across=3), None, table_of(listed), code)
