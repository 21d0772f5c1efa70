"""All heads over many sentences: their tables, one head with its strongest sentences, all numbers, and the code."""

import numpy as np

from pages.many_sentences import texts
from pages.many_sentences.reading import OpenedScan, show_report, stopped_in_words
from pages.ui.export.computation import Computation, call, load_call, named, sentences_call
from pages.ui.export.part import Part
from pages.ui.export.records import PartNumbers, table_of
from pages.ui.shell import controls
from pages.ui.shell.address import is_offered
from pages.ui.shell.frame import page_address
from pages.ui.shell.numbers import plural
from pages.ui.stage.charts import listing_drawing
from pages.ui.stage.controls import Control
from pages.ui.stage.heads import (
    GRAMMAR_COLUMNS_NOTE,
    UNDESCRIBED,
    all_heads,
    beside_heads,
    describe_grammar,
    describe_head,
    heads_pictures,
    kind_styles,
    lead_with_grammar,
    pattern_of,
    rows_of_heads,
)
from pages.ui.stage.pictures import Picture
from pages.ui.stage.sources import reading, source
from pages.ui.stage.texts import EXPLANATION_DEBATE
from pages.ui.stage.tokens import reading_in_link
from pages.ui.stage.view_options import heads_to_link, show_note
from tx_core.analysis.patterns import HeadPattern
from tx_core.corpus.scan_file import read_scan
from tx_core.corpus.statistics import RANKED_KINDS, HeadReport, read_all
from tx_core.transformer.interventions import Head

OWN = "own"
RANKS = (OWN, *RANKED_KINDS)
"""What sentences are ranked by: the head's own kind, or any ranked kind."""


def heads_controls(report: HeadReport) -> list[Control]:
    """Return the controls of the stage: what colours the heads, and what the sentences are ranked by."""
    aims = kind_styles(report.example)
    ranks = tuple((rank, texts.RANKS.get(rank) or texts.RANK_KIND.format(aim=aims[rank].target)) for rank in RANKS)
    return [
        Control("colour", "segments", texts.COLOUR_BY, tuple(texts.COLOUR_LABELS.items())),
        Control("rank", "list", texts.RANK_BY, ranks, labelled=True),
    ]


def report_pictures(report: HeadReport, rank: str) -> list[Picture]:
    """Draw all heads in each of the colours, and beside them what the chosen one does, with its strongest sentences."""
    shape, grids = report.spread.shape, heads_pictures(report, texts.COLOURS, texts.HEADS, texts.CELLS)
    variants = {link: _strongest_of(report, head, rank) for link, head in all_heads(*shape).items()}
    listing = listing_drawing(head=texts.STRONGEST_COLUMNS)
    listing.chart["sentenceFirst"] = True
    return [*grids, Picture(listing, varies="heads", variants=variants, **beside_heads(shape[1]))]


def _strongest_of(report: HeadReport, head: Head, rank: str) -> dict[str, object]:
    """Return what is shown of one head: what it does in words, and the sentences that are strongest in what is asked for."""
    kind = ranked_kind(report, head, rank)
    numbers, scores = strongest(report, head, kind)
    score = describe_score(report, kind) if numbers else texts.NO_STRONGEST
    said, lead = describe_head(report, head), lead_with_grammar(report.model, head)
    note = f"{describe_grammar(report.model, head, after=bool(lead))} {score}".strip()
    if lead:
        here = texts.HERE.format(count=report.sums.texts)
        said = f"{lead} {here} {said}" if pattern_of(report, head).kind in UNDESCRIBED else f"{here} {said} {lead}"
        note = f"{texts.NOT_BY_GRAMMAR} {note}"
    sentences, lines = report.sentences.texts, report.sentences.lines
    rows = [
        [f"{score:.2f}", sentences[number], texts.SEE_SENTENCE.format(line=lines[number])]
        for number, score in zip(numbers, scores, strict=True)
    ]
    more = {"model": report.model, "heads": heads_to_link([head]), **reading_in_link(report.special_tokens)}
    links = [page_address("attention", {"text": sentences[number], **more}) for number in numbers] if is_offered("links") else []
    chart = {"title": texts.STRONGEST_OF.format(head=controls.head_name(head)), "rows": rows, "links": links, "note": note}
    return {"sentence": said, "chart": chart}


