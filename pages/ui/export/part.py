"""A part of a page: what its stage draws, what is said below, and what its numbers are computed of."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import streamlit as st

from pages.ui.export.menu import export_menu, offer_drawings, offer_tables
from pages.ui.export.records import DataTable, PartNumbers, table_export
from pages.ui.export.texts import THIS_PART
from pages.ui.shell.address import StageFields
from pages.ui.shell.frame import explain_computation
from pages.ui.stage.background_runs import NO_RUN, OfferedRun
from pages.ui.stage.controls import Conditions, Control
from pages.ui.stage.pictures import About, Picture, pictures_stage, shown_drawings


@dataclass(frozen=True)
class Part:
    """A part of a page, computed.

    Attributes:
        pictures, partial: of the stage, as `pictures_stage` takes them.
        numbers: what they are computed of; nothing is offered where no computation is named.
        prose: what they show, in Markdown.
        below: draws what else is told behind the words.
        letters: what the letters of the formulas stand for, in Markdown.
        table: makes the table of the numbers; without it, they are those of the drawings.
    """

    pictures: Sequence[Picture]
    numbers: PartNumbers
    prose: Sequence[str]
    below: Callable[[], None] = lambda: None
    formulas: Sequence[str] = ()
    letters: str = ""
    sources: Sequence[Callable[..., object]] = ()
    table: Callable[[], DataTable] | None = None
    partial: Conditions = field(default_factory=dict)


def show_part(
    page: str,
    fields: StageFields,
    controls: Sequence[Control],
    part: Part,
    architecture: Mapping[str, object] | None = None,
    run: OfferedRun = NO_RUN,
) -> None:
    """Draw the stage of a part, explain it, and offer its numbers.

    architecture: as of `About`. run: as of `pictures_stage`.
    """
    numbers = part.numbers
    about = About(numbers.title, numbers.source, architecture=architecture)
    pictures_stage(page, fields, controls, part.pictures, about, part.partial, run)
    for paragraph in part.prose:
        st.markdown(paragraph)
    part.below()
    explain_computation(formulas=part.formulas, letters=part.letters, sources=part.sources)
    if part.table:
        offer_tables(page, lambda: [part.table()])
        export_menu(page, {THIS_PART: lambda: table_export(numbers, part.table())})
    elif numbers.shown:
        offer_drawings(page, lambda: numbers, lambda: shown_drawings(page, fields, part.pictures))
