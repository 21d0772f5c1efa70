"""A table as CSV is read back as it was, and no cell of it is run by a spreadsheet."""

import csv
import io

import pandas

from tx_core.analysis.table_file import csv_table

HOSTILE = "=cmd('calc') # \"a\", b\n=HYPERLINK(1)"
WRITTEN = "'=cmd('calc') # \"a\", b\n'=HYPERLINK(1)"


def rows_in(file: bytes) -> list[list[str]]:
    return list(csv.reader(io.StringIO(file.decode("utf-8-sig"), newline="")))


def test_pandas_reads_a_table_that_names_its_source_and_no_cell_is_a_formula():
    about = {"text": HOSTILE, "A": {"revision": "r1"}, "notes": ["one", "two"], "pair": ""}
    file = csv_table(about, ("token", "weight"), [(HOSTILE, 0.5), ("#", -0.25)])
    assert rows_in(csv_table({}, [HOSTILE], []))[0] == [WRITTEN]
    table = pandas.read_csv(io.BytesIO(file), comment="#")
    assert (table["token"].tolist(), table["weight"].tolist()) == ([WRITTEN, "#"], [0.5, -0.25])
    rows = rows_in(file)
    assert rows[:4] == [
        ["# text", "'" + " ".join(HOSTILE.split())],
        ["# A revision", "r1"],
        ["# notes", "one"],
        ["# notes", "two"],
    ]
    assert not [cell for row in rows for cell in row if cell[:1] in "=+-@" and not cell[1:2].isdigit()]


def test_no_part_of_a_cell_is_a_formula_wherever_a_spreadsheet_splits_it():
    texts = ("x;=1+1", 'x;"=1+1', "x\n=1+1", "x\r @SUM(1)", "a\t+1", ";;-1", "＝1+1", '"=1+1')
    written = csv_table({"text": "a;=1+1"}, ("text", "x;=1"), [(text, 0.5) for text in texts]).decode("utf-8-sig")
    for split in (";", "\t", "\n"):
        cells = [cell.strip(' "') for line in written.splitlines() for cell in line.split(split)]
        assert [cell for cell in cells if cell.startswith(tuple("=+-@＝"))] == []
    assert rows_in(csv_table({}, ["a; b - c = d, e-mail"], []))[0] == ["a; b - c = d, e-mail"]
