"""The similarity of a word's vectors in A and in B, layer by layer: a chart, a sentence and a table."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import streamlit as st

from pages.compare import texts
from pages.compare.runs import Run
from pages.ui.canvas.charts import show_lines
from pages.ui.shell.address import widget_binding, widget_key
from pages.ui.shell.level import is_hidden
from tx_core.analysis.word_comparison import (
    WordSimilarity,
    align,
    cosines,
    describe_word_similarity,
    equal_words,
    number_word,
    word_numbers,
    word_similarity,
    word_vectors,
)

MAX_WORD_PAIRS = 500
CHART_HEIGHT = 265

WordPair = tuple[int, int]


@dataclass(frozen=True)
class WordThroughLayers:
    """A word of both texts, and how similar its vectors are after each layer.

    Attributes:
        pair: its positions in A and in B, from 0.
    """

    pair: WordPair
    word: str
    similarity: WordSimilarity


def show_word(page: str, one: Run, other: Run) -> WordThroughLayers | None:
    """Follow a word of both texts through the layers, beside other words; None where there is nothing to follow."""
    st.subheader(texts.WORD_HEADING, anchor=False)
    vary = st.session_state[widget_key(page, "vary")]
    if vary in texts.NO_COMMON_SPACE:
        st.markdown(texts.NO_COMMON_SPACE[vary])
        return None
    options = equal_words(one.spelled, other.spelled)
    if not options:
        st.markdown(texts.NO_COMMON_WORD)
        return None
    pair = _ask_word(page, options, one, other)
    vectors = [word_vectors(run.trace.hidden, run.view.query_places) for run in (one, other)]
    similarity = word_similarity(cosines(*vectors), one.spelled, other.spelled, pair)
    followed = WordThroughLayers(pair, one.view.queries[pair[0]], similarity)
    _draw(page, followed)
    return followed


def _ask_word(page: str, options: Sequence[WordPair], one: Run, other: Run) -> WordPair:
    """Let the reader choose a word; the first choice is the longest, which is rarely a function word."""
    name, aligned = widget_key(page, "word"), set(align(one.spelled, other.spelled))
    if len(options) > MAX_WORD_PAIRS:  # a long text that repeats itself: each word with its partner only
        options = [pair for pair in options if pair in aligned]
    if st.session_state[name] not in options:
        st.session_state[name] = None
    words = Counter(one.view.queries[mine] for mine, _ in options)
    longest = max(options, key=lambda pair: (len(one.view.queries[pair[0]]), pair in aligned))
    numbers = [word_numbers(run.view.queries, run.view.query_special) for run in (one, other)]

    def label(pair: WordPair) -> str:
        word = one.view.queries[pair[0]]
        return word if words[word] == 1 else number_word(word, False, numbers[0][pair[0]], numbers[1][pair[1]])

    shown = f"{name}_shown"
    st.session_state[shown] = st.session_state[name] or longest

    def take_word() -> None:
        st.session_state[name] = st.session_state[shown]

    return st.selectbox(texts.ASK_WORD, options, format_func=label, width=320, **widget_binding(shown, take_word))


def _draw(page: str, followed: WordThroughLayers) -> None:
    st.text(describe_word_similarity(followed.similarity, followed.word))
    chart = WordChart(followed)
    show_lines(
        texts.COSINES,
        chart.steps,
        chart.series,
        step_name=texts.LAYER,
        tall=CHART_HEIGHT,
        limits=chart.limits,
        band=chart.band,
        key=f"{page}_similarity",
    )
    if chart.band:
        st.caption(texts.BAND)
    st.markdown(texts.WORD_SHOWS)
    if is_hidden("tables"):
        return
    folded = st.expander(texts.SIMILARITIES, key=f"{page}_similarity_table", on_change="rerun")
    if folded.open:
        folded.dataframe(similarity_rows(followed), hide_index=True)


@dataclass(frozen=True)
class WordChart:
    """The chart of a word: steps from the embeddings to the last layer, one line each for the word and its baselines."""

    followed: WordThroughLayers

    @property
    def steps(self) -> list[str]:
        """Name the steps: the embeddings, then the number of each layer."""
        return [texts.EMBEDDINGS, *map(str, range(1, len(self.followed.similarity.word)))]

    @property
    def series(self) -> dict[str, list[float]]:
        """The lines by name."""
        similarity = self.followed.similarity
        series = {texts.WORD_SERIES.format(word=self.followed.word): similarity.word.tolist()}
        if similarity.shared is not None:
            series[texts.SHARED_SERIES.format(count=similarity.shared_pairs)] = similarity.shared.tolist()
        if similarity.mean is not None:
            series[texts.DIFFERENT_SERIES.format(count=similarity.pairs)] = similarity.mean.tolist()
        return series

    @property
    def band(self) -> tuple[list[float], list[float]] | None:
        """The lower and upper border of one standard deviation around words that differ; None without any."""
        mean, deviation = self.followed.similarity.mean, self.followed.similarity.spread
        return None if mean is None else ((mean - deviation).tolist(), (mean + deviation).tolist())

    @property
    def limits(self) -> tuple[float, float]:
        """The ends of the axis: 0 to 1, and lower if there is something below."""
        lowest = min(self.followed.similarity.word.tolist() + (self.band[0] if self.band else []))
        return min(0.0, lowest) - 0.05, 1.05


def similarity_rows(followed: WordThroughLayers) -> list[dict[str, object]]:
    """List the similarities, one row per layer."""
    similarity, columns = followed.similarity, texts.SIMILARITY_COLUMNS
    rows = []
    for step, value in enumerate(similarity.word):
        row: dict[str, object] = {
            columns["depth"]: texts.LAYER.format(step=step) if step else texts.EMBEDDINGS,
            columns["word"].format(word=followed.word): round(float(value), 4),
        }
        if similarity.shared is not None:
            row[columns["shared"]] = round(float(similarity.shared[step]), 4)
        if similarity.mean is not None:
            row[columns["different"]] = round(float(similarity.mean[step]), 4)
            row[columns["deviation"]] = round(float(similarity.spread[step]), 4)
        rows.append(row)
    return rows
