"""What a part of the page is once it is computed: its pictures, and what is said of it below them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from pages.ui.stage.pictures import Picture


@dataclass(frozen=True)
class Part:
    """A part of a block, computed.

    Attributes:
        pictures: what the stage draws.
        text: in words, in Markdown.
        formulas: in LaTeX.
        sources: functions and classes that compute it.
        below: draws what else is to be told.
    """

    pictures: Sequence[Picture]
    text: str
    formulas: Sequence[str]
    sources: Sequence[Callable]
    below: Callable[[], None]
