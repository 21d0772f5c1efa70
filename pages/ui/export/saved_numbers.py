"""Numbers of a view as files, with all that a reader elsewhere has to be told of them: CSV, JSON and NPZ."""

import csv
import io
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np

from pages.ui.export.exhibit import Numbers
from tx_core.analysis.weights_file import MOST

Cell = str | float | int | None


@dataclass(frozen=True)
class SavedNumbers:
    """A table, the same as arrays, and what they are of.

    about: model, texts, changes and the like, for JSON and NPZ. arrays: by name, the labels of their axes among them;
    without any, each column of the table is one.
    """

    about: Mapping[str, object]
    columns: tuple[str, ...]
    rows: list[tuple[Cell, ...]]
    arrays: Mapping[str, np.ndarray] = field(default_factory=dict)


def number_files(name: str, told: str, file_name: str, size: int, make: Callable[[], SavedNumbers]) -> Numbers:
    """Offer numbers in every kind of file that can hold so many; `make` runs when one is asked for."""
    writers = {"csv": to_csv, "json": to_json, "npz": to_npz}
    files = {form: None if size > MOST[form] else lambda write=write: write(make()) for form, write in writers.items()}
    return Numbers(name, told, file_name, files)


def to_csv(saved: SavedNumbers) -> bytes:
    """Write the table; a text that a spreadsheet would take for a formula gets a ' before it."""
    written = io.StringIO(newline="")
    table = csv.writer(written)
    table.writerow(saved.columns)
    table.writerows([_safe(value) for value in row] for row in saved.rows)
    return written.getvalue().encode("utf-8-sig")  # the mark tells Excel that this is UTF-8


def to_json(saved: SavedNumbers) -> bytes:
    """Write everything as one JSON object; a number that is none, for lack of a partner, is null."""
    table = [dict(zip(saved.columns, row, strict=True)) for row in saved.rows]
    arrays = {name: _listed(array) for name, array in saved.arrays.items()}
    return json.dumps({**saved.about, "table": table, **arrays}, ensure_ascii=False, allow_nan=False).encode("utf-8")


def to_npz(saved: SavedNumbers) -> bytes:
    """Write arrays for numpy, and what they are of as JSON in `about`."""
    arrays = saved.arrays or {name: _column([row[at] for row in saved.rows]) for at, name in enumerate(saved.columns)}
    written = io.BytesIO()
    np.savez_compressed(written, about=np.array(json.dumps(dict(saved.about))), **arrays)
    return written.getvalue()


def _safe(value: Cell) -> Cell:
    """Give a cell as CSV takes it, numbers with as few digits as tell one from another."""
    if isinstance(value, str) and value.startswith(("=", "+", "-", "@", "\t", "\r")):
        return f"'{value}"
    return "" if value is None else value


def _listed(array: np.ndarray) -> list:
    if not np.issubdtype(array.dtype, np.floating):
        return array.tolist()
    shortest = array.astype(str).astype(float) if array.dtype == np.float32 else array  # as few digits as tell them apart
    return np.where(np.isnan(shortest), None, shortest.astype(object)).tolist()


def _column(values: list[Cell]) -> np.ndarray:
    if any(isinstance(value, str) for value in values):
        return np.array(["" if value is None else value for value in values], np.str_)
    return np.array([np.nan if value is None else value for value in values])
