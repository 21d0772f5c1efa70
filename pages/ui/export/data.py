"""The numbers of a view as CSV, JSON and NPZ files."""

import csv
import io
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np
import streamlit as st

from pages.ui.export import texts
from pages.ui.export.records import DataFiles, Export
from pages.ui.shell.address import widget_binding, widget_key
from tx_core.analysis.weights_file import MOST

Cell = str | float | int | None
MIME_TYPES = {"csv": "text/csv", "json": "application/json", "npz": "application/octet-stream"}


@dataclass(frozen=True)
class DataTable:
    """A table and the same numbers as arrays.

    Attributes:
        about: model, texts, changes and the like, for JSON and NPZ.
        columns, rows: the table.
        arrays: by name, with the labels of their axes among them; without any, each column becomes an array.
    """

    about: Mapping[str, object]
    columns: tuple[str, ...]
    rows: list[tuple[Cell, ...]]
    arrays: Mapping[str, np.ndarray] = field(default_factory=dict)


def show_data(page: str, export: Export) -> None:
    """Offer the files; a view with several sets of numbers lets the reader choose one."""
    data = export.data[0]
    if len(export.data) > 1:
        data = _choose_data(page, export)
    st.caption(data.description)
    with st.container(horizontal=True):
        for form, write in data.files.items():
            st.download_button(
                texts.SAVE_AS.format(form=form.upper()),
                write or b"",
                f"{data.file_name}.{form}",
                MIME_TYPES[form],
                key=widget_key(page, f"data_{form}"),
                on_click="ignore",
                icon=":material/download:",
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
    files = {form: None if size > MOST[form] else lambda write=write: write(make()) for form, write in writers.items()}
    return DataFiles(name, description, file_name, files)


def to_csv(saved: DataTable) -> bytes:
    """Write the table; a text that a spreadsheet would take for a formula gets a leading apostrophe."""
    written = io.StringIO(newline="")
    table = csv.writer(written)
    table.writerow(saved.columns)
    table.writerows([_safe(value) for value in row] for row in saved.rows)
    return written.getvalue().encode("utf-8-sig")  # the mark tells Excel that this is UTF-8


def to_json(saved: DataTable) -> bytes:
    """Write everything as one JSON object; a missing number is null."""
    table = [dict(zip(saved.columns, row, strict=True)) for row in saved.rows]
    arrays = {name: _listed(array) for name, array in saved.arrays.items()}
    return json.dumps({**saved.about, "table": table, **arrays}, ensure_ascii=False, allow_nan=False).encode("utf-8")


def to_npz(saved: DataTable) -> bytes:
    """Write numpy arrays, and `about` as JSON."""
    arrays = saved.arrays or {name: _column([row[at] for row in saved.rows]) for at, name in enumerate(saved.columns)}
    written = io.BytesIO()
    np.savez_compressed(written, about=np.array(json.dumps(dict(saved.about))), **arrays)
    return written.getvalue()


def _safe(value: Cell) -> Cell:
    if isinstance(value, str) and value.startswith(("=", "+", "-", "@", "\t", "\r")):
        return f"'{value}"
    return "" if value is None else value


def _listed(array: np.ndarray) -> list:
    if not np.issubdtype(array.dtype, np.floating):
        return array.tolist()
    # The fewest digits that restore a float32.
    shortest = array.astype(str).astype(float) if array.dtype == np.float32 else array
    return np.where(np.isnan(shortest), None, shortest.astype(object)).tolist()


def _column(values: list[Cell]) -> np.ndarray:
    if any(isinstance(value, str) for value in values):
        return np.array(["" if value is None else value for value in values], np.str_)
    return np.array([np.nan if value is None else value for value in values])
