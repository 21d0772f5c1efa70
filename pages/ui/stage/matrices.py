"""Matrices in the order in which they are computed, each knowing how its cells come about; cells as links write them; and what a
stage is sent of both: labels, origins, and the numbers that the browser cannot work out.
"""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Literal, NamedTuple

import numpy as np
from jaxtyping import Float32

from pages.ui.stage import charts
from pages.ui.stage.packing import join


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
class Subtracted:
    """A cell is the same cell of the first of two matrices, less that of the second."""

    parts: tuple[str, str]
    kind: str = "subtracted"


@dataclass(frozen=True)
class Allowed:
    """A cell of a mask: 0 where a query may attend to a key, −∞ where it may not."""

    kind: str = "allowed"


@dataclass(frozen=True)
class Lowered:
    """A cell is the same cell of `of`, less a penalty where a mask says no."""

    of: str
    kind: str = "lowered"


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


Origin = Product | Divided | MaskedCells | Shares | Added | Subtracted | Allowed | Lowered | Activated | RowStatistic | Normalised


@dataclass(frozen=True)
class Matrix:
    """One matrix, its labels, and how its cells come about.

    name: for links and origins, a word. lead: what stands before it, as in "→". alt: a sentence on it.
    shown: how many columns are drawn; None for all, 0 for a matrix that only serves in sums.
    group: matrices of one group share the limit of their colours; "shares" ends at 1.
    row_kind, column_kind: what a row and a column are, as in "query" and "key".
    """

    name: str
    title: str
    formula: str
    values: Float32[np.ndarray, "row column"]
    row_names: tuple[str, ...]
    column_names: tuple[str, ...]
    row_kind: str
    column_kind: str
    origin: Origin | None = None
    group: str = "numbers"
    shown: int | None = None
    lead: str = "→"
    alt: str = ""

    def __post_init__(self) -> None:
        if self.values.shape != (len(self.row_names), len(self.column_names)):
            raise ValueError(
                f"{self.name} must be row × column, got {self.values.shape} for "
                f"{len(self.row_names)} and {len(self.column_names)} names"
            )

    @property
    def columns_drawn(self) -> int:
        """How many columns are on the screen."""
        columns = self.values.shape[1]
        return columns if self.shown is None else min(self.shown, columns)


def matrix_drawings(matrices: Sequence[Matrix]) -> list[charts.Drawing]:
    """Return the matrices that are drawn, with the columns that are drawn of them, for export."""
    found = []
    for matrix in matrices:
        if size := matrix.columns_drawn:
            cells = matrix.values[:, :size]
            finite = np.abs(cells[np.isfinite(cells)])
            limit = float(finite.max(initial=0.0))
            kind, limit = {"shares": ("weights", 1.0), "mask": ("mask", 1.0)}.get(matrix.group, ("signed", limit))
            cells = np.isfinite(cells) if kind == "mask" else cells
            title = f"{matrix.title}: {matrix.formula}" if matrix.formula else matrix.title
            rows, columns = matrix.row_names, matrix.column_names[:size]
            found.append(charts.matrix_drawing(title, kind, cells, rows, columns, limit=limit, root=True))
    return found


def message(matrices: Sequence[Matrix]) -> tuple[dict[str, object], Float32[np.ndarray, "number"]]:
    """Return what a stage is sent: labels and origins, each list of names once; and all numbers in a row."""
    names = list(dict.fromkeys(names for matrix in matrices for names in (matrix.row_names, matrix.column_names)))
    header = {
        "matrices": [_described(matrix, names) for matrix in matrices],
        "names": [list(listed) for listed in names],
    }
    return header, np.concatenate([matrix.values.ravel() for matrix in matrices])


def _described(matrix: Matrix, names: Sequence[tuple[str, ...]]) -> dict[str, object]:
    rows, columns = matrix.values.shape
    plain = ("name", "title", "formula", "row_kind", "column_kind", "group", "lead", "alt")
    return {name: getattr(matrix, name) for name in plain} | {
        "rows": rows,
        "columns": columns,
        "shown": matrix.columns_drawn,
        "row_names": names.index(matrix.row_names),
        "column_names": names.index(matrix.column_names),
        "origin": matrix.origin and asdict(matrix.origin),
    }


MATRICES_STAGE = "matrices"
SHORT = 32767


@dataclass(frozen=True)
class MatrixStep:
    """One step of a computation, as a button of its own.

    Attributes:
        name: for links.
        sign: what is done, as a formula writes it.
        title: what comes of it.
        shows: the names of the matrices that are drawn for it.
        leads: what stands before each of them.
        makes: those of them that the step computes; the first is the one whose cells a reader chooses.
        optional: whether the row of steps leaves it out until it is looked at.
        numbers: whether its numbers are always written into the cells.
    """

    name: str
    sign: str
    title: str
    shows: tuple[str, ...]
    leads: tuple[str, ...]
    makes: tuple[str, ...]
    optional: bool = False
    numbers: bool = False


def pack_matrices(
    header: Mapping[str, object], matrices: Sequence[Matrix], steps: Sequence[MatrixStep] = (), made: Collection[str] = ()
) -> bytes:
    """Pack matrices for a stage. header: what else it is told. made: names of matrices that the browser makes by itself."""
    told, parts = describe_matrices(matrices, steps, made)
    return join(told | header, parts)


def describe_matrices(
    matrices: Sequence[Matrix], steps: Sequence[MatrixStep] = (), made: Collection[str] = ()
) -> tuple[dict[str, object], list[np.ndarray]]:
    """Return what a stage is told of matrices and of the steps that compute them, and the numbers that it is sent.

    Numbers that are drawn go as they are. Of matrices that only serve in sums go 16-bit parts of their largest number, and
    scores and unmasked scores are left out: the browser divides by itself.
    """
    described, _ = message(matrices)
    sent, parts = [], []
    for matrix, one in zip(matrices, described["matrices"], strict=True):
        form, numbers, scale = ("made", np.empty(0), 1.0) if matrix.name in made else _packed(matrix)
        sent.append({**one, "form": form, "scale": scale})
        parts += [numbers] if form not in ("derived", "made") else []
    first = steps[0].name if steps else ""
    written = [asdict(step) for step in steps]
    return {"firstStep": first, "matrices": sent, "names": described["names"], "steps": written}, parts


def _packed(matrix: Matrix) -> tuple[str, np.ndarray, float]:
    """Return how the numbers of a matrix are sent, the numbers, and by what the browser multiplies them."""
    if isinstance(matrix.origin, Divided) or (isinstance(matrix.origin, MaskedCells) and np.isfinite(matrix.values).all()):
        return "derived", np.empty(0, np.float32), 1.0
    if matrix.columns_drawn:
        return "float", matrix.values.astype("<f4"), 1.0
    scale = float(np.abs(matrix.values).max(initial=0.0)) / SHORT or 1.0
    return "short", np.round(matrix.values / scale).astype("<i2"), scale
