"""A table as CSV is read back as it was, and no cell of it is run by a spreadsheet."""

import csv
import io

import pandas
from hypothesis import given, settings
from hypothesis import strategies as st

from tx_core.analysis.table_file import csv_table

LABELS = st.text(st.characters(exclude_categories=["Cs"]), max_size=12).map("1 {}".format)
HOSTILE = "=cmd('calc') # \"a\", b\n=HYPERLINK(1)"


def rows_in(file: bytes) -> list[list[str]]:
    return list(csv.reader(io.StringIO(file.decode("utf-8-sig"), newline="")))


@settings(max_examples=60)
@given(st.lists(st.tuples(LABELS, st.floats(0, 1)), max_size=5))
def test_labels_and_numbers_come_back_as_they_were(rows: list[tuple[str, float]]):
    """Line breaks, quotes, commas, zero bytes and right-to-left marks included."""
    _, header, *read = rows_in(csv_table({"model": "m"}, ("token", "weight"), rows))
    assert header == ["token", "weight"]
    assert [(label, float(weight)) for label, weight in read] == rows


def test_pandas_reads_a_table_that_names_its_source_and_no_cell_is_a_formula():
    about = {"text": HOSTILE, "A": {"revision": "r1"}, "notes": ["one", "two"], "pair": ""}
    file = csv_table(about, ("token", "weight"), [(HOSTILE, 0.5), ("#", -0.25)])
    table = pandas.read_csv(io.BytesIO(file), comment="#")
    assert (table["token"].tolist(), table["weight"].tolist()) == ([f"'{HOSTILE}", "#"], [0.5, -0.25])
    rows = rows_in(file)
    assert rows[:4] == [
        ["# text", "'" + " ".join(HOSTILE.split())],
        ["# A revision", "r1"],
        ["# notes", "one"],
        ["# notes", "two"],
    ]
    assert not [cell for row in rows for cell in row if cell[:1] in "=+-@" and not cell[1:2].isdigit()]
