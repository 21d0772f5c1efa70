"""What a stage of matrices is sent: labels, how cells come about, and the numbers that the browser cannot work out."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass

import numpy as np

from pages.ui.canvas.matrix_view import Divided, MaskedCells, Matrix, message
from pages.ui.stage.packing import join

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
