"""Head scan: every head switched off in turn. The stage asks for it and colours its wall by the result; the ranking stands below.

A scan of one batch comes with the page's answer. A longer one runs in the background: the stage asks a route for its progress,
and the page for its result once it has ended.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import streamlit as st

from pages.fill_mask import texts
from pages.fill_mask.inputs import example_texts
from pages.fill_mask.predictions import SentencePredictions
from pages.fill_mask.progress import progress_path
from pages.ui.export.menu import offer_tables
from pages.ui.export.records import DataTable
from pages.ui.shell import cache, metrics
from pages.ui.shell.address import widget_key
from pages.ui.shell.admission import own_address
from pages.ui.shell.level import is_hidden
from pages.ui.shell.numbers import percent
from pages.ui.stage import background_runs
from pages.ui.stage.changes import Changes
from pages.ui.stage.tokens import escape_markdown
from pages.ui.stage.view_options import head_in_sentence
from tx_core.engine.engine import Engine
from tx_core.errors import Busy
from tx_core.fill_mask.head_scan import HeadScan, Scan, ScannedWord
from tx_core.fill_mask.word_scores import LENGTH_NOTE
from tx_core.settings import host_settings
from tx_core.transformer.interventions import write_interventions

QUICK_OPERATIONS = 1.5e10
"""A scan of at most so many operations is made unasked: 0.2 s on one core, where the runs share what is the same in them."""
BEGIN = "begin"
"""In place of what a scan is of: that which is looked at now."""
DIGITS = 9
"""Significant digits of a probability that is sent."""
SCAN_COLUMNS = (
    "layer",
    "head",
    "followed",
    "before",
    "without the head",
    "change",
    "ratio before",
    "ratio without the head",
    "total variation",
    "top prediction",
)
"""The ratio is that of the two words whose difference is followed; None for a word alone."""
Pieces = tuple[tuple[int, ...], ...]
"""Words by their pieces, as vocabulary entries."""
Followed = tuple[ScannedWord, ScannedWord | None]
"""A word that is followed through a scan, and another one where the difference of the two is."""


def first_scan(engine: Engine, text: str, number: int) -> HeadScan | None:
    """Scan one blank of the unchanged model for the heads to begin with.

    None where that is not quick, or where others keep the compute slots busy: a scan takes longer than all else of a new
    sentence. Scans of examples are made in any case: visitors share them.
    """
    if known := known_scan(engine, text, number):
        return known
    others = metrics.runs_now() - 1
    if others >= max(1, host_settings().compute_slots - 1) and text not in example_texts():
        return None
    scan = Scan(engine, text, blank=number)
    if not scan.in_one_batch or scan.operations > QUICK_OPERATIONS:
        return None
    return cache.get_or_compute(_cache_key(engine, text, number), scan.run)


def known_scan(engine: Engine, text: str, number: int) -> HeadScan | None:
    """Return the scan of the unchanged model that chose the heads to begin with, where it was made."""
    return cache.get(_cache_key(engine, text, number))


def invitation(scan: HeadScan) -> str:
    """Invite the reader to switch off the head that the prediction depends on most."""
    template = texts.INVITATION if (scan.change < 0).any() else texts.INVITATION_WITHOUT_SUPPORT
    return template.format(count=scan.change.size, word=scan.word, head=head_in_sentence(scan.most_important))


def _cache_key(engine: Engine, text: str, number: int, base: Changes = (), named: Pieces = ()) -> tuple:
    written = ",".join(".".join(map(str, ids)) for ids in named)
    return ("scan", cache.engine_key(engine), text, number, written, write_interventions(base))


@dataclass(frozen=True)
class OfferedScan:
    """What the reader asked for.

    base: what is changed in all of the scan: what was when it was asked for; None where there is none. followed: what of the
    result the reader follows. path: where the progress of one that runs is asked for. problem: why there is none.
    """

    base: Changes | None = None
    result: HeadScan | None = None
    followed: Followed | None = None
    path: str = ""
    problem: str = ""


def take_scan(page: str, reported: Mapping[str, object]) -> None:
    """Apply what a reader asked for: to start or stop a scan, or to follow a word through it."""
    asked, followed = reported.get("scan"), reported.get("followed")
    if asked in ("start", "stop"):
        background_runs.SCANS.stop(background_runs.visitor(), "scan")
        st.session_state[widget_key(page, "scan")] = BEGIN if asked == "start" else None
        st.session_state.pop(widget_key(page, "scan_running"), None)
    if isinstance(followed, list):
        st.session_state[widget_key(page, "scan_followed")] = followed[:2]


def offered_scan(page: str, engine: Engine, answer: SentencePredictions, number: int, changed: Changes) -> OfferedScan | None:
    """Return the scan of one blank that the reader asked for, or begin it; None where none is offered."""
    if is_hidden("scan"):
        return None
    name, identity = widget_key(page, "scan"), (cache.engine_key(engine), answer.text, number)
    if st.session_state.get(name) == BEGIN:
        st.session_state[name] = identity, changed
    of, base = st.session_state.get(name) or (None, ())
    if of != identity:
        return OfferedScan()
    named = tuple(score.ids for score in answer.scores[number] if score.probability is not None)
    kept = _cache_key(engine, answer.text, number, base, named)
    result = cache.get(kept)
    if result is None:
        scan = Scan(engine, answer.text, blank=number, interventions=base, named=named)
        if not scan.in_one_batch:
            return _background(page, kept, scan, base)
        result = cache.get_or_compute(kept, scan.run)
    return OfferedScan(base, result, _followed(page, result))


def _background(page: str, kept: tuple, scan: Scan, base: Changes) -> OfferedScan:
    """Start a long scan in the background, or return what has come of it."""
    visitor, running, path = background_runs.visitor(), widget_key(page, "scan_running"), progress_path()
    snapshot, begun = background_runs.SCANS.snapshot(visitor, "scan"), st.session_state.get(running)
    if snapshot and snapshot.running:
        return OfferedScan(base, path=path, problem="" if begun == kept else texts.SCAN_STOPPING)
    if snapshot and begun == kept:
        del st.session_state[running]
        if (result := snapshot.result.result) is None:
            del st.session_state[widget_key(page, "scan")]
            return OfferedScan(problem=snapshot.problem)
        cache.get_or_compute(kept, lambda: result)
        return OfferedScan(base, result, _followed(page, result))
    try:
        background_runs.SCANS.start(visitor, "scan", scan, own_address())
    except Busy as problem:
        del st.session_state[widget_key(page, "scan")]
        return OfferedScan(problem=str(problem))
    st.session_state[running] = kept
    return OfferedScan(base, path=path)


def _followed(page: str, result: HeadScan) -> Followed:
    """Return the word that the reader chose to follow, or two; else the top prediction."""
    words, chosen = followed_words(result), st.session_state.get(widget_key(page, "scan_followed"), [])
    first, second = ([words.get(word) if isinstance(word, str) else None for word in chosen] + [None, None])[:2]
    return first or words[result.word], None if second is first else second


def followed_words(result: HeadScan) -> dict[str, ScannedWord]:
    """Return the words that a scan can be read for, by name: the top prediction, and the words to check."""
    return {one.word: one for one in (result, *result.named)}


def followed_name(followed: Followed) -> str:
    """Name what is followed: "went", or "went − go"."""
    one, other = followed
    return texts.SCAN_DIFFERENCE.format(first=one.word, second=other.word) if other else one.word


def scan_rows(result: HeadScan, followed: Followed) -> list[tuple[str | float | int | None, ...]]:
    """Return all heads as rows of SCAN_COLUMNS, the one with the largest effect first."""
    (one, other), name = followed, followed_name(followed)
    before = one.before - (other.before if other else 0)
    after = one.after - (other.after if other else 0)
    ratios = (one.before / other.before, one.after / other.after) if other else (None, np.full(after.shape, None))
    order = np.argsort(-np.abs(after - before), axis=None, kind="stable").tolist()
    return [
        (
            layer + 1,
            head + 1,
            name,
            before,
            float(after[layer, head]),
            float(after[layer, head] - before),
            ratios[0],
            ratios[1][layer, head],
            float(result.variation[layer, head]),
            result.first_words[layer][head],
        )
        for layer, head in (divmod(place, after.shape[1]) for place in order)
    ]


def describe_scan(asked: OfferedScan | None, changed: Changes) -> dict[str, object] | None:
    """Return what the stage is told of a scan: its progress, or the probability of each word with each head off."""
    if asked is None:
        return None
    told = {"path": asked.path, "said": asked.problem, "again": asked.base is not None and set(changed) != set(asked.base)}
    if (result := asked.result) is None:
        return told | {"result": None}
    words = followed_words(result)
    base = [] if not asked.base else [texts.SCAN_BASE_ONE if len(asked.base) == 1 else texts.SCAN_BASE_MANY]
    several = [LENGTH_NOTE] if any(len(one.ids) > 1 for one in words.values()) else []
    notes = [*(note.format(count=len(asked.base)) for note in base), *several]

    def shorten(*numbers: float) -> list[float]:
        return [float(f"{number:.{DIGITS}g}") for number in numbers]

    sent = [
        {"word": word, "before": shorten(one.before)[0], "after": shorten(*one.after.ravel().tolist())}
        for word, one in words.items()
    ]
    first = [word for layer in result.first_words for word in layer]
    return told | {"result": {"words": sent, "first": first, "said": in_words(result), "notes": list(filter(None, notes))}}


def show_ranking(page: str, asked: OfferedScan | None) -> None:
    """Offer all heads as a table, that with the largest effect first."""
    if asked is None or asked.result is None:
        return
    title = escape_markdown(texts.SCAN_RANKING.format(followed=followed_name(asked.followed)))
    offer_tables(page, lambda: [DataTable(SCAN_COLUMNS, scan_rows(asked.result, asked.followed))], title, name="scan_table")


def in_words(result: HeadScan) -> str:
    """Return a sentence on the head that the word depends on most, and on how often another word replaces it."""
    place = np.unravel_index(result.change.argmin(), result.change.shape)
    sentences = [texts.SCAN_BEFORE.format(word=result.word, share=percent(result.before))]
    if result.change[place] < 0:
        sentences.append(texts.SCAN_LARGEST_FALL.format(head=head_in_sentence(place), share=percent(float(result.after[place]))))
    sentences.append(texts.SCAN_OTHERS.format(count=int((result.first != result.ids[0]).sum()), total=result.first.size))
    strongest = np.unravel_index(result.variation.argmax(), result.variation.shape)
    share = percent(float(result.variation[strongest]))
    return " ".join([*sentences, texts.SCAN_VARIATION.format(head=head_in_sentence(strongest), share=share)])
