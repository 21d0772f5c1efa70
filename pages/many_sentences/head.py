"""One head over many sentences: its averages in words, and the sentences in which it does something most."""

from typing import TYPE_CHECKING

import numpy as np
import streamlit as st

from pages import contents
from pages.ui.canvas import head_kinds
from pages.ui.canvas.attention_view import Head, heads_to_link
from pages.ui.shell import controls
from pages.ui.shell.address import widget_binding, widget_key

if TYPE_CHECKING:  # the core imports torch: the title is painted without it
    from tx_core.analysis.patterns import HeadPattern
    from tx_core.corpus.statistics import HeadReport

OWN = "own"
RANKS = (OWN, "previous", "next", "same", "first", "separator", "punctuation", "broad", "focused")
"""What sentences are ranked by: the head's own kind, or any of `head_statistics.RANKED`."""


def tell_head(report: "HeadReport", head: Head) -> None:
    """Say what a head does on average."""
    looks, pattern = head_kinds.looks(report.example), pattern_of(report, head)
    st.text(
        f"{controls.head_name(head)} looks at {looks[pattern.kind].aim} (confidence {pattern.confidence:.2f} of 1). "
        f"Seen in one sentence alone, it would be called so in {pattern.agreement:.0%} of the {report.sums.texts:,} sentences. "
        f"What comes next: {looks[pattern.second].aim} ({pattern.second_score:.2f}). "
        f"It spreads its attention to {report.spread[head]:.2f} of the widest possible (entropy {report.entropy[head]:.2f} "
        f"nats), and looks {report.distance[head]:.1f} tokens away on average."
    )


def pattern_of(report: "HeadReport", head: Head) -> "HeadPattern":
    """Give what was found of one head."""
    return report.patterns[head[0] * report.entropy.shape[1] + head[1]]


def strongest_sentences(page: str, report: "HeadReport", head: Head) -> str:
    """List the sentences in which the head does what the reader asks for most; give the first, "" where there is none."""
    looks = head_kinds.looks(report.example)
    names = {OWN: "what this head does", "focused": "looking at few tokens"}
    st.selectbox(
        "The sentences that are strongest in",
        RANKS,
        **widget_binding(widget_key(page, "rank")),
        format_func=lambda rank: names.get(rank) or f"looking at {looks[rank].aim}",
    )
    numbers, values = ranked(report, head, st.session_state[widget_key(page, "rank")])
    if not numbers:
        st.text("No sentence is long enough, or none shows this at all.")
        return ""
    for number, value in zip(numbers, values, strict=True):
        _row(report, head, number, value)
    st.caption("The number is the score in that sentence alone, from 0 (no more than an even look gives) to 1 (all attention).")
    return report.sentences.texts[numbers[0]]


def ranked(report: "HeadReport", head: Head, rank: str) -> tuple[list[int], list[float]]:
    """Give the numbers of the sentences and their scores, best first; for a mixed head, by how few tokens it looks at."""
    from tx_core.corpus.statistics import RANKED_KINDS

    kind = rank if rank != OWN else pattern_of(report, head).kind
    place = RANKED_KINDS.index("focused" if kind == "mixed" else kind)
    values, texts = (part[*head, place] for part in (report.strongest.values, report.strongest.texts))
    shown = np.isfinite(values) & (values > 0)
    scores = dict(zip(texts[shown].tolist(), values[shown].tolist(), strict=True))
    different = {report.sentences.texts[number]: number for number in reversed(scores)}  # a file may repeat a sentence
    numbers = sorted(different.values(), key=list(scores).index)
    return numbers, [scores[number] for number in numbers]


def _row(report: "HeadReport", head: Head, number: int, value: float) -> None:
    text = report.sentences.texts[number]
    sentence, link = st.columns([10, 3], vertical_alignment="center")
    sentence.text(f"{value:.2f} · {text}")
    link.page_link(
        contents.page("attention").path,
        label=f"See it (line {report.sentences.lines[number]:,})",
        icon=":material/zoom_in:",
        query_params={"text": text, "model": report.model, "heads": heads_to_link([head])},
    )
