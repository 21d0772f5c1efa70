"""How a cell of a matrix came about: what a page tells the browser, which writes the arithmetic with the numbers themselves."""

from dataclasses import dataclass
from typing import Literal


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
class Masked:
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
class Bent:
    """A cell is what a function, named as a reader calls it, makes of the same cell of `of`."""

    of: str
    how: str
    kind: str = "bent"


@dataclass(frozen=True)
class OfRow:
    """A cell is the mean or the variance of its row in `of`."""

    of: str
    kind: Literal["mean", "variance"]


@dataclass(frozen=True)
class Normed:
    """A cell is the same cell of `of`, less its row's mean, over the root of its row's variance and eps.

    weight and bias: a number a column, by which that is multiplied and to which it is added; None leaves both out.
    """

    of: str
    eps: float
    weight: tuple[float, ...] | None = None
    bias: tuple[float, ...] | None = None
    kind: str = "normed"


@dataclass(frozen=True)
class Stretched:
    """A cell is the same cell of `of` times its column's weight, plus its column's bias."""

    of: str
    weight: tuple[float, ...]
    bias: tuple[float, ...]
    kind: str = "stretched"


Origin = Product | Divided | Masked | Shares | Added | Bent | OfRow | Normed | Stretched
