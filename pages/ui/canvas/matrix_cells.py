"""The cells of a row of matrices: how a link writes one, and how its number was computed.

A page sends the origin of a matrix to the browser, which writes the arithmetic of any cell with the numbers themselves.
"""

import re
from dataclasses import dataclass
from typing import Literal, NamedTuple


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


@dataclass(frozen=True)
class Product:
    """A cell is a row of `left` times a column of `right` (its row, where `transposed`), plus the column's bias."""

    left: str
    right: str
    transposed: bool = False
    bias: tuple[float, ...] | None = None
    kind: str = "product"


@dataclass(frozen=True)
class Divided:
    """A cell is the same cell of `of` over `divisor`, which is written as in "√32"."""

    of: str
    divisor: float
    written: str
    kind: str = "divided"


@dataclass(frozen=True)
class MaskedCells:
    """A cell is the same cell of `of`, or −∞ where it is hidden."""

    of: str
    kind: str = "masked"


@dataclass(frozen=True)
class Shares:
    """A cell is its score's share among the scores of its row in `of`."""

    of: str
    how: Literal["softmax", "sparsemax", "hardmax"] = "softmax"
    kind: str = "shares"


@dataclass(frozen=True)
class Added:
    """A cell is the sum of the same cells of some matrices."""

    parts: tuple[str, ...]
    kind: str = "added"


@dataclass(frozen=True)
class Activated:
    """A cell is an activation function, named `how`, of the same cell of `of`."""

    of: str
    how: str
    kind: str = "activation"


@dataclass(frozen=True)
class RowStatistic:
    """A cell is the mean or the variance of its row in `of`."""

    of: str
    kind: Literal["mean", "variance"]


@dataclass(frozen=True)
class Normalised:
    """A cell is the same cell of `of`, less its row's mean, over the root of its row's variance and eps.

    weight and bias: a number a column, by which that is multiplied and to which it is added; None leaves both out.
    """

    of: str
    eps: float
    weight: tuple[float, ...] | None = None
    bias: tuple[float, ...] | None = None
    kind: str = "normalised"


@dataclass(frozen=True)
class ScaledAndShifted:
    """A cell is the same cell of `of` times its column's weight, plus its column's bias."""

    of: str
    weight: tuple[float, ...]
    bias: tuple[float, ...]
    kind: str = "affine"


Origin = Product | Divided | MaskedCells | Shares | Added | Activated | RowStatistic | Normalised | ScaledAndShifted
