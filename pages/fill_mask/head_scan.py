"""Head scan: every head switched off in turn, and a wall coloured by what that does to the prediction."""

import numpy as np
import streamlit as st

from pages.fill_mask import texts
from pages.ui.canvas.attention_view import DIFFERENCE, chosen_heads, head_wall
from pages.ui.panels import training
from pages.ui.panels.changes import Changes, with_change
from pages.ui.panels.predictions import SentencePredictions
from pages.ui.panels.view_options import head_in_sentence
from pages.ui.shell import cache
from pages.ui.shell.address import widget_key
from pages.ui.shell.numbers import percent, whole_percent
from tx_core.engine.engine import Engine
from tx_core.errors import Busy
from tx_core.fill_mask.head_scan import HeadScan, Scan
from tx_core.training.background import Snapshot
from tx_core.transformer.interventions import Intervention, write_interventions

POLL_SECONDS = 0.5
LIMITS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0)


def show_scan(page: str, engine: Engine, answer: SentencePredictions, number: int, changed: Changes) -> None:
    """Offer a scan of one blank, and show its result; what was changed when it began stays changed in all of it."""
    opened = st.expander(texts.SCAN, key=widget_key(page, "scan_opened"), on_change="rerun")
    if not opened.open:
        return
    identity = (engine.name, engine.device, answer.text, number)
    held = st.session_state.get(widget_key(page, "scan"))
    began = held[1] if held and held[0] == identity else None
    with opened:
        if problem := st.session_state.pop(widget_key(page, "scan_problem"), ""):
            st.text(problem)
        if began is None or set(changed) - {_off(page)} != set(began):
            label = texts.SCAN_START if began is None else texts.SCAN_AGAIN
            base = tuple(change for change in changed if change != _off(page))
            st.button(
                label, key=widget_key(page, "scan_start"), icon=":material/grid_on:", on_click=_begin, args=(page, identity, base)
            )
        if began is not None:
            result = _result(page, engine, answer.text, number, began, identity)
            if result is not None:
                _show(page, result, began)


def _begin(page: str, identity: tuple, base: Changes) -> None:
    st.session_state[widget_key(page, "scan")] = (identity, base)
    st.session_state.pop(widget_key(page, "scan_off"), None)
    training.SCANS.stop(training.visitor(), "scan")


def _result(page: str, engine: Engine, text: str, number: int, base: Changes, identity: tuple) -> HeadScan | None:
    """Give the scan where it is known or quickly made; else show how far it is, and None."""
    kept = ("scan", *identity, write_interventions(base))
    if (result := cache.get(kept)) is not None:
        return result
    scan = Scan(engine, text, blank=number, interventions=base)
    if scan.batches == 1:
        with st.spinner(texts.SCANNING):
            return cache.get_or_compute(kept, scan.run)
    _watch(page, kept, scan)
    return None


@st.fragment(run_every=POLL_SECONDS)
def _watch(page: str, kept: tuple, scan: Scan) -> None:
    """Run a long scan in the background, tell how far it is and let the reader stop it; at its end the page runs once more."""
    visitor = training.visitor()
    snapshot = training.SCANS.snapshot(visitor, "scan")
    wanted = st.session_state.get(widget_key(page, "scan_running"))
    if widget_key(page, "scan") not in st.session_state:  # stopped
        st.rerun()
    if snapshot is None or (wanted != kept and not snapshot.running):
        try:
            snapshot = training.SCANS.start(visitor, "scan", scan)
            st.session_state[widget_key(page, "scan_running")] = wanted = kept
        except Busy as problem:
            st.caption(f":material/hourglass_top: {problem}")
            return
    if wanted != kept:
        st.caption(texts.SCAN_STOPPING)
        return
    if _ended(page, kept, snapshot):
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
    st.button(texts.STOP, key=widget_key(page, "scan_stop"), icon=":material/stop:", on_click=_stop, args=(page,))


def _ended(page: str, kept: tuple, snapshot: Snapshot) -> bool:
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


def _stop(page: str) -> None:
    training.SCANS.stop(training.visitor(), "scan")
    st.session_state.pop(widget_key(page, "scan"), None)
    st.session_state.pop(widget_key(page, "scan_running"), None)


def _show(page: str, result: HeadScan, base: Changes) -> None:
    if result.notice:
        st.info(result.notice)
    st.text(in_words(result))
    if base:
        st.caption(texts.SCAN_BASE_ONE if len(base) == 1 else texts.SCAN_BASE_MANY.format(count=len(base)))
    limit = next(step for step in LIMITS if step >= min(1.0, float(np.abs(result.change).max())))
    name, layers, heads = widget_key(page, "scan_wall"), *result.change.shape
    written = [
        [texts.SCAN_NOTE.format(share=percent(after), word=first) for after, first in zip(row, words, strict=True)]
        for row, words in zip(result.after.tolist(), result.first_words, strict=True)
    ]

    def switch_off() -> None:
        if clicked := chosen_heads(name, layers, heads):
            _put_off(page, clicked[-1])

    off = _off(page)
    head_wall(
        cells(result.change, limit),
        [(off.layer, off.head)] if off else [],
        scale=DIFFERENCE,
        key=name,
        on_choose=switch_off,
        notes=written,
        ends=(f"−{whole_percent(limit)}", "0", f"+{whole_percent(limit)}"),
    )
    st.caption(texts.SCAN_CAPTION)


def cells(change: np.ndarray, limit: float) -> np.ndarray:
    """Write changes of probability as whole numbers around 128, by their square root, one cell a head."""
    share = np.clip(change / limit, -1, 1)
    return np.rint(128 + np.sign(share) * np.sqrt(np.abs(share)) * 127).astype(np.uint8)[:, :, None, None]


def in_words(result: HeadScan) -> str:
    """Say which head the word depends on most, and how often another word takes its place."""
    place = np.unravel_index(result.change.argmin(), result.change.shape)
    sentences = [texts.SCAN_BEFORE.format(word=result.word, share=percent(result.before))]
    if result.change[place] < 0:
        sentences.append(texts.SCAN_LARGEST_FALL.format(head=_head(place), share=percent(float(result.after[place]))))
    sentences.append(texts.SCAN_OTHERS.format(count=int((result.first != result.entry).sum()), total=result.first.size))
    strongest = np.unravel_index(result.variation.argmax(), result.variation.shape)
    share = percent(float(result.variation[strongest]))
    return " ".join([*sentences, texts.SCAN_VARIATION.format(head=_head(strongest), share=share)])


def _head(place: tuple) -> str:
    return head_in_sentence((int(place[0]), int(place[1])))


def _off(page: str) -> Intervention | None:
    """Give the change that a click on the wall made, while it stands."""
    off = st.session_state.get(widget_key(page, "scan_off"))
    return off if off in st.session_state[widget_key(page, "changes")] else None


def _put_off(page: str, head: tuple[int, int]) -> None:
    """Switch this head off in place of the one clicked before, and look at it."""
    name, off = widget_key(page, "changes"), Intervention("off", *head)
    before = _off(page)
    kept = tuple(change for change in st.session_state[name] if change != before)
    st.session_state[name] = with_change(kept, off)
    st.session_state[widget_key(page, "scan_off")] = off
    st.session_state[widget_key(page, "heads")] = [head]
