"""Matrices in the order in which they are computed, cells as links write them, and what a stage is sent of both."""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from jaxtyping import Float32
from numpy.typing import ArrayLike

from pages.ui.stage import charts


class Cell(NamedTuple):
    """One cell of one matrix, counted from 0."""

    matrix: str
    row: int
    column: int


def cell_to_link(cell: Cell | None) -> str:
    """Write a cell as a reader counts, for an address: ("scores", 3, 1) is "scores-4-2", no cell is "none"."""
    return "none" if cell is None else f"{cell.matrix}-{cell.row + 1}-{cell.column + 1}"


def cell_from_link(text: str) -> Cell | None:
    """Read a cell back from an address; the browser sees whether it is drawn. Raises ValueError for nonsense."""
    if text == "none":
        return None
    found = re.fullmatch(r"([a-z]{1,20})-([1-9][0-9]{0,4})-([1-9][0-9]{0,4})", text, flags=re.ASCII)
    if found is None:
        raise ValueError("cell must be written like scores-4-2, or none")
    return Cell(found[1], int(found[2]) - 1, int(found[3]) - 1)


Origin = Mapping[str, object]
"""How the cells of a matrix come about: see `cell_origin`."""


def cell_origin(kind: str, *of: str, **how: object) -> Origin:
    """Return how the cells of a matrix come about, of which assets/stage/matrices/sum.js writes the sum behind each.

    of: the names of the matrices that it is made of. kind, with what else it takes in `how`:

    - product: a row of the first times a column of the second (its row: `transposed`), plus the column's number in `bias`;
    - added, subtracted: the same cells of several; divided: the same cell over `divisor`, which is `written` as in "√32";
    - masked, lowered: the same cell, but −∞, or less a penalty, where a mask says no; allowed: a cell of that mask, 0 or −∞;
    - shares: the score's share of its row, by softmax, sparsemax or hardmax (`how`); activation: the function named `how`;
    - mean, variance: of the row; normalised: less the row's mean, over the root of its variance and `eps`, times the column's
      number in `weight` and plus that in `bias`, where there are any.
    """
    return {"kind": kind, "of": of, **how}


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


@dataclass(frozen=True)
class MatrixNames:
    """What the matrices of one computation have in common: the tokens that name their rows, and what is said of each.

    said: title, formula and a sentence for each matrix, by its name. shown: how many columns are drawn of a matrix whose columns
    are dimensions.
    """

    tokens: tuple[str, ...]
    said: Mapping[str, tuple[str, str, str]]
    shown: int

    def by_token(self, name: str, values: ArrayLike, origin: Origin | None = None, **look: object) -> Matrix:
        """Return a matrix with a row of dimensions for each token. look: group, shown and lead of a `Matrix`."""
        title, formula, alt = self.said[name]
        cells = np.ascontiguousarray(values, np.float32)
        columns = numbers_from_1(cells.shape[1])
        about = {"shown": self.shown, "alt": alt} | look
        return Matrix(name, title, formula, cells, self.tokens, columns, "token", "dimension", origin, **about)

    def by_pair(self, name: str, values: ArrayLike, origin: Origin | None = None, group: str = "scores") -> Matrix:
        """Return a matrix with a number for each pair of a query and a key."""
        title, formula, alt = self.said[name]
        cells = np.ascontiguousarray(values, np.float32)
        return Matrix(name, title, formula, cells, self.tokens, self.tokens, "query", "key", origin, group=group, alt=alt)


def operand(name: str, values: ArrayLike) -> Matrix:
    """Return a matrix that is not drawn, only multiplied with."""
    cells = np.ascontiguousarray(values, np.float32)
    rows, columns = map(numbers_from_1, cells.shape)
    return Matrix(name, name, "", cells, rows, columns, "dimension", "dimension", group=name, shown=0)


def numbers_from_1(count: int) -> tuple[str, ...]:
    """Return the names of rows or columns that have none: their numbers."""
    return tuple(str(number) for number in range(1, count + 1))


def matrix_drawings(matrices: Sequence[Matrix]) -> list[charts.Drawing]:
    """Return the matrices that are drawn, with the columns that are drawn of them, for export."""
    found = []
    for matrix in matrices:
        if size := matrix.columns_drawn:
            cells = matrix.values[:, :size]
            title = f"{matrix.title}: {matrix.formula}" if matrix.formula else matrix.title
            rows, columns = matrix.row_names, matrix.column_names[:size]
            found.append(charts.matrix_drawing(title, "signed", cells, rows, columns))
    return found


SHORT = 32767


