"""What a summary is of, and its numbers, for its export."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from pages.ui.export.data import Cell, DataTable, data_files
from pages.ui.export.figure import charts_page
from pages.ui.export.records import Code, Export, WebPage
from pages.ui.export.texts import quoted
from pages.ui.shell import controls
from pages.ui.shell.plain_names import file_stem

if TYPE_CHECKING:
    from tx_core.transformer.trace import Trace


@dataclass(frozen=True)
class Table:
    """Numbers as rows, how many, and as arrays where they have axes, which `axes` tells; written down only when asked for."""

    columns: tuple[str, ...]
    count: int
    rows: Callable[[], list[tuple[Cell, ...]]]
    arrays: Callable[[], dict[str, np.ndarray]]
    axes: str


def table_of(rows: Sequence[dict[str, Cell]], axes: str = "", **arrays: np.ndarray) -> Table:
    """Take rows that name their columns."""
    return Table(tuple(rows[0]), len(rows), lambda: [tuple(row.values()) for row in rows], lambda: arrays, axes)


@dataclass(frozen=True)
class Subject:
    """What a summary is of: a run, and what is shown of it. what: in a line, "heads" or the like."""

    trace: "Trace"
    what: str
    told: str
    name: str

    @property
    def heading(self) -> str:
        """Say in a line what it is."""
        return f"{self.what}, {controls.model_title(self.trace.model)}"

    def export(self, picture: Callable[..., bytes], alone: WebPage | None, table: Table, code: Code) -> Export:
        """Put everything together. alone: None for charts, whose page is their drawing and the table."""
        source = self.trace.attention.query_tokens
        pair = [f"Second sentence: {quoted(source.pair)}"] if source.pair else []
        caption = " ".join([f"{self.heading}.", f"Text: {quoted(source.text)}", *pair, self.told])
        file_name = file_stem(self.name, self.trace.model)
        about = {"model": self.trace.model, "text": source.text, "pair": source.pair or "", "shown": self.what, "told": self.told}
        about |= {"axes": table.axes} if table.axes else {}
        told, size = f"{table.count:,} rows: {', '.join(table.columns)}.", table.count * len(table.columns)
        numbers = data_files(
            "All numbers", told, file_name, size, lambda: DataTable(about, table.columns, table.rows(), table.arrays())
        )
        still = charts_page(picture, table.columns, table.rows)
        code = replace(code, result=f"It ends with {code.result}.")
        return Export(self.heading, caption, file_name, picture, alone or still, (numbers,), code)
