"""What a page offers for export: numbers as tables and files, and code. A file is written only when the reader asks for it."""

import io
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

import numpy as np

from pages.ui.export import texts
from pages.ui.export.computation import Computation, python
from pages.ui.stage import texts as stage_texts
from pages.ui.stage.browser_texts import PICTURES
from pages.ui.stage.charts import Drawing, numbered_once
from pages.ui.stage.sources import Source, title_stem
from tx_core.analysis.table_file import MOST, TableValue, csv_table
from tx_core.engine import catalogue
from tx_core.settings import app_version

COLUMNS = tuple(PICTURES["csvHead"])


@dataclass(frozen=True)
class DataTable:
    """A table.

    note: stands above it on the page. arrays: the same numbers with the labels of their axes, by name, for JSON and NPZ; without
    any, the columns go there. about: what is to be known of the numbers beside the source of the view.
    """

    columns: tuple[str, ...]
    rows: Sequence[tuple[TableValue, ...]]
    note: str = ""
    arrays: Mapping[str, np.ndarray] = field(default_factory=dict)
    about: Mapping[str, object] = field(default_factory=dict)


def table_of(rows: Sequence[Mapping[str, TableValue]], note: str = "") -> DataTable:
    """Return a table of rows that name their columns."""
    return DataTable(tuple(rows[0]), [tuple(row.values()) for row in rows], note)


@dataclass(frozen=True)
class DataFiles:
    """A table as files of several formats.

    make: makes it, when a file is downloaded. by_line: whether there is also a file of JSON with a row in each line, and nothing
    else in it.
    """

    rows: int
    width: int
    make: Callable[[], DataTable]
    by_line: bool = False

    @property
    def files(self) -> dict[str, Callable[[Source], bytes] | None]:
        """What writes each file with the source of its numbers, by its suffix; None where it would be too large."""
        writers = {"csv": to_csv, "json": to_json, "npz": to_npz}
        lines = {"jsonl": lambda _: to_json_lines(self.make())} if self.by_line else {}
        return lines | {
            form: None if self.rows * self.width > MOST[form] else lambda source, write=write: write(self.make(), source)
            for form, write in writers.items()
        }


@dataclass(frozen=True)
class PartNumbers:
    """Numbers that a page shows.

    source: what was computed and with which settings, as `sources.source` names it where there is a model. shown: the
    computations of the numbers, which their code prints.
    """

    title: str
    source: Source
    shown: Sequence[Computation]


@dataclass(frozen=True)
class Export:
    """One view of a page as data and as code; its stage makes figure and web page by itself.

    tables: of them, among which the reader chooses, by name. transformers: the code that uses the transformers library only; ""
    where there is none. link: the address of the view, "" where there is none.
    """

    numbers: PartNumbers
    tables: Mapping[str, DataFiles]
    transformers: str = ""
    link: str = ""

    def project(self) -> str:
        """Write the code that uses this project."""
        return python(self.numbers.shown)

    @property
    def file_name(self) -> str:
        """The name of its files, without a suffix."""
        return title_stem(self.numbers.title, self.numbers.source)

    @property
    def source(self) -> Source:
        """Where the numbers come from, for every file of them: what was run, this app's version, and the address."""
        return {**self.numbers.source, "version": f"{stage_texts.APP} {app_version()}", "link": self.link}

    @property
    def origin(self) -> str:
        """The part of it in one line that titles and captions do not say: models, versions and the address."""
        models = dict.fromkeys(stage_texts.MODEL_REVISION.format(**run) for run in self._runs)
        parts = [*models, f"{stage_texts.APP} {app_version()}", self.link]
        return "; ".join(part for part in parts if part)

    @property
    def _runs(self) -> list[Source]:
        """What `source` names of each run."""
        source = self.numbers.source
        return [run for run in (source, *source.values()) if isinstance(run, Mapping) and "model" in run]

    @property
    def needs(self) -> list[str]:
        """What a new process needs before it runs the code that uses this project, one sentence each."""
        models = dict.fromkeys(str(run["model"]) for run in self._runs)
        return [needed for model in models if (needed := catalogue.needed_to_load(model))]


Exports = Mapping[str, Callable[[], Export]]
"""The views of a page by name; none is made before the reader chooses it."""


def drawings_export(numbers: PartNumbers, drawings: Sequence[Drawing]) -> Export:
    """Return the export of what a part of a page drew."""
    size = sum(drawing.values.size for drawing in drawings)
    return Export(numbers, {texts.NUMBERS: DataFiles(size, len(COLUMNS), partial(drawings_table, drawings))})


def table_export(numbers: PartNumbers, table: DataTable, transformers: str = "") -> Export:
    """Return the export of a table of what a part of a page shows."""
    return Export(numbers, {texts.NUMBERS: files_of(table)}, transformers)


def files_of(table: DataTable, *, by_line: bool = False) -> DataFiles:
    """Offer a table in every format."""
    return DataFiles(len(table.rows), len(table.columns), lambda: table, by_line)


def drawings_table(drawings: Sequence[Drawing]) -> DataTable:
    """Return every number of some drawings as a row; None where a mask forbids."""
    rows = []
    for title, drawing in zip(numbered_once([one.title for one in drawings]), drawings, strict=True):
        names, columns = numbered_once(drawing.rows), numbered_once(drawing.columns)
        for name, numbers in zip(names, drawing.values.tolist(), strict=True):
            finite = (number if np.isfinite(number) else None for number in numbers)
            rows += [(title, name, column, number) for column, number in zip(columns, finite, strict=True)]
    return DataTable(COLUMNS, rows)


def to_csv(saved: DataTable, source: Source) -> bytes:
    """Return the table as CSV, below comment lines that name its source."""
    return csv_table({**source, **saved.about}, saved.columns, saved.rows)


def to_json(saved: DataTable, source: Source) -> bytes:
    """Write everything as one JSON object; a missing number is null."""
    rows = (dict(zip(saved.columns, row, strict=True)) for row in saved.rows)
    numbers = {name: _listed(array) for name, array in saved.arrays.items()} or {"table": list(rows)}
    return json.dumps({**source, **saved.about, **numbers}, ensure_ascii=False, allow_nan=False).encode("utf-8")


def to_json_lines(saved: DataTable) -> bytes:
    """Write each row as a line of JSON; where it comes from stands nowhere, so that others read the file line by line."""
    rows = (dict(zip(saved.columns, row, strict=True)) for row in saved.rows)
    return "".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in rows).encode("utf-8")


def to_npz(saved: DataTable, source: Source) -> bytes:
    """Write numpy arrays, and everything else as JSON in `about`."""
    arrays = saved.arrays or {name: _column([row[at] for row in saved.rows]) for at, name in enumerate(saved.columns)}
    written = io.BytesIO()
    np.savez_compressed(written, about=np.array(json.dumps({**source, **saved.about})), **arrays)
    return written.getvalue()


def _listed(array: np.ndarray) -> list:
    if not np.issubdtype(array.dtype, np.floating):
        return array.tolist()
    return np.where(np.isnan(array), None, shortest(array).astype(object)).tolist()


def shortest(array: np.ndarray) -> np.ndarray:
    """Return numbers whose decimal form has the fewest digits that restore a float32."""
    return array.astype(str).astype(float) if array.dtype == np.float32 else array


def _column(values: list[TableValue]) -> np.ndarray:
    if any(isinstance(value, str) for value in values):
        return np.array(["" if value is None else value for value in values], np.str_)
    return np.array([np.nan if value is None else value for value in values])
