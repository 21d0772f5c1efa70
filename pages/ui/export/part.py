"""A part of a page: what its stage draws, what is said below, and what its numbers are computed of."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from pages.ui.export.menu import export_menu, offer_drawings, offer_tables
from pages.ui.export.records import DataFiles, DataTable, Export, PartNumbers, files_of
from pages.ui.export.texts import NUMBERS, THIS_PART
from pages.ui.shell.fields import StageFields
from pages.ui.shell.frame import explain_computation, show_engine
from pages.ui.stage.background_runs import NO_RUN, OfferedRun
from pages.ui.stage.controls import Conditions, Control
from pages.ui.stage.inputs import PageInputs, explain_problem
from pages.ui.stage.long_runs import runs_shown
from pages.ui.stage.pictures import Picture, pictures_stage, shown_drawings
from tx_core.engine.engine import Engine
from tx_core.engine.notices import collected_notices
from tx_core.errors import ExplorerError

NOTHING = PartNumbers("", {}, ())


@dataclass(frozen=True)
class Part:
    """A part of a page, computed.

    Attributes:
        pictures, partial, run, notes, architecture: of the stage, as `pictures_stage` takes them.
        numbers: what they are computed of; nothing is offered where no computation is named.
        prose: what they show, in Markdown.
        below: draws what else is told behind the words.
        letters: what the letters of the formulas stand for, in Markdown.
        table: makes the table of the numbers; without it, they are those of the drawings.
        files: make further tables of the export, by name.
        controls: of the stage; none for those of its page.
        views: how links to other pages look, as of `page_links`.
        by: the model and the device that the badge names, where not the engine of the page.
    """

    pictures: Sequence[Picture] = ()
    numbers: PartNumbers = NOTHING
    prose: Sequence[str] = ()
    below: Callable[[], None] = lambda: None
    formulas: Sequence[str] = ()
    letters: str = ""
    sources: Sequence[Callable[..., object]] = ()
    table: Callable[[], DataTable] | None = None
    files: Mapping[str, Callable[[], DataFiles]] = field(default_factory=dict)
    partial: Conditions = field(default_factory=dict)
    run: OfferedRun = NO_RUN
    notes: Sequence[str] = ()
    architecture: Mapping[str, object] | None = None
    controls: Sequence[Control] = ()
    views: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    by: tuple[str, str] | None = None


def show_page(
    page: str,
    fields: StageFields,
    badge: DeltaGenerator,
    inputs: PageInputs,
    compute: Callable[[PageInputs, Engine], Part],
    controls: Sequence[Control] = (),
) -> Part:
    """Compute what a page is asked, show it, and return it; or explain why it cannot be, above a stage of the page's controls."""
    try:
        engine = inputs.engine()
        with runs_shown(st.empty()), collected_notices() as notices:
            part = compute(inputs, engine)
    except ExplorerError as problem:
        explain_problem(page, problem)
        pictures_stage(page, fields, controls)
        badge.empty()
        return Part()
    for notice in notices:
        st.info(notice)
    show_part(page, fields, part, controls)
    show_engine(badge, *(part.by or (engine.title, engine.device)))
    return part


def show_part(page: str, fields: StageFields, part: Part, controls: Sequence[Control] = ()) -> None:
    """Draw the stage of a part, explain it, and offer its numbers. controls: where the part has none of its own."""
    numbers = part.numbers
    looks = {name: getattr(part, name) for name in ("notes", "architecture", "partial", "run")}
    pictures_stage(page, fields, part.controls or controls, part.pictures, numbers.title, numbers.source, **looks)
    for paragraph in part.prose:
        st.markdown(paragraph)
    part.below()
    explain_computation(formulas=part.formulas, letters=part.letters, sources=part.sources)
    if part.table:
        offer_tables(page, lambda: [part.table()])
        export_menu(page, {THIS_PART: lambda: part_export(part)})
    elif numbers.shown:
        offer_drawings(page, lambda: numbers, lambda: shown_drawings(page, fields, part.pictures))


def part_export(part: Part) -> Export:
    """Return the export of a part with a table of its own."""
    return Export(part.numbers, {NUMBERS: files_of(part.table())} | {name: make() for name, make in part.files.items()})
