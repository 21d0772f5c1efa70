"""The heads over many sentences as something to carry away: their wall, their averages, and the code that reads the file."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from pages.many_sentences import run
from pages.many_sentences.table import head_rows
from pages.ui.canvas.head_kinds import AXES
from pages.ui.canvas.head_table import HeadCell, LegendEntry
from pages.ui.export.charts import grid_chart, picture_of, still_page
from pages.ui.export.core_snippet import opening
from pages.ui.export.exhibit import Exhibit, Python
from pages.ui.export.saved_numbers import SavedNumbers, number_files
from pages.ui.shell import controls
from pages.ui.shell.plain_names import file_stem

if TYPE_CHECKING:
    from tx_core.corpus.statistics import HeadReport

ENDS = "It ends with `report`: `patterns`, `spread`, `distance` and the sentences where each head is strongest."


def many_exhibit(
    report: "HeadReport", title: str, cells: Sequence[Sequence[HeadCell]], legend: Sequence[LegendEntry], chosen: tuple[int, int]
) -> Exhibit:
    """Make the wall of all heads, and everything that is known of them, ready to be carried away."""
    counted = f"{run.counted(report.read)} with {report.tokens:,} tokens"
    heading = f"All heads over {counted}: {title[0].lower()}{title[1:]}, {controls.model_title(report.model)}"
    stopped = "" if report.complete else f" Stopped after {report.read:,} of {run.counted(len(report.sentences))}."
    caption = f"{heading}. Sentences: {report.sentences.source}.{stopped} A row for each layer, a column for each head."
    picture = picture_of([grid_chart("", cells, legend, chosen)], f"{title}: a row for each layer, a column for each head")
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
    numbers = number_files(
        "All heads",
        f"{len(table):,} heads: {', '.join(columns)}.",
        name,
        len(table) * len(columns),
        lambda: SavedNumbers(about, columns, table, arrays),
    )
    python = Python(f"{ENDS}{'' if report.complete else f' {read_all_of(report)}'}", lambda: core_many(heading, report))
    return Exhibit(heading, caption, name, picture, still_page(picture, columns, lambda: table), (numbers,), python)


def read_all_of(report: "HeadReport") -> str:
    """Say how the numbers of the code differ from those of a reading that was stopped."""
    return (
        f"It reads all {run.counted(len(report.sentences))}, while the picture is of the {report.read:,} "
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
            *opening(title, report.model, "\n".join(imported)),
            *reading,
            *([] if report.complete else [f"# {read_all_of(report)}"]),
            f"report = read_all(engine, sentences{', half=True' if report.half else ''})",
            "",
            'print(*report.patterns, report.spread.round(3), report.distance.round(2), sep="\\n")',
            "",
        ]
    )