@dataclass(frozen=True)
class MatrixStep:
    """One step of a computation, as a button of its own.

    Attributes:
        sign: what is done, as a formula writes it.
        title: what comes of it.
        shows: the names of the matrices that are drawn for it with the signs between them: "weights · value = context". A step
            computes those that none before it shows; a reader chooses cells of the first one behind "→" or "=".
        optional: whether the row of steps leaves it out until it is looked at.
        numbers: whether its numbers are always written into the cells.
    """

    name: str
    sign: str
    title: str
    shows: str
    optional: bool = False
    numbers: bool = False


@dataclass(frozen=True)
class MatrixSteps:
    """A computation as matrices, of which a picture shows one step at a time and the sum behind any cell.

    The page has the fields cell and matrices among its looks, and may have numbers and dimensions.

    Attributes:
        names_title: heads the names of the rows.
        first_step: the one that is shown where no cell is chosen; the first where it is empty.
        text: what the rows are of: where it changes, another cell is looked for.
        grows: whether the reader adds the products of a sum one by one.
        made: names of matrices that the browser makes by itself.
        masking: of a head under a mask, what assets/stage/views/masking.js is told.
    """

    matrices: Sequence[Matrix]
    steps: Sequence[MatrixStep] = ()
    names_title: str = ""
    first_step: str = ""
    text: str = ""
    grows: bool = False
    made: Collection[str] = ()
    masking: Mapping[str, object] | None = None


def describe_matrices(drawing: MatrixSteps) -> tuple[dict[str, object], list[np.ndarray]]:
    """Return what a stage is told of a computation, and the numbers that it is sent: each list of names goes once.

    Numbers that are drawn go as they are. Of matrices that only serve in sums go 16-bit parts of their largest number, and
    scores and unmasked scores are left out: the browser divides by itself.
    """
    matrices, steps = drawing.matrices, _described_steps(drawing.steps)
    names = list(dict.fromkeys(names for matrix in matrices for names in (matrix.row_names, matrix.column_names)))
    sent, parts = [], []
    for matrix in matrices:
        form, numbers, scale = ("made", None, 1.0) if matrix.name in drawing.made else _packed(matrix)
        sent.append({**_described(matrix, names), "form": form, "scale": scale})
        parts += [] if numbers is None else [numbers]
    told = {
        "kind": "matrices",
        "title": "",
        "namesTitle": drawing.names_title,
        "text": drawing.text,
        "firstStep": drawing.first_step or (steps[0]["name"] if steps else ""),
        "grows": drawing.grows,
        "masking": drawing.masking,
        "matrices": sent,
        "names": [list(listed) for listed in names],
        "steps": steps,
        "bytes": sum(part.nbytes for part in parts),
    }
    return told, parts


def _described(matrix: Matrix, names: Sequence[tuple[str, ...]]) -> dict[str, object]:
    rows, columns = matrix.values.shape
    plain = ("name", "title", "formula", "group", "lead", "alt")
    return {name: getattr(matrix, name) for name in plain} | {
        "rows": rows,
        "columns": columns,
        "shown": matrix.columns_drawn,
        "rowKind": matrix.row_kind,
        "columnKind": matrix.column_kind,
        "row_names": names.index(matrix.row_names),
        "column_names": names.index(matrix.column_names),
        "origin": matrix.origin,
    }


def _described_steps(steps: Sequence[MatrixStep]) -> list[dict[str, object]]:
    """Return the steps as a stage is told: the matrices of each, what stands before each of them, and those that it computes."""
    told: list[dict[str, object]] = []
    known: set[str] = set()
    for step in steps:
        words = step.shows.split()
        shown = [(word, words[at - 1] if at else "") for at, word in enumerate(words) if re.fullmatch("[a-z]+", word)]
        names = [name for name, _ in shown]
        leads = [before if before not in names else "" for _, before in shown]
        results = [name for at, name in enumerate(names) if {"→", "="} & {*leads[: at + 1]}]
        made = [name for name in (*results, *names) if name not in known]
        known |= {*names}
        told.append(vars(step) | {"shows": names, "leads": leads, "makes": list(dict.fromkeys(made))})
    return told


def _packed(matrix: Matrix) -> tuple[str, np.ndarray | None, float]:
    """Return how the numbers of a matrix are sent, the numbers, and by what the browser multiplies them."""
    kind = matrix.origin and matrix.origin["kind"]
    if kind == "divided" or (kind == "masked" and np.isfinite(matrix.values).all()):
        return "derived", None, 1.0
    if matrix.columns_drawn:
        return "float", matrix.values.astype("<f4"), 1.0
    scale = float(np.abs(matrix.values).max(initial=0.0)) / SHORT or 1.0
    return "short", np.round(matrix.values / scale).astype("<i2"), scale
