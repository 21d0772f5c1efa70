"""The numbers of a view as tables on the page, and as CSV, JSON and NPZ files."""

import io
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

import numpy as np
import streamlit as st

from pages.ui.export import texts
from pages.ui.export.records import DataFiles, Export
from pages.ui.shell.address import is_offered, widget_binding, widget_key
from pages.ui.shell.controls import download_button
from pages.ui.stage.sources import Source
from tx_core.analysis.weights_file import MOST, TableValue, csv_table

MOST_SHOWN = 5000
"""Rows of a table on the page: the files hold all."""


@dataclass(frozen=True)
class DataTable:
    """A table and the same numbers as arrays.

    Attributes:
        columns, rows: the table.
        arrays: by name, with the labels of their axes among them; without any, each column becomes an array.
        about: what is to be known of the numbers beside the source of the view.
        note: stands above the table on the page.
    """

    columns: tuple[str, ...]
    rows: list[tuple[TableValue, ...]]
    arrays: Mapping[str, np.ndarray] = field(default_factory=dict)
    about: Mapping[str, object] = field(default_factory=dict)
    note: str = ""


def table_of(rows: Sequence[Mapping[str, TableValue]], note: str = "", axes: str = "", **arrays: np.ndarray) -> DataTable:
    """Return a table of rows that name their columns. axes: describes the axes of the arrays."""
    about = {"axes": axes} if axes else {}
    return DataTable(tuple(rows[0]), [tuple(row.values()) for row in rows], arrays, about, note)


def offer_tables(
    page: str, make: Callable[[], Sequence[DataTable]], title: str = texts.NUMBERS_TABLE, *, name: str = "table"
) -> None:
    """Offer numbers as tables, which are made only when their box is opened. name: tells several boxes of a page apart."""
    if not is_offered("tables"):
        return
    folded = st.expander(title, key=widget_key(page, name), on_change="rerun")
    if not folded.open:
        return
    with folded:
        for table in make():
            if table.note:
                st.caption(table.note)
            rows = [dict(zip(table.columns, row, strict=True)) for row in table.rows[:MOST_SHOWN]]
            numbers = {name for row in rows for name, value in row.items() if isinstance(value, float)}
            shown = {name: st.column_config.NumberColumn(format="%.4g") for name in numbers}
            st.dataframe(rows, hide_index=True, column_config=shown)
            if len(table.rows) > MOST_SHOWN:
                st.caption(texts.TABLE_CUT.format(shown=MOST_SHOWN, all=len(table.rows)))


def show_data(page: str, export: Export) -> None:
    """Offer the files; a view with several sets of numbers lets the reader choose one."""
    data = export.data[0]
    if len(export.data) > 1:
        data = _choose_data(page, export)
    st.caption(f"{data.description} {texts.EVERY_FILE}")
    with st.container(horizontal=True):
        for form, write in data.files.items():
            download_button(
                texts.SAVE_AS.format(form=form.upper()),
                partial(write, export.source) if write else b"",
                f"{data.file_name}.{form}",
                key=widget_key(page, f"data_{form}"),
                disabled=write is None,
            )
    if None in data.files.values():
        st.info(texts.TOO_LARGE.format(**MOST))


def _choose_data(page: str, export: Export) -> DataFiles:
    names, key = [one.name for one in export.data], widget_key(page, "data_scope")
    if st.session_state.get(key) not in names:
        st.session_state[key] = names[0]
    st.segmented_control(texts.ASK_DATA, names, required=True, **widget_binding(key))
    return export.data[names.index(st.session_state[key])]


def data_files(name: str, description: str, file_name: str, size: int, make: Callable[[], DataTable]) -> DataFiles:
    """Offer `size` numbers in every format that may hold so many; `make` runs when a file is downloaded."""
    writers = {"csv": to_csv, "json": to_json, "npz": to_npz}
    files = {
        form: None if size > MOST[form] else lambda source, write=write: write(make(), source) for form, write in writers.items()
    }
    return DataFiles(name, description, file_name, files)


def table_files(name: str, description: str, file_name: str, table: DataTable) -> DataFiles:
    """Offer a table in every format. description: with placeholders for the count of its rows and for its columns."""
    written = description.format(count=len(table.rows), columns=", ".join(table.columns))
    return data_files(name, written, file_name, len(table.rows) * len(table.columns), lambda: table)


def to_csv(saved: DataTable, source: Source) -> bytes:
    """Return the table as CSV, below comment lines that name its source."""
    return csv_table({**source, **saved.about}, saved.columns, saved.rows)


def to_json(saved: DataTable, source: Source) -> bytes:
    """Write everything as one JSON object; a missing number is null."""
    table = [dict(zip(saved.columns, row, strict=True)) for row in saved.rows]
    arrays = {name: _listed(array) for name, array in saved.arrays.items()}
    entries = {**source, **saved.about, "table": table, **arrays}
    return json.dumps(entries, ensure_ascii=False, allow_nan=False).encode("utf-8")


def to_npz(saved: DataTable, source: Source) -> bytes:
    """Write numpy arrays, and everything else as JSON in `about`."""
    arrays = saved.arrays or {name: _column([row[at] for row in saved.rows]) for at, name in enumerate(saved.columns)}
    written = io.BytesIO()
    np.savez_compressed(written, about=np.array(json.dumps({**source, **saved.about})), **arrays)
    return written.getvalue()


def _listed(array: np.ndarray) -> list:
    if not np.issubdtype(array.dtype, np.floating):
        return array.tolist()
    # The fewest digits that restore a float32.
    shortest = array.astype(str).astype(float) if array.dtype == np.float32 else array
    return np.where(np.isnan(shortest), None, shortest.astype(object)).tolist()


def _column(values: list[TableValue]) -> np.ndarray:
    if any(isinstance(value, str) for value in values):
        return np.array(["" if value is None else value for value in values], np.str_)
    return np.array([np.nan if value is None else value for value in values])
