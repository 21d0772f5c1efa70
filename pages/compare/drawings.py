"""What is drawn of A and B: their maps and B − A on one canvas, and the similarity of a word's vectors in both, layer by layer.

Each comes with the same in a sentence and in a table.
"""

import csv
import io
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import streamlit as st
from jaxtyping import Int

from pages.compare import texts
from pages.compare.controls import changes_in_full
from pages.compare.runs import Run
from pages.compare.state import VARIES, Side, name_head
from pages.ui.canvas.attention_view import BOX, STYLE, focused_token, parse_token
from pages.ui.canvas.charts import show_lines
from pages.ui.canvas.component import component
from pages.ui.canvas.packing import codes, difference_codes, pack
from pages.ui.canvas.texts import COMPARISON
from pages.ui.export.records import shortened
from pages.ui.shell import controls
from pages.ui.shell.address import widget_binding, widget_key
from pages.ui.shell.controls import download_button
from pages.ui.shell.level import is_hidden
from tx_core.analysis.comparison import Comparison, compare_attention, describe_largest_difference, largest_links, list_links
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

MODULE, STYLES = "comparison/comparison.js", (STYLE, "comparison/comparison.css")
MAX_LINK_ROWS = 2000
MAX_LONELY_WORDS = 12
MAX_TITLE_CHARACTERS = 48
COLUMNS = ("query", "key", "A", "B", "B − A")


def show_maps(page: str, one: Run, other: Run) -> Comparison:
    """Show what A and B attend to and what differs; return the comparison."""
    comparison = compare_attention(one.view, other.view, one.spelled, other.spelled, one.weights, other.weights)
    vary = st.session_state[widget_key(page, "vary")]
    if vary == "model" and one.side.model == other.side.model:
        st.info(texts.SAME_MODEL)
    elif one.side == other.side:
        st.info(texts.SAME_SIDES)
    focus = widget_key(page, "focus")
    if (st.session_state[focus] or 0) >= len(comparison.rows):
        st.session_state[focus] = None
    _draw_maps(page, one, other, comparison, vary)
    st.markdown(f"{texts.SHOWS} {texts.DOES_NOT_SHOW[vary]}")
    st.caption(f"{partners_in_words(comparison)} {texts.HOW_PAIRED}")
    difference_table(comparison, key=widget_key(page, "table"))
    return comparison


def _draw_maps(page: str, one: Run, other: Run, comparison: Comparison, vary: str) -> None:
    """Draw the maps, and say where they differ most."""
    key, focus = widget_key(page, "maps"), widget_key(page, "focus")

    def take_focus() -> None:
        st.session_state[focus] = focused_token(key, len(comparison.rows))

    difference = describe_largest_difference(comparison, st.session_state[focus])
    st.text(difference)
    packed = packed_comparison(
        comparison,
        (one.view.queries, other.view.queries),
        map_titles(one.side, other.side, vary),
        alt=difference,
        scale=st.session_state[widget_key(page, "scale")],
        focus=st.session_state[focus],
    )
    _canvas()(key=key, data=packed, on_focus_change=take_focus)


def _canvas() -> Callable[..., object]:
    return component("comparison", BOX, MODULE, *STYLES, height=900)


def packed_comparison(
    comparison: Comparison,
    tokens: tuple[Sequence[str], Sequence[str]],
    titles: tuple[str, str, str],
    *,
    alt: str,
    scale: str,
    focus: int | None,
    **header: object,
) -> bytes:
    """Pack both maps and their difference for the canvas; words without a partner are hatched.

    tokens: the words of A and of B. titles: of A, B and B − A. focus: a row of the comparison, from 0. Further keyword
    arguments go into the header.
    """
    header = {
        "one": list(tokens[0]),
        "other": list(tokens[1]),
        "labels": list(comparison.labels),
        "rows": [list(row) for row in comparison.rows],
        "titles": list(titles),
        "texts": COMPARISON,
        "alt": alt,
        "scale": scale,
        "focus": parse_token(focus, len(comparison.rows)),
    } | header
    maps = (codes(comparison.one), codes(comparison.other), difference_codes(comparison.difference))
    return pack(header, np.concatenate([cells.ravel() for cells in maps]))


def map_titles(one: Side, other: Side, vary: str) -> tuple[str, str, str]:
    """Title the maps of A, B and B − A."""
    return texts.TITLES["A"].format(side=title(one, vary)), texts.TITLES["B"].format(side=title(other, vary)), texts.DIFFERENCE


