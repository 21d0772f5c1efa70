"""Head scan: every head switched off in turn, and a wall coloured by what that does to the prediction."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import streamlit as st

from pages.fill_mask import texts
from pages.fill_mask.predictions import ratio_in_words
from pages.fill_mask.prompts import example_texts
from pages.fill_mask.tables import SCAN_COLUMNS, Effect, effect, followed_words, scan_rows
from pages.ui.canvas.attention_view import DIFFERENCE, chosen_heads, head_wall
from pages.ui.panels import training
from pages.ui.panels.changes import Changes, with_change
from pages.ui.panels.predictions import SentencePredictions, write_csv
from pages.ui.panels.texts import DOWNLOAD_CSV
from pages.ui.panels.tokens import escape_markdown
from pages.ui.panels.view_options import head_in_sentence
from pages.ui.shell import cache, metrics
from pages.ui.shell.address import widget_key
from pages.ui.shell.admission import own_address
from pages.ui.shell.controls import download_button
from pages.ui.shell.level import is_hidden
from pages.ui.shell.numbers import percent, points, whole_percent
from pages.ui.stage.address import ask_for_view
from tx_core.engine.engine import Engine
from tx_core.errors import Busy
from tx_core.fill_mask.head_scan import HeadScan, Scan
from tx_core.fill_mask.word_scores import LENGTH_NOTE
from tx_core.settings import host_settings
from tx_core.training.background import Snapshot
from tx_core.transformer.interventions import Head, Intervention, write_interventions

QUICK_OPERATIONS = 1.5e10
"""A scan of at most so many operations is made unasked: 0.2 s on one core, where the runs share what is the same in them."""
RANKING_HEIGHT = 250  # pixels
POLL_SECONDS = 0.5
Pieces = tuple[tuple[int, ...], ...]
"""Words by their pieces, as vocabulary entries."""
LIMITS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0)


def quick_scan(engine: Engine, answer: SentencePredictions, number: int) -> HeadScan | None:
    """Scan one blank of the unmodified model where that is quick (`is_quick`); return None where it is not."""
    return _scan(engine, answer, number, _named_pieces(answer, number))


def first_scan(engine: Engine, answer: SentencePredictions, number: int) -> HeadScan | None:
    """Scan one blank of the unchanged model for the heads to begin with: words of several pieces would take longer.

    None, too, where others keep the compute slots busy: a scan takes longer than all else of a new sentence. Scans of examples
    are made in any case: visitors share them.
    """
    if known := known_scan(engine, answer, number):
        return known
    others = metrics.runs_now() - 1
    if others >= max(1, host_settings().compute_slots - 1) and answer.text not in example_texts():
        return None
    return _scan(engine, answer, number, _named_entries(answer, number))


def _scan(engine: Engine, answer: SentencePredictions, number: int, named: Pieces) -> HeadScan | None:
    kept = _cache_key(engine, answer, number, (), named)
    if (result := cache.get(kept)) is not None:
        return result
    scan = Scan(engine, answer.text, blank=number, named=named)
    return cache.get_or_compute(kept, scan.run) if is_quick(scan) else None


def known_scan(engine: Engine, answer: SentencePredictions, number: int) -> HeadScan | None:
    """Return a scan of the unchanged model that was made before."""
    kept = [_cache_key(engine, answer, number, (), named(answer, number)) for named in (_named_pieces, _named_entries)]
    return next(filter(None, map(cache.get, kept)), None)


def is_quick(scan: Scan) -> bool:
    """Whether a scan is quick enough to run without being asked for."""
    return scan.in_one_batch and scan.operations <= QUICK_OPERATIONS


def invitation(scan: HeadScan) -> str:
    """Invite the reader to switch off the head that the prediction depends on most."""
    template = texts.INVITATION if (scan.change < 0).any() else texts.INVITATION_WITHOUT_SUPPORT
    return template.format(count=scan.change.size, word=scan.word, head=_head(scan.most_important))


def _named_pieces(answer: SentencePredictions, number: int) -> Pieces:
    """Return the words to check, by their pieces, for a scan to follow."""
    return tuple(score.ids for score in answer.scores[number] if score.probability is not None)


def _named_entries(answer: SentencePredictions, number: int) -> Pieces:
    """Return the words to check that are a single vocabulary entry."""
    return tuple(ids for ids in _named_pieces(answer, number) if len(ids) == 1)


def _cache_key(engine: Engine, answer: SentencePredictions, number: int, base: Changes, named: Pieces) -> tuple:
    written = ",".join(".".join(map(str, ids)) for ids in named)
    return ("scan", cache.engine_key(engine), answer.text, number, written, write_interventions(base))


def show_scan(page: str, engine: Engine, answer: SentencePredictions, number: int, changed: Changes) -> None:
    """Offer a scan of one blank, and show its result; what was changed when it began stays changed in all of it."""
    st.session_state.pop(widget_key(page, "scan_shown"), None)
    if is_hidden("scan"):
        return
    opened = st.expander(texts.SCAN, key=widget_key(page, "scan_opened"), on_change="rerun")
    if not opened.open:
        return
    identity = (cache.engine_key(engine), answer.text, number)
    started = st.session_state.get(widget_key(page, "scan"))
    base = started[1] if started and started[0] == identity else None
    now = tuple(change for change in changed if change != _clicked_change(page))
    if base is None and not now and quick_scan(engine, answer, number):
        base = ()
    with opened:
        if problem := st.session_state.pop(widget_key(page, "scan_problem"), ""):
            st.text(problem)
        result = None if base is None else _result(page, engine, answer, number, base)
        if result is not None:
            _show(page, result, base)
        if base is None or set(now) != set(base):
            label = texts.SCAN_START if base is None else texts.SCAN_AGAIN
            key = widget_key(page, "scan_start")
            st.button(label, key=key, icon=":material/grid_on:", on_click=_start_scan, args=(page, identity, now))


def _start_scan(page: str, identity: tuple, base: Changes) -> None:
    st.session_state[widget_key(page, "scan")] = (identity, base)
    st.session_state.pop(widget_key(page, "scan_off"), None)
    training.SCANS.stop(training.visitor(), "scan")


def _result(page: str, engine: Engine, answer: SentencePredictions, number: int, base: Changes) -> HeadScan | None:
    """Return the scan where it is cached or quick; else start or show its progress, and return None."""
    named = _named_pieces(answer, number)
    kept = _cache_key(engine, answer, number, base, named)
    if (result := cache.get(kept)) is not None:
        return result
    scan = Scan(engine, answer.text, blank=number, interventions=base, named=named)
    if scan.in_one_batch:
        with st.spinner(texts.SCANNING):
            return cache.get_or_compute(kept, scan.run)
    _watch(page, kept, scan)
    return None


@st.fragment(run_every=POLL_SECONDS)
def _watch(page: str, kept: tuple, scan: Scan) -> None:
    """Run a long scan in the background with its progress and a stop button; rerun the page at its end."""
    visitor = training.visitor()
    snapshot = training.SCANS.snapshot(visitor, "scan")
    wanted = st.session_state.get(widget_key(page, "scan_running"))
    if widget_key(page, "scan") not in st.session_state:  # stopped
        st.rerun()
    if snapshot is None or (wanted != kept and not snapshot.running):
        try:
            snapshot = training.SCANS.start(visitor, "scan", scan, own_address())
            st.session_state[widget_key(page, "scan_running")] = wanted = kept
        except Busy as problem:
            st.caption(f":material/hourglass_top: {problem}")
            return
    if wanted != kept:
        st.caption(texts.SCAN_STOPPING)
        return
    if _finish_if_ended(page, kept, snapshot):
        return
    if snapshot.state == "waiting":
        st.progress(0.0, training.queue_in_words(snapshot.ahead))
    else:
        last = snapshot.records[-1] if snapshot.records else None
        if last is None:
            st.progress(0.0, texts.SCAN_STARTING)
        else:
            progress = texts.SCAN_PROGRESS.format(done=last.done, total=last.total, seconds=last.seconds)
            st.progress(last.done / last.total, progress)
    st.button(texts.STOP, key=widget_key(page, "scan_stop"), icon=":material/stop:", on_click=_stop_scan, args=(page,))


def _finish_if_ended(page: str, kept: tuple, snapshot: Snapshot) -> bool:
    if snapshot.running:
        return False
    st.session_state.pop(widget_key(page, "scan_running"), None)
    result = snapshot.result.result
    if result is None:
        st.session_state.pop(widget_key(page, "scan"), None)
        st.session_state[widget_key(page, "scan_problem")] = snapshot.problem
    else:
        cache.get_or_compute(kept, lambda: result)
    st.rerun()
    return True


def _stop_scan(page: str) -> None:
    training.SCANS.stop(training.visitor(), "scan")
    st.session_state.pop(widget_key(page, "scan"), None)
    st.session_state.pop(widget_key(page, "scan_running"), None)


@dataclass(frozen=True)
class ShownScan:
    """The scan on the screen: its result, what was changed in all of it, and what is followed through it."""

    result: HeadScan
    base: Changes
    followed: Effect


def shown_scan(page: str) -> ShownScan | None:
    """Return the scan that the last run of the page has shown, if any."""
    return st.session_state.get(widget_key(page, "scan_shown"))


def _ask_effect(page: str, result: HeadScan) -> Effect:
    """Ask for the word whose probability is followed, and for another to subtract from it."""
    words = followed_words(result)
    keys = [widget_key(page, "scan_word"), widget_key(page, "scan_minus")]
    for key in keys:
        if st.session_state.get(key) not in words:
            st.session_state[key] = None
    first = st.session_state[keys[0]] or result.word
    if len(words) > 1:
        left, right = st.columns(2)
        others = [word for word in words if word != first]
        if st.session_state[keys[1]] == first:
            st.session_state[keys[1]] = None
        st.session_state[keys[0]] = first
        left.selectbox(texts.SCAN_WORD, list(words), key=keys[0])
        right.selectbox(texts.SCAN_MINUS, [None, *others], key=keys[1], format_func=lambda word: word or texts.SCAN_NO_MINUS)
    else:
        st.caption(texts.SCAN_NAME_WORDS)
    if any(len(one.ids) > 1 for one in words.values()):
        st.caption(LENGTH_NOTE)
    return effect(words[first], words.get(st.session_state[keys[1]]))


def _show(page: str, result: HeadScan, base: Changes) -> None:
    if result.notice:
        st.info(result.notice)
    st.text(in_words(result))
    if base:
        st.caption(texts.SCAN_BASE_ONE if len(base) == 1 else texts.SCAN_BASE_MANY.format(count=len(base)))
    followed = _ask_effect(page, result)
    st.session_state[widget_key(page, "scan_shown")] = ShownScan(result, base, followed)
    _show_wall(page, result, followed)
    st.caption(texts.SCAN_CAPTION.format(followed=escape_markdown(followed.name)))
    _show_ranking(page, result, followed)


def _show_wall(page: str, result: HeadScan, followed: Effect) -> None:
    """Draw what every head does as a wall; a click switches a head off."""
    limit = next(step for step in LIMITS if step >= min(LIMITS[-1], float(np.abs(followed.change).max())))
    name, layers, heads = widget_key(page, "scan_wall"), *followed.change.shape
    notes = [
        [
            texts.SCAN_NOTE.format(followed=followed.name, change=_from_to(followed, (layer, head)), word=word)
            for head, word in enumerate(words)
        ]
        for layer, words in enumerate(result.first_words)
    ]

    def switch_off() -> None:
        if clicked := chosen_heads(name, layers, heads):
            _switch_off_clicked(page, clicked[-1])

    off = _clicked_change(page)
    head_wall(
        cells(followed.change, limit),
        [(off.layer, off.head)] if off else [],
        scale=DIFFERENCE,
        key=name,
        on_choose=switch_off,
        notes=notes,
        ends=(f"−{whole_percent(limit)}", "0", f"+{whole_percent(limit)}"),
    )


def _show_ranking(page: str, result: HeadScan, followed: Effect) -> None:
    """List the heads with the largest effect; all heads as a file."""
    title = texts.SCAN_RANKING.format(followed=followed.name)
    st.markdown(f"**{escape_markdown(title)}**")
    rows = scan_rows(result, followed)
    st.dataframe(
        [dict(zip(SCAN_COLUMNS, row, strict=True)) for row in rows],
        hide_index=True,
        height=RANKING_HEIGHT,
        column_config={name: st.column_config.NumberColumn(format="%.4g") for name in SCAN_COLUMNS[3:9]},
    )
    download_button(DOWNLOAD_CSV, lambda: write_csv(SCAN_COLUMNS, rows), "head-scan.csv", key=widget_key(page, "scan_csv"))


def _from_to(followed: Effect, head: Head) -> str:
    """Write a followed number before and after: shares as percentages, differences in percentage points."""
    numbers = followed.before, float(followed.after[head])
    before, after = (percent(one) if one >= 0 else points(one) for one in numbers)
    change = texts.FROM_TO.format(before=before, after=after)
    if followed.ratios is None:
        return change
    before, after = (ratio_in_words(one, 1.0) for one in (followed.ratio_before, float(followed.ratios[head])))
    return texts.SCAN_CHANGE_AND_RATIO.format(change=change, ratio=texts.FROM_TO.format(before=before, after=after))


def cells(change: np.ndarray, limit: float) -> np.ndarray:
    """Write changes of probability as whole numbers around 128, by their square root, one cell a head."""
    share = np.clip(change / limit, -1, 1)
    return np.rint(128 + np.sign(share) * np.sqrt(np.abs(share)) * 127).astype(np.uint8)[:, :, None, None]


def in_words(result: HeadScan) -> str:
    """Return a sentence on the head that the word depends on most, and on how often another word replaces it."""
    place = np.unravel_index(result.change.argmin(), result.change.shape)
    sentences = [texts.SCAN_BEFORE.format(word=result.word, share=percent(result.before))]
    if result.change[place] < 0:
        sentences.append(texts.SCAN_LARGEST_FALL.format(head=_head(place), share=percent(float(result.after[place]))))
    sentences.append(texts.SCAN_OTHERS.format(count=int((result.first != result.entry).sum()), total=result.first.size))
    strongest = np.unravel_index(result.variation.argmax(), result.variation.shape)
    share = percent(float(result.variation[strongest]))
    return " ".join([*sentences, texts.SCAN_VARIATION.format(head=_head(strongest), share=share)])


def _head(place: Sequence[int]) -> str:
    return head_in_sentence((int(place[0]), int(place[1])))


def _clicked_change(page: str) -> Intervention | None:
    """Return the change that a click on the wall made, while it is active."""
    off = st.session_state.get(widget_key(page, "scan_off"))
    return off if off in st.session_state[widget_key(page, "changes")] else None


def _switch_off_clicked(page: str, head: tuple[int, int]) -> None:
    """Switch off this head instead of the one clicked before, and show its map."""
    name, off = widget_key(page, "changes"), Intervention("off", *head)
    before = _clicked_change(page)
    kept = tuple(change for change in st.session_state[name] if change != before)
    st.session_state[name] = with_change(kept, off)
    st.session_state[widget_key(page, "scan_off")] = off
    ask_for_view(page, {"heads": [head]})
