"""The heads over many sentences as an export: their wall, their averages, and the code that reads the file."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from pages.many_sentences import run
from pages.many_sentences.table import head_rows
from pages.ui.canvas.head_kinds import AXES
from pages.ui.canvas.head_table import HeadCell, LegendEntry
from pages.ui.export.data import DataTable, data_files
from pages.ui.export.figure import charts_figure, charts_page, grid_chart
from pages.ui.export.project_code import header
from pages.ui.export.records import Code, Export
from pages.ui.shell import controls
from pages.ui.shell.plain_names import file_stem

if TYPE_CHECKING:
    from tx_core.corpus.statistics import HeadReport

ENDS = "It ends with `report`: `patterns`, `spread`, `distance` and the sentences where each head is strongest."


def many_export(
    report: "HeadReport", title: str, cells: Sequence[Sequence[HeadCell]], legend: Sequence[LegendEntry], chosen: tuple[int, int]
) -> Export:
    """Make the wall of all heads, and everything that is known of them, ready for export."""
    counted = f"{run.counted(report.read)} with {report.tokens:,} tokens"
    heading = f"All heads over {counted}: {title[0].lower()}{title[1:]}, {controls.model_title(report.model)}"
    stopped = "" if report.complete else f" Stopped after {report.read:,} of {run.counted(len(report.sentences))}."
    caption = f"{heading}. Sentences: {report.sentences.source}.{stopped} A row for each layer, a column for each head."
    figure = charts_figure([grid_chart("", cells, legend, chosen)], f"{title}: a row for each layer, a column for each head")
    rows = head_rows(report)
    columns, table = tuple(rows[0]), [tuple(row.values()) for row in rows]
    name = file_stem("heads-over-sentences", report.model)
    about = {
        "model": report.model,
        "sentences": report.sentences.source,
        "read": report.read,
        "tokens": report.tokens,
        "axes": AXES,
    }
    arrays = {
        "spread": report.spread,
        "entropy": report.entropy,
        "distance": report.distance,
        "shares": report.sums.shares,
        "kinds": np.array(report.sums.kinds),
    }
    numbers = data_files(
        "All heads",
        f"{len(table):,} heads: {', '.join(columns)}.",
        name,
        len(table) * len(columns),
        lambda: DataTable(about, columns, table, arrays),
    )
    code = Code(f"{ENDS}{'' if report.complete else f' {read_all_of(report)}'}", lambda: core_many(heading, report))
    return Export(heading, caption, name, figure, charts_page(figure, columns, lambda: table), (numbers,), code)


def read_all_of(report: "HeadReport") -> str:
    """Say how the numbers of the code differ from those of a reading that was stopped."""
    return (
        f"It reads all {run.counted(len(report.sentences))}, while the figure is of the {report.read:,} "
        "that were read before it was stopped: its numbers will differ."
    )


def core_many(title: str, report: "HeadReport") -> str:
    """Write the code that reads the sentences: the built-in ones, or the reader's own file beside it."""
    from tx_core.corpus.sentence_file import embedded_sentences

    imported = ["from tx_core import load", "from tx_core.corpus.statistics import read_all"]
    if report.sentences is embedded_sentences():
        imported.append("from tx_core.corpus.sentence_file import embedded_sentences")
        reading = ["sentences = embedded_sentences()"]
    else:
        imported.append("from tx_core.corpus.sentence_file import read_sentences")
        source = report.sentences.source
        reading = [
            f"with open({source!r}, 'rb') as file:  # your file",
            f"    sentences = read_sentences(file, {source!r}, {report.sentences.column!r})",
        ]
    return "\n".join(
        [
            *header(title, report.model, "\n".join(imported)),
            *reading,
            *([] if report.complete else [f"# {read_all_of(report)}"]),
            f"report = read_all(engine, sentences{', half=True' if report.half else ''})",
            "",
            'print(*report.patterns, report.spread.round(3), report.distance.round(2), sep="\\n")',
            "",
        ]
    )
