"""A table as CSV is read back as it was, and no cell of it is run by a spreadsheet."""

import csv
import io

import pandas

from tx_core.analysis.table_file import csv_table

HOSTILE = "=cmd('calc') # \"a\", b\n=HYPERLINK(1)"


def rows_in(file: bytes) -> list[list[str]]:
    return list(csv.reader(io.StringIO(file.decode("utf-8-sig"), newline="")))


def test_pandas_reads_a_table_that_names_its_source_and_no_cell_is_a_formula():
    about = {"text": HOSTILE, "A": {"revision": "r1"}, "notes": ["one", "two"], "pair": ""}
    file = csv_table(about, ("token", "weight"), [(HOSTILE, 0.5), ("#", -0.25)])
    assert rows_in(csv_table({}, [HOSTILE], []))[0] == [f"'{HOSTILE}"]
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
