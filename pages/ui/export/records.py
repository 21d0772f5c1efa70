"""What a page offers for export. Every file is written only when the reader asks for it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class WebPage:
    """A stand-alone web page of a view.

    Attributes:
        module, styles: of the drawing, by their paths below `assets/canvas`.
        description: what a reader can do on the page, in one sentence.
        data: packs what the view's own component is sent.
        columns, rows: a table below the drawing, for drawings without a pointer.
        document: writes the whole page instead, where other people's code draws the view.
    """

    module: str
    styles: tuple[str, ...]
    description: str
    data: Callable[[], bytes]
    columns: tuple[str, ...] = ()
    rows: Callable[[], list[tuple]] = list
    document: Callable[[], str] | None = None


@dataclass(frozen=True)
class DataFiles:
    """The same numbers as files of several formats.

    Attributes:
        name: which numbers, where a view has several sets.
        description: what is in the files.
        file_name: without its suffix.
        files: by suffix, the function that writes the file; None where the file would be too large.
    """

    name: str
    description: str
    file_name: str
    files: Mapping[str, Callable[[], bytes] | None]


@dataclass(frozen=True)
class Code:
    """Python that computes what is shown.

    Attributes:
        result: what the code ends with, in one sentence.
        project: writes the code that uses this project.
        transformers: writes the code that uses the transformers library only; None where there is none.
        omitted: what the transformers code leaves out, "" for nothing.
    """

    result: str
    project: Callable[[], str]
    transformers: Callable[[], str] | None = None
    omitted: str = ""


@dataclass(frozen=True)
class Export:
    """One view of a page in every form.

    Attributes:
        title, caption: one line, and what stands below a figure.
        file_name: without its suffix.
        figure: packs the drawing; keyword arguments go into its header. None where there is no figure.
    """

    title: str
    caption: str
    file_name: str
    figure: Callable[..., bytes] | None
    web_page: WebPage
    data: tuple[DataFiles, ...]
    code: Code


Exports = Mapping[str, Callable[[], Export]]
"""The views of a page by name; none is made before the reader chooses it."""
