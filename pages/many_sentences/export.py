"""The heads over many sentences for export: their table, their averages, and the code that reads the file."""

import numpy as np

from pages.many_sentences import texts
from pages.many_sentences.heads import Grid, head_rows
from pages.many_sentences.reading import OpenedScan, stopped_in_words
from pages.many_sentences.texts import plural
from pages.ui.canvas.head_table import AXES
from pages.ui.export.code import header
from pages.ui.export.data import DataTable, data_files
from pages.ui.export.figure import charts_figure, charts_page, grid_chart
from pages.ui.export.records import Code, DataFiles, Export, file_stem, one_line, reading, source
from pages.ui.export.texts import PROJECT_COMMENT, WITHOUT_SPECIAL
from pages.ui.shell import controls
from tx_core.corpus.sentence_file import embedded_sentences
from tx_core.corpus.statistics import HeadReport

PRINT_REPORT = ("", 'print(*report.patterns, report.spread.round(3), report.distance.round(2), sep="\\n")', "")
"""The last lines of the code."""


def heads_export(report: HeadReport, grid: Grid, opened: OpenedScan | None = None) -> Export:
    """Make the export of the table of all heads, with everything that is known of them. opened: the scan that they are from."""
    title = plural(report.read, texts.EXPORT_TITLES[grid.colour]).format(
        count=report.read, tokens=report.tokens, model=controls.model_title(report.model)
    )
    parts = [f"{title}.", texts.EXPORT_SOURCE.format(source=report.sentences.source)]
    if not report.special_tokens:
        parts.append(WITHOUT_SPECIAL)
    if not report.complete:
        parts.append(stopped_in_words(report))
    caption = " ".join([*parts, texts.EXPORT_AXES])
    figure = charts_figure([grid_chart("", grid.cells, grid.legend, grid.chosen)], grid.alt)
    rows = head_rows(report)
    columns, table, stem = tuple(rows[0]), [tuple(row.values()) for row in rows], file_stem("heads-over-sentences", report.model)
    result = texts.EXPORT_RESULT if report.complete else f"{texts.EXPORT_RESULT} {reads_on(report)}"
    code = Code(result, lambda: scan_code(title, opened.name) if opened else report_code(title, report))
    web_page = charts_page(figure, columns, lambda: table)
    revision = opened.scan.origin.revision if opened else ""
    counts = {"sentences": report.sentences.source, "read": report.read, "tokens": report.tokens}
    about = source(report.model, revision=revision, **reading(report.special_tokens), **counts)
    return Export(title, caption, stem, figure, web_page, (_data(report, stem, columns, table),), code, about)


def _data(report: HeadReport, stem: str, columns: tuple[str, ...], table: list[tuple]) -> DataFiles:
    arrays = {
        "spread": report.spread,
        "entropy": report.entropy,
        "distance": report.distance,
        "shares": report.sums.shares,
        "kinds": np.array(report.sums.kinds),
    }
    return data_files(
        texts.EXPORT,
        texts.EXPORT_ROWS.format(count=len(table), columns=", ".join(columns)),
        stem,
        len(table) * len(columns),
        lambda: DataTable(columns, table, arrays, {"axes": AXES}),
    )


def reads_on(report: HeadReport) -> str:
    """Say how the numbers of the code differ from those of a reading that was stopped."""
    return texts.CODE_READS_ON.format(count=report.total, read=report.read)


def scan_code(title: str, name: str) -> str:
    """Write the code that opens the result of a scan. name: of its file."""
    return "\n".join(
        [
            PROJECT_COMMENT.format(title=one_line(title)),
            "from pathlib import Path",
            "",
            "from tx_core.corpus.scan_file import read_scan",
            "",
            f"report = read_scan(Path({name!r}).read_bytes()).report  # your file",
            *PRINT_REPORT,
        ]
    )


def report_code(title: str, report: HeadReport) -> str:
    """Write the code that reads the sentences: the built-in ones, or the reader's own file."""
    imports = ["from tx_core import load", "from tx_core.corpus.statistics import read_all"]
    if report.sentences is embedded_sentences():
        imports.append("from tx_core.corpus.sentence_file import embedded_sentences")
        lines = ["sentences = embedded_sentences()"]
    else:
        imports.append("from tx_core.corpus.sentence_file import read_sentences")
        source = report.sentences.source
        lines = [
            f"with open({source!r}, 'rb') as file:  # your file",
            f"    sentences = read_sentences(file, {source!r}, {report.sentences.column!r})",
        ]
    if not report.complete:
        lines.append(f"# {reads_on(report)}")
    return "\n".join(
        [
            *header(title, report.model, "\n".join(imports), special_tokens=report.special_tokens),
            *lines,
            f"report = read_all(engine, sentences{', half=True' if report.half else ''})",
            *PRINT_REPORT,
        ]
    )
