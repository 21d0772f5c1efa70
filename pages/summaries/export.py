"""What the exports of all parts share: caption, files, web page, and the run that they begin with."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import streamlit as st

from pages.summaries import texts
from pages.ui.canvas.mask_grid import MODULE, STYLE, Matrices
from pages.ui.export.computation import Computation, evaluate, load_call, named, sentences_of
from pages.ui.export.data import DataTable, data_files
from pages.ui.export.figure import charts_page
from pages.ui.export.records import Code, Export, WebPage, file_stem, reading, source
from pages.ui.export.texts import SECOND_SENTENCE, TEXT, WITHOUT_SPECIAL, quoted
from pages.ui.panels.tokens import numbered_tokens
from pages.ui.shell import cache, controls
from pages.ui.shell.level import is_hidden
from tx_core.analysis.weights_file import TableValue
from tx_core.engine.engine import Engine
from tx_core.transformer.trace import Trace


@dataclass(frozen=True)
class Table:
    """Numbers as rows and as arrays, built only when a file is downloaded.

    Attributes:
        axes: describes the axes of the arrays, "" where there are none.
    """

    columns: tuple[str, ...]
    count: int
    rows: Callable[[], list[tuple[TableValue, ...]]]
    arrays: Callable[[], dict[str, np.ndarray]]
    axes: str


def table_of(rows: Sequence[dict[str, TableValue]], axes: str = "", **arrays: np.ndarray) -> Table:
    """Return a table of rows that name their columns."""
    return Table(tuple(rows[0]), len(rows), lambda: [tuple(row.values()) for row in rows], lambda: arrays, axes)


@dataclass(frozen=True)
class Subject:
    """What a summary is of.

    Attributes:
        name: in one line, without the model.
        description: what is shown, in sentences.
        stem: begins the file name.
    """

    trace: Trace
    name: str
    description: str
    stem: str

    @property
    def heading(self) -> str:
        """Return the title: name and model."""
        return texts.HEADING.format(subject=self.name, model=controls.model_title(self.trace.model))

    @property
    def caption(self) -> str:
        """Return the caption: title, sentences, description."""
        source = self.trace.attention.query_tokens
        parts = [f"{self.heading}.", TEXT.format(sentence=quoted(source.text))]
        if source.pair:
            parts.append(SECOND_SENTENCE.format(sentence=quoted(source.pair)))
        if not source.special_tokens:
            parts.append(WITHOUT_SPECIAL)
        return " ".join([*parts, self.description])

    @property
    def about(self) -> dict[str, object]:
        """Return the settings that a reader of the exported numbers needs."""
        read = self.trace.attention.query_tokens
        how = reading(read.special_tokens)
        return source(self.trace.model, text=read.text, pair=read.pair, **how, shown=self.name, description=self.description)


def summary_export(
    subject: Subject, figure: Callable[..., bytes], table: Table, code: Code, web_page: WebPage | None = None
) -> Export:
    """Put an export together. web_page: None for charts, whose page is their drawing above the table."""
    stem = file_stem(subject.stem, subject.trace.model)
    about = {"axes": table.axes} if table.axes else {}
    data = data_files(
        texts.ALL_NUMBERS,
        texts.ROWS.format(count=table.count, columns=", ".join(table.columns)),
        stem,
        table.count * len(table.columns),
        lambda: DataTable(table.columns, table.rows(), table.arrays(), about),
    )
    web_page = web_page or charts_page(figure, table.columns, table.rows)
    return Export(subject.heading, subject.caption, stem, figure, web_page, (data,), code, subject.about)


def matrices_export(subject: Subject, drawn: Matrices, row_name: str, code: Code) -> Export:
    """Return the export of matrices. row_name: "layer" or "query"."""

    def packed(**header: object) -> bytes:
        return drawn.packed(**{"drawing": "matrices"} | header)

    web_page = WebPage(MODULE, (STYLE,), texts.POINT_AT_CELLS, drawn.packed)
    return summary_export(subject, packed, matrix_table(drawn, row_name), code, web_page)


def matrix_table(drawn: Matrices, row_name: str) -> Table:
    """List the cells of matrices, one row each. row_name: "layer" or "query"."""
    names = numbered_tokens(drawn.rows) if drawn.rows == drawn.columns else drawn.rows

    def rows() -> list[tuple[TableValue, ...]]:
        cells = [matrix.cells.tolist() for matrix in drawn.shown]
        return [
            (name, key, *(one[row][column] for one in cells))
            for row, name in enumerate(names)
            for column, key in enumerate(numbered_tokens(drawn.columns))
        ]

    def arrays() -> dict[str, np.ndarray]:
        named = {re.sub(r"\W+", "_", matrix.title.lower()): np.asarray(matrix.cells, np.float64) for matrix in drawn.shown}
        return named | {"rows": np.array(drawn.rows, np.str_), "keys": np.array(drawn.columns, np.str_)}

    columns = (row_name, "key", *(matrix.title for matrix in drawn.shown))
    return Table(columns, len(drawn.rows) * len(drawn.columns), rows, arrays, texts.MATRIX_AXES[row_name])


def show_numbers(key: str, table: Callable[[], Table]) -> None:
    """Offer the numbers of a chart as a table, which is made when it is opened."""
    if is_hidden("tables"):
        return
    folded = st.expander(texts.NUMBERS, key=key, on_change="rerun")
    if folded.open:
        shown = table()
        rows = ((round(cell, 4) if isinstance(cell, float) else cell for cell in row) for row in shown.rows())
        folded.dataframe([dict(zip(shown.columns, row, strict=True)) for row in rows], hide_index=True)


def engine_of(trace: Trace) -> Computation:
    """Return the computation of the engine of a run."""
    return load_call(trace.model, trace.attention.query_tokens.special_tokens)


def trace_call(engine: Computation, trace: Trace, **keywords: object) -> Computation:
    """Return the computation of a run that was made."""
    return named("trace", engine.trace(*sentences_of(trace.attention.query_tokens), **keywords))


def computed(page: str, engine: Engine, trace: Trace, wanted: Computation, *chosen: object) -> Any:
    """Return the result of a computation that has a name, cached. chosen: what it depends on beside the run."""
    read = trace.attention.query_tokens
    key = (page, wanted.variable, cache.engine_key(engine), read.text, read.pair, *chosen)
    return cache.get_or_compute(key, lambda: evaluate(wanted, engine=engine, trace=trace))
