"""One line of the table of measured numbers."""

import os
from datetime import date
from typing import NamedTuple


class Row(NamedTuple):
    """What was measured, what came out, what the design allows, and whether that was kept."""

    what: str
    measured: str
    at_most: str
    kept: bool


def markdown(rows: list[Row]) -> str:
    """Return the rows as the table of README.md, dated today; what else ran on the machine is for the reader to add."""
    lines = ["| what | measured | at most | date | machine |", "|---|---|---|---|---|"]
    where = f"{date.today()} | {os.cpu_count()} cores"
    for row in rows:
        lines.append(f"| {row.what} | {row.measured}{'' if row.kept else ' **missed**'} | {row.at_most} | {where} |")
    return "\n".join(lines)
