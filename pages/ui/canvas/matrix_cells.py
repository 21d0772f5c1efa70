"""A cell of a row of matrices, and how it is written in a link."""

import re
from typing import NamedTuple


class Cell(NamedTuple):
    """One cell of one matrix, counted from 0."""

    matrix: str
    row: int
    column: int


def cell_to_link(cell: Cell | None) -> str:
    """Write a cell as a reader counts, for an address: ("scores", 3, 1) is "scores-4-2", no cell is "none"."""
    return "none" if cell is None else f"{cell.matrix}-{cell.row + 1}-{cell.column + 1}"


def cell_from_link(text: str) -> Cell | None:
    """Read a cell back from an address; whether it is drawn is for `parse_cell` to say. Raises ValueError for nonsense."""
    if text == "none":
        return None
    found = re.fullmatch(r"([a-z]{1,20})-([1-9][0-9]{0,4})-([1-9][0-9]{0,4})", text, flags=re.ASCII)
    if found is None:
        raise ValueError("cell must be written like scores-4-2, or none")
    return Cell(found[1], int(found[2]) - 1, int(found[3]) - 1)