def ranked_kind(report: HeadReport, head: Head, rank: str) -> str:
    """Return which of RANKED_KINDS a rank asks for; a mixed head's own is focus."""
    kind = rank if rank != OWN else pattern_of(report, head).kind
    return "focused" if kind == "mixed" else kind


def describe_score(report: HeadReport, kind: str) -> str:
    """Return what 0 and 1 mean in the scores of one of RANKED_KINDS."""
    if kind in texts.STRONGEST_SCORES:
        return texts.STRONGEST_SCORES[kind]
    return texts.STRONGEST_SCORE.format(aim=kind_styles(report.example)[kind].target)


def strongest(report: HeadReport, head: Head, kind: str) -> tuple[list[int], list[float]]:
    """Return the numbers of the sentences that are strongest in one of RANKED_KINDS and their scores, best first."""
    place = RANKED_KINDS.index(kind)
    scores, numbers = (part[*head, place] for part in (report.strongest.values, report.strongest.texts))
    shown = np.isfinite(scores) & (scores > 0)
    by_number = dict(zip(numbers[shown].tolist(), scores[shown].tolist(), strict=True))
    # A file may repeat a sentence. Reversed, the best of equal ones is written last and stays.
    distinct = {report.sentences.texts[number]: number for number in reversed(by_number)}
    ordered = sorted(distinct.values(), key=list(by_number).index)
    return ordered, [by_number[number] for number in ordered]


def rows_of(report: HeadReport) -> list[dict[str, object]]:
    """List the heads, one row each, with all that is known of them; sentences by their lines in the file."""

    def measures(one: HeadPattern) -> dict[str, object]:
        numbers = (float(part[one.layer, one.head]) for part in (report.spread, report.entropy, report.distance))
        names = ("spread (0 to 1)", "entropy (nats)", "distance (tokens)")
        share = {"share of sentences": round(one.agreement, 3), "next kind": kind_styles(report.example)[one.second].word}
        return share | dict(zip(names, numbers, strict=True))

    rows = rows_of_heads(report, measures)
    for row, one in zip(rows, report.patterns, strict=True):
        head = (one.layer, one.head)
        numbers, _ = strongest(report, head, ranked_kind(report, head, OWN))
        row["strongest in lines"] = " ".join(str(report.sentences.lines[number]) for number in numbers)
    return rows


def heads_part(report: HeadReport, rank: str, opened: OpenedScan | None = None) -> Part:
    """Return what is known of all heads. opened: the scan that it is from."""
    counts = {"count": report.read, "tokens": report.tokens}
    title = plural(report.read, texts.EXPORT_TITLE).format(**counts, model=controls.model_title(report.model))
    read = {"sentences": report.sentences.source, "read": report.read, "tokens": report.tokens}
    revision = opened.scan.origin.revision if opened else ""
    about = source(report.model, revision=revision, **reading(report.special_tokens), **read)
    stopped = () if report.complete else (stopped_in_words(report),)

    def below() -> None:
        if opened is None:
            show_report(report)
        show_note(f"{texts.CAVEAT} {EXPLANATION_DEBATE}")

    return Part(
        report_pictures(report, rank),
        PartNumbers(title, about, scan_numbers(opened.name) if opened else report_numbers(report)),
        below=below,
        table=lambda: table_of(rows_of(report), f"{texts.TABLE_NOTE} {GRAMMAR_COLUMNS_NOTE}"),
        notes=(texts.EXPORT_SOURCE.format(source=report.sentences.source), *stopped, texts.EXPORT_AXES),
        controls=heads_controls(report),
    )


def scan_numbers(name: str) -> list[Computation]:
    """Return the computation of the result of a scan. name: of its file."""
    return _measures(call(read_scan, call(open, name, "rb").read()).report, "your file")


def report_numbers(report: HeadReport) -> list[Computation]:
    """Return the computation of a reading: of the built-in sentences, or of the reader's own file."""
    half = {"half": True} if report.half else {}
    return _measures(call(read_all, load_call(report.model, report.special_tokens), read_in_code(report), **half))


def read_in_code(report: HeadReport) -> Computation:
    """Return the computation of the sentences of a report: the built-in ones, or the reader's own file."""
    differs = "" if report.complete else texts.CODE_READS_ON.format(count=report.total, read=report.read)
    return sentences_call(report.sentences, differs)


def _measures(report: Computation, comment: str = "") -> list[Computation]:
    report = named("report", report, comment)
    return [report.patterns, report.spread.round(3), report.distance.round(2)]
