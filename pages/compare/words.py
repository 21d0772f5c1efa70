"""How similar the vectors of a word are in A and in B, layer by layer: each word that both texts have."""

from collections.abc import Sequence
from dataclasses import dataclass

import streamlit as st

from pages.compare import texts
from pages.compare.inputs import PAGE, WordPair
from pages.compare.runs import RunPair, SideRun
from pages.ui.shell.address import widget_key
from tx_core.analysis.word_comparison import (
    WordSimilarity,
    align,
    cosines,
    equal_words,
    number_word,
    pair_rows,
    word_numbers,
    word_similarities,
    word_vectors,
)

MAX_WORD_PAIRS = 100
"""Of a longer text, each word is followed with its partner only."""


@dataclass(frozen=True)
class FollowedWord:
    """A word of both texts, and how similar its vectors are after each layer.

    Attributes:
        places: its positions in A and in B among whole words, from 0.
        name: the word, with its numbers in A and B where A has it several times.
        are_partners: whether the two stand in one row of the comparison.
    """

    places: WordPair
    word: str
    name: str
    are_partners: bool
    similarity: WordSimilarity


def follow_words(pair: RunPair) -> list[FollowedWord]:
    """Follow every word that A and B share through the layers; none where their vectors share no space."""
    if pair.vary in texts.NO_COMMON_SPACE:
        return []
    one, other = (run.labels(words=True, hide=False) for run in pair.runs)
    partners, places = set(align(one.spelled, other.spelled)), equal_words(one.spelled, other.spelled)
    if len(places) > MAX_WORD_PAIRS:
        places = tuple(place for place in places if place in partners)
    if not places:
        return []
    vectors = [word_vectors(run.trace.hidden, run.view.query_places) for run in (one, other)]
    found = word_similarities(cosines(*vectors), one.spelled, other.spelled, places)
    words = one.view.queries
    numbers = [word_numbers(run.view.queries, run.view.query_special) for run in (one, other)]

    def name(mine: int, yours: int) -> str:
        word = words[mine]
        return word if words.count(word) == 1 else number_word(word, False, numbers[0][mine], numbers[1][yours])

    return [
        FollowedWord(place, words[place[0]], name(*place), place in partners, similarity)
        for place, similarity in zip(places, found, strict=True)
    ]


def chosen_word(pair: RunPair, followed: Sequence[FollowedWord]) -> FollowedWord:
    """Return the word that is followed: the chosen one, else that of the marked row, else the longest, rarely a function word."""
    by_place = {one.places: one for one in followed}
    longest = max(followed, key=lambda one: (len(one.word), one.are_partners))
    return by_place.get(_linked_word(pair)) or by_place.get(_marked_word(pair)) or longest


def drop_missing_word(pair: RunPair, followed: Sequence[FollowedWord]) -> None:
    """Forget a chosen word that A and B do not share."""
    if _linked_word(pair) not in [one.places for one in followed]:
        st.session_state[widget_key(PAGE, "word")] = None


def _linked_word(pair: RunPair) -> WordPair | None:
    """Return the chosen word, whose link counts the words that are shown."""
    word = st.session_state[widget_key(PAGE, "word")]
    shown = [_shown_words(run) for run in pair.runs]
    if word is None or any(place >= len(places) for place, places in zip(word, shown, strict=True)):
        return None
    return shown[0][word[0]], shown[1][word[1]]


def _shown_words(run: SideRun) -> list[int]:
    """List the places, among all whole words, of those that are shown."""
    hides = run.labels(words=True, hide=run.hide).view.hides_special
    special = run.labels(words=True, hide=False).view.query_special
    return [place for place, one in enumerate(special) if not (hides and one)]


def _marked_word(pair: RunPair) -> WordPair | None:
    """Return the word of the marked row, by its places among all whole words."""
    focus = st.session_state[widget_key(PAGE, "focus")]
    shown = [run.labels(run.words, run.hide) for run in pair.runs]
    rows = pair_rows(align(*(run.spelled for run in shown)), *(len(run.spelled) for run in shown))
    if focus is None or focus >= len(rows) or None in rows[focus]:
        return None
    tokens = [run.view.query_places[row][0] for run, row in zip(shown, rows[focus], strict=True)]
    one, other = (run.labels(words=True, hide=False).view.row_of(token) for run, token in zip(pair.runs, tokens, strict=True))
    return one, other