def title(side: Side, vary: str) -> str:
    """Name what differs in a side."""
    parts = {
        "text": " / ".join(shortened(text, MAX_TITLE_CHARACTERS) for text in (side.text, side.pair) if text),
        "head": name_head(side.head),
        "seed": texts.RANDOM_SIDE.format(seed=side.seed) if side.seed else texts.TRAINED_SIDE,
        "changes": texts.CHANGED_SIDE.format(changes=changes_in_full(side.changes)) if side.changes else texts.UNCHANGED_SIDE,
        "model": controls.model_title(side.model),
    }
    return ", ".join(parts[part] for part in VARIES[vary] if part in parts)


def partners_in_words(comparison: Comparison) -> str:
    """Return a sentence on the words without a partner in the other text."""
    sentences = [_words_without_partner(side, words) for side, words in zip("AB", comparison.unmatched, strict=True) if words]
    return " ".join(sentences) or texts.ALL_PAIRED


def _words_without_partner(side: str, words: Sequence[str]) -> str:
    more, listed = len(words) - MAX_LONELY_WORDS, ", ".join(words[:MAX_LONELY_WORDS])
    return texts.ONLY_IN_MORE[side].format(words=listed, more=more) if more > 0 else texts.ONLY_IN[side].format(words=listed)


def difference_table(comparison: Comparison, *, key: str) -> None:
    """Offer the links of A and B as a table, built only when it is opened, and all of them as a CSV file."""
    if is_hidden("tables"):
        return
    folded = st.expander(texts.TABLE, key=key, on_change="rerun")
    if not folded.open:
        return
    every = list_links(comparison)
    listed = every if len(every) <= MAX_LINK_ROWS else largest_links(comparison, every, MAX_LINK_ROWS)
    with folded:
        st.caption(texts.TABLE_ROWS)
        if len(listed) < len(every):
            st.caption(texts.TABLE_CUT.format(all=len(every), shown=len(listed)))
        st.dataframe(list(difference_rows(comparison, listed)), hide_index=True)
        download_button(texts.DOWNLOAD, lambda: as_csv(difference_rows(comparison, every)), "comparison.csv", key=f"{key}_csv")


def difference_rows(comparison: Comparison, listed: Int[np.ndarray, "link 2"] | None = None) -> Iterator[dict[str, object]]:
    """Yield links with both weights and their difference, None for a missing one. listed: the links, None for all."""
    for row, column in (list_links(comparison) if listed is None else listed).tolist():
        (mine, yours), (my_key, your_key) = comparison.rows[row], comparison.rows[column]
        before = None if mine is None or my_key is None else shortest(comparison.one[mine, my_key])
        after = None if yours is None or your_key is None else shortest(comparison.other[yours, your_key])
        difference = shortest(comparison.difference[row, column]) if comparison.comparable[row, column] else None
        query, key = f"{row + 1} {comparison.labels[row]}", f"{column + 1} {comparison.labels[column]}"
        yield dict(zip(COLUMNS, (query, key, before, after, difference), strict=True))


def as_csv(rows: Iterable[dict[str, object]]) -> str:
    """Return links as CSV; labels begin with a number, so no spreadsheet takes one for a formula."""
    written = io.StringIO()
    table = csv.DictWriter(written, COLUMNS)
    table.writeheader()
    table.writerows(rows)
    return written.getvalue()


def shortest(number: np.floating) -> float:
    """Return a number of an array with the fewest digits that restore it."""
    return float(str(number))


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
    _draw_similarity(page, followed)
    return followed


def _ask_word(page: str, options: Sequence[WordPair], one: Run, other: Run) -> WordPair:
    """Ask for a word; the default is the longest, which is rarely a function word."""
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

    def store_word() -> None:
        st.session_state[name] = st.session_state[shown]

    return controls.choice_box(texts.ASK_WORD, options, format_func=label, width=320, **widget_binding(shown, store_word))


def _draw_similarity(page: str, followed: WordThroughLayers) -> None:
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
        """Return the labels of the steps: the embeddings, then the number of each layer."""
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
            columns["word"].format(word=followed.word): shortest(value),
        }
        if similarity.shared is not None:
            row[columns["shared"]] = shortest(similarity.shared[step])
        if similarity.mean is not None:
            row[columns["different"]] = shortest(similarity.mean[step])
            row[columns["deviation"]] = shortest(similarity.spread[step])
        rows.append(row)
    return rows
