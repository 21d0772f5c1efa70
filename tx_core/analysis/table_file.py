"""Tables as CSV files, for spreadsheets and pandas."""

import csv
import io
import re
from collections.abc import Iterable, Mapping

TableValue = str | float | int | None
MOST = {"csv": 1_000_000, "json": 1_000_000, "npz": 10_000_000}
"""The most numbers in a file of each format: some 40 MB."""
FORMULA = re.compile(r"""(^|[;\t\r\n])([ "]*)([=+\-@＝＋－＠])""")
"""A sign at which a spreadsheet begins a formula: the first of a text, or behind a sign at which some split lines."""


def csv_table(about: Mapping[str, object], columns: Iterable[str], rows: Iterable[Iterable[object]]) -> bytes:
    """Write a table as CSV, preceded by comment lines that describe it: "# model,embedded".

    Read it with `pandas.read_csv(file, comment="#")`. Texts are quoted, because a number sign within quotation marks does not
    start a comment. Where a spreadsheet would begin a formula, a text gets an apostrophe (formula injection), also behind a
    semicolon, tab or line break, at which some split it. Line breaks within comments become spaces.
    """
    written = io.StringIO(newline="")
    csv.writer(written).writerows((f"# {name}", safe_cell(" ".join(value.split()))) for name, value in _flat(about))
    table = csv.writer(written, quoting=csv.QUOTE_NONNUMERIC)
    table.writerow(map(safe_cell, columns))
    table.writerows([safe_cell(cell) for cell in row] for row in rows)
    return written.getvalue().encode("utf-8-sig")  # with a byte order mark, by which Excel recognises UTF-8


def safe_cell(value: TableValue) -> TableValue:
    """Return a cell of which a spreadsheet evaluates no part as a formula."""
    return FORMULA.sub(r"\1\2'\3", value) if isinstance(value, str) else value


def _flat(about: Mapping[str, object], prefix: str = "") -> Iterable[tuple[str, str]]:
    """Yield name and value of every entry that is not empty; a nested mapping is flattened, its names joined."""
    for name, value in about.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{prefix}{name} ")
        elif isinstance(value, list | tuple):
            yield from ((f"{prefix}{name}", str(one)) for one in value)
        elif value not in ("", None):
            yield f"{prefix}{name}", str(value)
