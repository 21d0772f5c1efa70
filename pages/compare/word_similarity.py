"""How alike are a word's vectors in A and in B, layer by layer? A chart, a sentence and a table."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import streamlit as st

from pages.compare.run import Run
from pages.ui.canvas.lines import show_lines
from pages.ui.shell.address import widget_binding, widget_key

if TYPE_CHECKING:  # the core imports torch: only a page that computes waits for it
    from tx_core.analysis.word_comparison import WordSimilarity

MAX_WORD_PAIRS = 500
NOT_HERE = {
    "head": "A and B are heads of the same run, so every word has the same vector in both: there is nothing to follow.",
    "untrained": "Vectors of two models with other weights live in spaces of their own: the angle between them means nothing.",
    "model": "Vectors of two models live in spaces of their own: the angle between them means nothing.",
}
TELLS = (
    "**The similarity can tell** whether the words around it move a word's vector, and from which layer on. **It cannot tell** "
    "what the vectors mean or in what they differ; and since words that have nothing in common are alike, too (Ethayarajh 2019), "
    "a similarity counts only against theirs. With few words that baseline is rough, and a word's place in its sentence counts."
)


@dataclass(frozen=True)
class Followed:
    """A word that was followed through the layers: its places in A and in B, how it is written, and what was found."""

    places: tuple[int, int]
    word: str
    found: "WordSimilarity"


def word_through_layers(page: str, one: Run, other: Run) -> Followed | None:
    """Follow a word that A and B share through the layers, beside other words; give what is shown, if anything."""
    st.subheader("Does a word stay the same?", anchor=False)
    vary = st.session_state[widget_key(page, "vary")]
    if vary in NOT_HERE:
        st.markdown(NOT_HERE[vary])
        return None
    from tx_core.analysis.word_comparison import equal_words

    spelled, spelled_other = one.spelled, other.spelled
    options = equal_words(spelled, spelled_other)
    if not options:
        st.markdown("A and B share no word: use one word in both sentences to see whether its vector stays the same.")
        return None
    chosen = _ask_word(page, options, one, other)
    found = _likeness(one, other, chosen)
    followed = Followed(chosen, one.view.queries[chosen[0]], found)
    _draw(page, found, followed.word)
    return followed


def _ask_word(page: str, options: Sequence[tuple[int, int]], one: Run, other: Run) -> tuple[int, int]:
    """Let the reader choose a shared word; at first it is the longest, which is seldom a function word."""
    from tx_core.analysis.word_comparison import number_word, word_numbers

    name, aligned = widget_key(page, "word"), set(_aligned(one, other))
    if len(options) > MAX_WORD_PAIRS:  # a long text that repeats itself: each word with its partner only
        options = [pair for pair in options if pair in aligned]
    if st.session_state[name] not in options:
        st.session_state[name] = None
    words = Counter(one.view.queries[mine] for mine, _ in options)
    longest = max(options, key=lambda pair: (len(one.view.queries[pair[0]]), pair in aligned))

    numbers = [word_numbers(run.view.queries, run.view.query_special) for run in (one, other)]

    def label(pair: tuple[int, int]) -> str:
        word = one.view.queries[pair[0]]
        return word if words[word] == 1 else number_word(word, False, numbers[0][pair[0]], numbers[1][pair[1]])

    shown = f"{name}_shown"
    st.session_state[shown] = st.session_state[name] or longest

    def take() -> None:
        st.session_state[name] = st.session_state[shown]

    return st.selectbox("Word", options, format_func=label, width=320, **widget_binding(shown, take))


def _aligned(one: Run, other: Run) -> tuple[tuple[int, int], ...]:
    from tx_core.analysis.word_comparison import align

    return align(one.spelled, other.spelled)


def _likeness(one: Run, other: Run, chosen: tuple[int, int]) -> "WordSimilarity":
    from tx_core.analysis.word_comparison import cosines, word_similarity, word_vectors

    vectors = [word_vectors(run.trace.hidden, run.view.query_places) for run in (one, other)]
    return word_similarity(cosines(*vectors), one.spelled, other.spelled, chosen)


def _draw(page: str, found: "WordSimilarity", word: str) -> None:
    from tx_core.analysis.word_comparison import describe_word_similarity

    told = describe_word_similarity(found, word)
    st.text(told)
    steps, series, band = chart_parts(found, word)
    show_lines(
        "Cosine of two vectors by layer",
        steps,
        series,
        unit="layer",
        tall=265,
        limits=limits(found),
        band=band,
        key=f"{page}_likeness",
    )
    if band:
        st.caption("From the embeddings to the last layer. The shade is one standard deviation around the words that differ.")
    st.markdown(TELLS)
    opened = st.expander("The similarities as a table", key=f"{page}_likeness_table", on_change="rerun")
    if opened.open:
        opened.dataframe(likeness_rows(found, word), hide_index=True)


def chart_parts(
    found: "WordSimilarity", word: str
) -> tuple[list[str], dict[str, list[float]], tuple[list[float], list[float]] | None]:
    """Give the steps of the chart, its lines by name, and the borders of its shade, None without one."""
    steps = ["embeddings", *(str(layer) for layer in range(1, len(found.word)))]
    series, band = {f"“{word}” in A and B": found.word.tolist()}, None
    if found.shared is not None:
        series[f"other shared words (mean of {found.shared_pairs})"] = found.shared.tolist()
    if found.mean is not None:
        series[f"words that differ (mean of {found.pairs} pairs)"] = found.mean.tolist()
        band = ((found.mean - found.spread).tolist(), (found.mean + found.spread).tolist())
    return steps, series, band


def limits(found: "WordSimilarity") -> tuple[float, float]:
    """Show 0 to 1, and below where there is something."""
    parts = [found.word, *([] if found.mean is None else [found.mean - found.spread])]
    lowest = min(float(part.min()) for part in parts)
    return (min(0.0, lowest) - 0.05, 1.05)


def likeness_rows(found: "WordSimilarity", word: str) -> list[dict[str, object]]:
    """List the similarities, one row a layer."""
    rows = []
    for step, similarity in enumerate(found.word):
        row: dict[str, object] = {"after": f"layer {step}" if step else "embeddings", f"“{word}”": round(float(similarity), 4)}
        if found.shared is not None:
            row["other shared words"] = round(float(found.shared[step]), 4)
        if found.mean is not None:
            row["words that differ"] = round(float(found.mean[step]), 4)
            row["standard deviation"] = round(float(found.spread[step]), 4)
        rows.append(row)
    return rows
