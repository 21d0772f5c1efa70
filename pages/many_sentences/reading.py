"""The sentences, and the background run that reads them: started, watched and stopped by its visitor."""

from dataclasses import dataclass
from operator import attrgetter

import streamlit as st

from pages.many_sentences import texts
from pages.ui.shell import cache, controls
from pages.ui.shell.address import is_offered, value_of, widget_binding, widget_key
from pages.ui.shell.controls import ask_option
from pages.ui.shell.numbers import plural
from pages.ui.shell.session import UploadedFile
from pages.ui.stage.background_runs import OfferedRun, ask_upload
from pages.ui.stage.sentence_file import ask_file, own_sentences, show_left_out
from pages.ui.stage.texts import UPLOAD_SENTENCES
from tx_core.corpus.scan_file import CorpusScan, ScanOrigin, read_scan
from tx_core.corpus.sentence_file import Sentences, embedded_sentences
from tx_core.corpus.statistics import HeadReport, read_all
from tx_core.engine import catalogue
from tx_core.engine.engine import Engine
from tx_core.errors import ModelUnavailable, TextProblem

KIND = "sentences"


@dataclass(frozen=True)
class OpenedScan:
    """The result of a scan, and the name of its file."""

    name: str
    scan: CorpusScan


def ask_source(page: str) -> str:
    """Ask what to show: a name of `texts.SOURCES`."""
    ask_option(texts.SOURCE, texts.SOURCES, label_visibility="collapsed", **widget_binding(widget_key(page, "texts")))
    return value_of(page, "texts")


def ask_scan(page: str) -> OpenedScan | None:
    """Ask for the result of a scan; explain how to make one as long as there is none."""
    opened = ask_upload(page, "scan_file", texts.UPLOAD_SCAN, ["json"], "scan", _open_scan, attrgetter("name"))
    if opened is None:
        st.caption(texts.SCAN_FIRST)
        st.code(texts.SCAN_COMMAND, language="shell")
    return opened


def _open_scan(file: UploadedFile) -> OpenedScan:
    return OpenedScan(file.name, read_scan(file.getvalue()))


def show_scan(scan: CorpusScan) -> None:
    """Show which sentences were scanned by which model, and whether this server has the same one."""
    report, origin = scan.report, scan.origin
    st.text(_read_in_words(report, texts.SCANNED, source=report.sentences.source, model=controls.model_title(report.model)))
    st.text(texts.SCANNED_BY.format(revision=origin.revision, version=origin.version))
    if difference := _difference_here(origin):
        st.text(difference)
    show_left_out(report.left_out)


def _difference_here(origin: ScanOrigin) -> str:
    """Return how the model of a scan differs from this server's; "" where it does not."""
    try:
        here = catalogue.revision(origin.model)
    except ModelUnavailable:
        return texts.MODEL_NOT_HERE
    return "" if here == origin.revision else texts.OTHER_REVISION.format(revision=here)


def ask_sentences(page: str, source: str, device: str) -> Sentences:
    """Ask for the sentences, as many as `device` can read. Raises TextProblem while there are none."""
    if source == "own":
        ask_file(page, device)
    sentences = chosen_sentences(page, source)
    if sentences is None:
        raise TextProblem(UPLOAD_SENTENCES)
    return sentences


def chosen_sentences(page: str, source: str) -> Sentences | None:
    """Return the sentences of a source; None where there are none yet, and of a scan."""
    return embedded_sentences() if source == "embedded" else own_sentences(page) if source == "own" else None


def ask_half(page: str, engine: Engine) -> bool:
    """Whether to read in half precision: only where the hardware computes it, and the reader takes full precision back."""
    if not engine.bfloat16:
        return False
    if not is_offered("exact"):
        return not value_of(page, "exact")
    return not st.toggle(texts.FULL_PRECISION, **widget_binding(widget_key(page, "exact")), help=texts.FULL_PRECISION_HELP)


def report_to_show(page: str, run: OfferedRun, engine: Engine | None, sentences: Sentences | None) -> HeadReport | None:
    """Return the report of what is chosen, or else of the last run, with a heading that says so.

    Raises TextProblem where the last run could read none of the chosen sentences.
    """
    last = _report_of(run, sentences)
    chosen = engine is not None and sentences is not None
    read_by = engine and (engine.name, engine.tokenizer.special_tokens)
    if last and chosen and last.sentences is sentences and read_by == (last.model, last.special_tokens):
        return last
    if chosen and engine.name == catalogue.DEFAULT and sentences is embedded_sentences():
        # The built-in model reads the built-in sentences in a second.
        return cache.get_or_compute((page, cache.engine_key(engine)), lambda: read_all(engine, sentences))
    if last:
        st.subheader(texts.LAST_RUN, anchor=False)
        model = controls.model_title(last.model)
        st.text(texts.LAST_RUN_DIFFERS.format(source=last.sentences.source, model=model))
    return last


def _report_of(run: OfferedRun, chosen: Sentences | None) -> HeadReport | None:
    """Return the report of the visitor's last run; None without one, or while it is still running."""
    if not run.last:
        return None
    report = run.last.work.report
    if report is None and run.snapshot.state == "finished" and run.last.asked is chosen:
        raise TextProblem(texts.NOTHING_READABLE)
    return report


def show_report(report: HeadReport) -> None:
    """Show what the numbers were computed from."""
    sentences = [_read_in_words(report, texts.READ)]
    if not report.complete:
        sentences.append(stopped_in_words(report))
    if report.model == catalogue.DEFAULT and report.sentences is embedded_sentences():
        sentences.append(texts.NO_RUN_NEEDED)
    st.caption(" ".join(sentences))
    show_left_out(report.unread)


def _read_in_words(report: HeadReport, templates: tuple[str, str], **more: str) -> str:
    half = texts.IN_HALF if report.half else ""
    counts = {"count": report.read, "tokens": report.tokens, "seconds": report.seconds, "half": half}
    return plural(report.read, templates).format(**counts, **more)


def stopped_in_words(report: HeadReport) -> str:
    """Return after how many sentences a run was stopped, in words."""
    count = report.total
    return plural(count, texts.STOPPED).format(read=report.read, count=count)
