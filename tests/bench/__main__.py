"""Measure the design's numbers on this machine: `python -m tests.bench` prints the table of tests/bench/README.md."""

import os
import sys
from datetime import date

import app  # noqa: F401 - it sets this process as the app sets its own
from tests.bench import browser, classes, core, first_picture, visitors

PARTS = (browser, first_picture, core, visitors, classes)
names = sys.argv[1:]
print("| what | measured | at most | date | machine |\n|---|---|---|---|---|")
for part in PARTS:
    for row in part.rows() if not names or part.__name__.rpartition(".")[2] in names else ():
        missed = "" if row.kept else " **missed**"
        print(f"| {row.what} | {row.measured}{missed} | {row.at_most} | {date.today()} | {os.cpu_count()} cores |", flush=True)
