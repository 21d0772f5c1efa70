"""One line of the table of measured numbers."""

from typing import NamedTuple


class Row(NamedTuple):
    """What was measured, what came out, what the design allows, and whether that was kept."""

    what: str
    measured: str
    at_most: str
    kept: bool


def markdown(rows: list[Row]) -> str:
    """Write the rows as a table for the README."""
    lines = ["| what | measured | at most |", "|---|---|---|"]
    lines += [f"| {row.what} | {row.measured}{'' if row.kept else ' **missed**'} | {row.at_most} |" for row in rows]
    return "\n".join(lines)
