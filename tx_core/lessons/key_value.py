"""Attention as a soft dictionary lookup: a query is compared with every key, and the result is a mix of the values."""

import math
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from tx_core.errors import TextProblem
from tx_core.transformer.attention import attend

DIVISOR = 8.0
"""√64, as for keys of 64 dimensions; it suits the size of the numbers in the example's keys."""
WIDTH = 3
MAX_STORE_ROWS = 12
LARGEST = 10_000.0

VectorRow = tuple[float | int | None, ...]
"""Three numbers; None stands for an empty cell, which `check_row` rejects."""


@dataclass(frozen=True)
class Store:
    """Keys and values of three numbers each.

    Raises:
        TextProblem: For invalid numbers, which a visitor edits; the message says what to change.
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


@dataclass(frozen=True)
class LookupResult:
    """The result of a lookup: dot products, scores, weights, and the mix of the values."""

    matches: Float[Tensor, "1 key"]
    scores: Float[Tensor, "1 key"]
    weights: Float[Tensor, "1 key"]
    result: Float[Tensor, "1 value_dim"]


def look_up(store: Store, query: VectorRow, divisor: float = DIVISOR) -> LookupResult:
    """Look up a query: `attend` with scores divided by the divisor (Vaswani et al. 2017, section 3.2.1).

    Raises:
        TextProblem: If the query is not three usable numbers.
    """
    check_row("query", query)
    queries, keys, values = (torch.tensor(rows, dtype=torch.float32) for rows in ([query], store.keys, store.values))
    result, weights, scores = attend(queries, keys, values, scale=1 / divisor)
    return LookupResult(queries @ keys.T, scores, weights, result)
