"""How similar the vectors of a word are in A and in B, layer by layer: each word that both texts have."""

from collections.abc import Sequence
from dataclasses import dataclass

from pages.compare import texts
from pages.compare.inputs import PAGE, WordPair
from pages.compare.runs import RunPair, SideRun
from pages.ui.shell.address import set_values, value_of
from pages.ui.stage.charts import Chart, lines_drawing
from tx_core.analysis.comparison import (
    WordSimilarity,
    align,
    cosines,
    equal_words,
    number_word,
    word_numbers,
    word_similarities,
    word_vectors,
)

CHART_HEIGHT = 280
MAX_WORD_PAIRS = 100
"""Of a longer text, each word is followed with its partner only."""


@dataclass(frozen=True)
class FollowedWord:
    """A word of both texts, and how similar its vectors are after each layer.

    places: its positions in A and in B among whole words, from 0. name: the word, with its numbers in A and B where A has it
    several times. are_partners: whether the two stand in one row of the comparison.
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


def first_word(followed: Sequence[FollowedWord]) -> FollowedWord:
    """Return the word that is followed until one is chosen: the longest, which is rarely a function word."""
    return max(followed, key=lambda one: (len(one.word), one.are_partners))


def chosen_word(pair: RunPair, followed: Sequence[FollowedWord]) -> FollowedWord | None:
    """Return the word that is followed, the first where the link names none that A and B share; None without any."""
    word, by_place = value_of(PAGE, "word"), {one.places: one for one in followed}
    shown = [_shown_words(run) for run in pair.runs]
    if word is not None:
        is_there = all(place < len(places) for place, places in zip(word, shown, strict=True))
        word = (shown[0][word[0]], shown[1][word[1]]) if is_there else None
    if word not in by_place:
        set_values(PAGE, {"word": None})
    return by_place.get(word) or (first_word(followed) if followed else None)


def _shown_words(run: SideRun) -> list[int]:
    """List the places, among all whole words, of those that are shown."""
    hides = run.labels(words=True, hide=run.hide).view.hides_special
    special = run.labels(words=True, hide=False).view.query_special
    return [place for place, one in enumerate(special) if not (hides and one)]


def word_chart(followed: FollowedWord, digits: int = 16) -> Chart:
    """Draw the lines of a word and of its baselines, from the embeddings to the last layer."""
    one = followed.similarity
    lines = {texts.WORD_SERIES.format(word=followed.name): one.word}
    if one.shared is not None:
        lines[texts.SHARED_SERIES.format(count=one.shared_pairs)] = one.shared
    band = None
    if one.mean is not None:
        lines[texts.DIFFERENT_SERIES.format(count=one.pairs)] = one.mean
        band = [border.round(digits).tolist() for border in (one.mean - one.spread, one.mean + one.spread)]
    lowest = min([0.0, *one.word, *(band[0] if band else ())])
    return lines_drawing(
        texts.COSINES,
        [texts.EMBEDDINGS, *map(str, range(1, len(one.word)))],
        {name: line.round(digits).tolist() for name, line in lines.items()},
        limits=(lowest - 0.05, 1.05),
        band=band,
        tall=CHART_HEIGHT,
        note=texts.BAND if band else "",
    ).chart
