"""A part of a Build page for export: the numbers of whatever it drew as a table and as files, and its code."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType

import numpy as np

from pages.ui.export import texts
from pages.ui.export.computation import Computation
from pages.ui.export.data import DataTable, data_files, offer_tables
from pages.ui.export.menu import export_menu
from pages.ui.export.records import Code, Export, Exports
from pages.ui.stage.browser_texts import PICTURES
from pages.ui.stage.charts import Drawing, numbered_once
from pages.ui.stage.sources import Source, title_stem
from tx_core.analysis.weights_file import TableValue

COLUMNS = tuple(PICTURES["csvHead"])


@dataclass(frozen=True)
class PartNumbers:
    """What a part of a page shows.

    Attributes:
        title: in one line.
        source: what was computed and with which settings, as `records.source` names it where there is a model.
        shown: the computations of the numbers.
        result: what their code ends with, in one sentence.
    """

    title: str
    source: Source
    shown: Sequence[Computation]
    result: str

    @property
    def code(self) -> Code:
        """The code of the numbers."""
        return Code(self.result, lambda: self.shown)


def offer_drawings(
    page: str,
    lesson: Callable[[], PartNumbers],
    draw: Callable[[], Sequence[Drawing]],
    place: str = "",
    more: Exports = MappingProxyType({}),
) -> None:
    """Offer drawings as a table and for export; they are made once one of both is opened.

    place: tells several such parts of a page apart. more: other views of the same menu.
    """
    name = f"{page}_{place}" if place else page
    offer_tables(name, lambda: [DataTable(COLUMNS, table_rows(draw()))], name="export_table")
    exports = {texts.THIS_PART: lambda: drawings_export(lesson(), draw()), **more}
    export_menu(page, exports, texts.TITLE_WITHOUT_STAGE if place else texts.TITLE, place=place)


def drawings_export(lesson: PartNumbers, drawings: Sequence[Drawing]) -> Export:
    """Return the export of what a part of a page drew."""
    size = sum(drawing.values.size for drawing in drawings)
    stem = title_stem(lesson.title, lesson.source)
    data = data_files(
        texts.NUMBERS, texts.NUMBERS_DESCRIPTION.format(count=size), stem, size * len(COLUMNS), partial(_table, drawings)
    )
    return Export(lesson.title, stem, (data,), lesson.code, lesson.source)


def table_rows(drawings: Sequence[Drawing]) -> list[tuple[TableValue, ...]]:
    """Return every number of some drawings as a row; None where a mask forbids."""
    rows = []
    for title, drawing in zip(numbered_once([one.title for one in drawings]), drawings, strict=True):
        names, columns = numbered_once(drawing.rows), numbered_once(drawing.columns)
        for name, numbers in zip(names, drawing.values.tolist(), strict=True):
            rows += [(title, name, column, _finite(number)) for column, number in zip(columns, numbers, strict=True)]
    return rows


def _finite(number: float) -> float | None:
    return number if np.isfinite(number) else None


def _table(drawings: Sequence[Drawing]) -> DataTable:
    arrays = {}
    titles = numbered_once([drawing.title for drawing in drawings])
    for place, (title, drawing) in enumerate(zip(titles, drawings, strict=True), start=1):
        name = re.sub(r"\W+", "_", title.lower()).strip("_")[:60] or "drawing"
        finite = np.where(np.isfinite(drawing.values), drawing.values, np.nan)
        arrays |= {f"{place}_{name}": finite, f"{place}_rows": np.array(drawing.rows, np.str_)}
        arrays[f"{place}_columns"] = np.array(drawing.columns, np.str_)
    return DataTable(COLUMNS, table_rows(drawings), arrays, {"axes": texts.DRAWINGS_AXES})
