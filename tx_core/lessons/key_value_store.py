"""Keys and values that a reader edits, without the lookup, which needs torch."""

import math
from dataclasses import dataclass

from tx_core.errors import TextProblem

WIDTH = 3
MAX_STORE_ROWS = 12
LARGEST = 10_000.0

VectorRow = tuple[float | int | None, ...]
"""Three numbers; None stands for an empty cell, which `check_row` rejects."""


@dataclass(frozen=True)
class Store:
    """Keys and values of three numbers each.

    Raises TextProblem for invalid numbers, which a visitor edits; the message says what to change.
    """

    keys: tuple[VectorRow, ...]
    values: tuple[VectorRow, ...]

    def __post_init__(self) -> None:
        if not 1 <= len(self.keys) <= MAX_STORE_ROWS:
            raise TextProblem(f"The table needs 1 to {MAX_STORE_ROWS} rows, and has {len(self.keys)}: add or delete some.")
        for kind, rows in (("key", self.keys), ("value", self.values)):
            for number, row in enumerate(rows, start=1):
                check_row(f"{kind} of row {number}", row)


def check_row(name: str, row: VectorRow) -> None:
    """Raise TextProblem unless a row is three finite numbers within ±LARGEST."""
    if len(row) != WIDTH or any(number is None or not math.isfinite(number) for number in row):
        raise TextProblem(f"The {name} needs {WIDTH} numbers: fill the empty cells.")
    if max(abs(number) for number in row) > LARGEST:
        raise TextProblem(f"The {name} has a number beyond ±{LARGEST:,.0f}: make it smaller.")


EXAMPLE = Store(
    keys=((10, 0, 0), (0, 10, 0), (0, 0, 10), (0, 0, 10)),
    values=((1, 0, 0), (10, 0, 0), (100, 5, 0), (1000, 6, 0)),
)
