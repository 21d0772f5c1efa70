"""What a page shows, ready to be carried away: its picture, its numbers, its page, its Python. Made only when asked for."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Alone:
    """What makes a stand-alone web page of a view.

    module, styles: of the drawing, by their paths below `assets/canvas`. told: what a reader can do in it.
    data: what the view's own component is sent. columns, rows: a table that stands below what cannot be pointed at.
    document: writes the whole page, where others' code draws the view.
    """

    module: str
    styles: tuple[str, ...]
    told: str
    data: Callable[[], bytes]
    columns: tuple[str, ...] = ()
    rows: Callable[[], list[tuple]] = list
    document: Callable[[], str] | None = None


@dataclass(frozen=True)
class Numbers:
    """Files of numbers. name: which numbers. told: what is in them. file_name: without its ending.

    files: by the ending, what writes the file, or None where it would be too large.
    """

    name: str
    told: str
    file_name: str
    files: Mapping[str, Callable[[], bytes] | None]


@dataclass(frozen=True)
class Python:
    """Code that computes what is shown, with this project and, for attention and predictions, with transformers alone.

    told: what each ends with. library: None where there is none. why_not: what `library` leaves out.
    """

    told: str
    core: Callable[[], str]
    library: Callable[[], str] | None = None
    why_not: str = ""


@dataclass(frozen=True)
class Exhibit:
    """One view of a page. picture: packs it for the figure, what else is given going into its header; None without one."""

    title: str
    caption: str
    file_name: str
    picture: Callable[..., bytes] | None
    alone: Alone | None
    numbers: tuple[Numbers, ...]
    python: Python


Offered = Mapping[str, Callable[[], Exhibit]]
"""The views of a page by their names; none is made before the reader asks for it."""
