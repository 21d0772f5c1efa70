"""Tables as CSV files, for spreadsheets and pandas."""

import csv
import io
from collections.abc import Iterable, Mapping

TableValue = str | float | int | None
MOST = {"csv": 1_000_000, "json": 1_000_000, "npz": 10_000_000}
"""The most numbers in a file of each format: some 40 MB."""
FORMULA_SIGNS = ("=", "+", "-", "@", "\t", "\r")
"""Characters at which a spreadsheet starts a formula."""


def csv_table(about: Mapping[str, object], columns: Iterable[str], rows: Iterable[Iterable[object]]) -> bytes:
    """Write a table as CSV, preceded by comment lines that describe it: "# model,embedded".

    Read it with `pandas.read_csv(file, comment="#")`. Texts are quoted, because a number sign within quotation marks does not
    start a comment. A text that a spreadsheet would take for a formula gets a leading apostrophe (formula injection); line
    breaks within comments become spaces.
    """
    written = io.StringIO(newline="")
    csv.writer(written).writerows((f"# {name}", safe_cell(" ".join(value.split()))) for name, value in _flat(about))
    table = csv.writer(written, quoting=csv.QUOTE_NONNUMERIC)
    table.writerow(map(safe_cell, columns))
    table.writerows([safe_cell(cell) for cell in row] for row in rows)
    return written.getvalue().encode("utf-8-sig")  # with a byte order mark, by which Excel recognises UTF-8


def safe_cell(value: TableValue) -> TableValue:
    """Return a cell that a spreadsheet does not evaluate as a formula."""
    return f"'{value}" if isinstance(value, str) and value.startswith(FORMULA_SIGNS) else value


def _flat(about: Mapping[str, object], prefix: str = "") -> Iterable[tuple[str, str]]:
    """Yield name and value of every entry that is not empty; a nested mapping is flattened, its names joined."""
    for name, value in about.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{prefix}{name} ")
        elif isinstance(value, list | tuple):
            yield from ((f"{prefix}{name}", str(one)) for one in value)
        elif value not in ("", None):
            yield f"{prefix}{name}", str(value)
