"""Matrices of numbers side by side on an own canvas, one cell marked in all."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from jaxtyping import Bool, Float

from pages.ui.canvas import drawings, texts
from pages.ui.canvas.component import component
from pages.ui.canvas.packing import PackedPicture, pack

MODULE, STYLE = "mask_grid/grid.js", "mask_grid/mask_grid.css"


@dataclass(frozen=True)
class Heatmap:
    """One matrix and how its numbers are coloured.

    kind: "mask" (above 0 = may look), "weights" (0 to 1, by their square root) or "signed" (zero in the middle).
    limit: the number, on either side of zero, with the strongest colour. root: colours follow the square root, so
    that small numbers show. alt: what is seen, for those who cannot see it. note: small print below.
    """

    title: str
    kind: Literal["mask", "weights", "signed"]
    cells: Float[np.ndarray, "row column"] | Bool[np.ndarray, "row column"]
    alt: str
    limit: float = 1.0
    root: bool = False
    note: str = ""


@dataclass(frozen=True)
class Naming:
    """How a cell is described by the names of its row and its column, and the hint before any cell is marked.

    numbered: columns have numbers, written upright, for names. axes: what goes down and what goes across, where that is said.
    """

    pair: str = texts.PAIR_OF_NAMES
    hint: str = texts.HOW_TO_READ_CELLS
    numbered: bool = False
    axes: tuple[str, str] | None = None


@dataclass(frozen=True)
class Matrices:
    """Matrices over the same rows and columns, and how they are laid out. across: how many stand side by side.

    tallest: pixels, for matrices that are not square. Raises ValueError for cells that fit no labels.
    """

    rows: tuple[str, ...]
    columns: tuple[str, ...]
    shown: tuple[Heatmap, ...]
    across: int = 3
    naming: Naming = Naming()
    tallest: int = 360

    def __post_init__(self):
        for matrix in self.shown:
            if matrix.cells.shape != (len(self.rows), len(self.columns)):
                size = f"{len(self.rows)} × {len(self.columns)}"
                raise ValueError(f"cells must be {size}, got {matrix.cells.shape} for {matrix.title}")

    def packed(self, **more: object) -> bytes:
        """Return the matrices packed for the canvas; `more` goes into the header."""
        return pack(*self.drawn(**more))

    def drawn(self, **more: object) -> PackedPicture:
        """Return the header, with `more` in it, and the numbers of all matrices."""
        naming = self.naming
        header = {
            "rows": list(self.rows),
            "columns": list(self.columns),
            "square": self.rows == self.columns,
            "panels": [
                {"title": m.title, "kind": m.kind, "alt": m.alt, "limit": max(m.limit, 1e-9), "root": m.root, "note": m.note}
                for m in self.shown
            ],
            "across": self.across,
            "tallest": self.tallest,
            "texts": texts.MATRICES,
            "pair": naming.pair,
            "numbered": naming.numbered,
            "hint": naming.hint,
            "axes": texts.AXES_OF_MATRIX.format(down=naming.axes[0], across=naming.axes[1]) if naming.axes else None,
        }
        return header | more, np.stack([matrix.cells for matrix in self.shown]).astype(np.float32)


def matrices(
    rows: Sequence[str],
    columns: Sequence[str],
    shown: Sequence[Heatmap],
    *,
    key: str,
    across: int = 3,
    naming: Naming = Naming(),
    tallest: int = 360,
) -> Matrices:
    """Draw matrices over the same rows and columns; on a narrow screen the reader picks one by its title. Return what is shown.

    tallest: pixels, for matrices that are not square. Raises ValueError for cells that fit no labels.
    """
    drawn = Matrices(tuple(rows), tuple(columns), tuple(shown), across, naming, tallest)
    drawings.note(lambda: heatmap_drawings(drawn.drawn()))
    component("matrices", "mask-grid", MODULE, STYLE, height=320)(key=key, data=drawn.packed())
    return drawn


def heatmap_drawings(drawn: PackedPicture) -> list[drawings.Drawing]:
    """Return the matrices of a picture one by one, for export."""
    header, numbers = drawn
    rows, columns, axes = header["rows"], header["columns"], header["axes"]
    return [
        drawings.matrix_drawing(
            panel["title"],
            panel["kind"],
            cells.reshape(len(rows), len(columns)),
            rows,
            columns,
            limit=panel["limit"],
            root=panel["root"],
            note=panel["note"],
            axes=axes,
            numbered=header["numbered"],
        )
        for panel, cells in zip(header["panels"], np.asarray(numbers), strict=True)
    ]
