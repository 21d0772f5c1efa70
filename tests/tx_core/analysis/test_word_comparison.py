"""Words of two texts: which correspond, and how similar their vectors are."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tx_core.analysis import word_comparison
from tx_core.analysis.views import word_groups
from tx_core.analysis.word_comparison import (
    WordSimilarity,
    align,
    cosines,
    number_word,
    pair_rows,
    spell_words,
    word_numbers,
    word_similarities,
    word_vectors,
)
from tx_core.engine import catalogue

TEXTS = st.lists(st.sampled_from("abcd"), max_size=9).map(lambda letters: tuple(("word", letter) for letter in letters))


def spelled(text: str) -> tuple[tuple[str, str], ...]:
    return tuple(("word", word) for word in text.split())


def read(text: str, pair: str | None = None) -> tuple[tuple[str, str], ...]:
    encoding = catalogue.load(catalogue.DEFAULT).encode(text, pair)
    return spell_words(encoding, word_groups(encoding))


def longest(one: tuple, other: tuple) -> int:
    """The textbook's recursion, on its own."""
    if not one or not other:
        return 0
    lengths = [[0] * (len(other) + 1) for _ in range(len(one) + 1)]
    for row, mine in enumerate(one, 1):
        for column, yours in enumerate(other, 1):
            lengths[row][column] = (
                lengths[row - 1][column - 1] + 1 if mine == yours else max(lengths[row - 1][column], lengths[row][column - 1])
            )
    return lengths[-1][-1]


@given(TEXTS, TEXTS)
def test_as_many_equal_words_as_can_be_are_paired_in_order(one, other):
    pairs = align(one, other)
    assert all(one[mine] == other[yours] for mine, yours in pairs)
    assert len(pairs) == longest(one, other)


@given(TEXTS, TEXTS)
def test_laid_together_every_word_of_both_sides_stands_once_and_in_order(one, other):
    pairs = align(one, other)
    rows = pair_rows(pairs, len(one), len(other))
    assert [mine for mine, _ in rows if mine is not None] == list(range(len(one)))
    assert [yours for _, yours in rows if yours is not None] == list(range(len(other)))
    assert tuple(row for row in rows if None not in row) == pairs
    assert (None, None) not in rows


def test_neighbours_stay_together():
    assert align(spelled("the cat"), spelled("the dog saw the cat")) == ((0, 3), (1, 4))
    assert align(spelled("a b"), spelled("a b x a x b")) == ((0, 0), (1, 1))


def test_of_equal_pairings_the_first_is_taken():
    assert align(spelled("the cat the cat the cat"), spelled("cat")) == ((1, 0),)
    assert align(spelled("cat"), spelled("the cat the cat")) == ((0, 1),)


def test_a_special_token_draws_no_word_towards_it():
    first, last = (("special", "first"),), (("special", "after"),)
    one, other = first + spelled("the cat the cat the cat") + last, first + spelled("cat") + last
    assert align(one, other) == ((0, 0), (2, 1), (7, 2))


def test_words_are_counted_as_a_reader_counts():
    words, special = ("[CLS]", "the", "cat", ",", "the", "[MASK]", ".", "[SEP]"), (True, *(False,) * 6, True)
    assert word_numbers(words, special) == (0, 1, 2, 2, 3, 4, 4, 4)
    assert number_word("the", False, 3, 1) == word_comparison.WORD_NUMBERS.format(word="the", mine=3, yours=1)
    assert number_word(",", False, 2, 1) == word_comparison.AFTER_WORD_NUMBERS.format(word=",", mine=2, yours=1)
    after = word_comparison.AFTER_WORD_NUMBERS.format(word="[SEP]", mine=4, yours=4)
    assert number_word("[SEP]", True, 4, 4) == after


def test_special_tokens_are_known_by_where_they_stand_and_blanks_by_being_blanks():
    one = read("TIME [MASK]", "a bird")
    assert one == (
        ("special", "first"),
        ("word", "time"),
        ("blank", ""),
        ("special", "after"),
        ("word", "a"),
        ("word", "bird"),
        ("special", "after"),
    )


VERB_AND_NOUN = ("time flies like an arrow", "fruit flies like a banana")


def cosine(one: np.ndarray, other: np.ndarray) -> float:
    return float(one @ other / np.sqrt((one @ one) * (other @ other)))


def found_for(texts: tuple[str, str], chosen: tuple[int, int]) -> tuple[WordSimilarity, list]:
    """The likeness of a chosen pair, and the runs and groups that it comes from."""
    runs = [catalogue.load(catalogue.DEFAULT).trace(text, keep=("hidden",)) for text in texts]
    encodings = [one.attention.query_tokens for one in runs]
    groups = [word_groups(encoding) for encoding in encodings]
    spelled = [spell_words(encoding, group) for encoding, group in zip(encodings, groups, strict=True)]
    vectors = [word_vectors(one.hidden, group) for one, group in zip(runs, groups, strict=True)]
    return word_similarities(cosines(*vectors), *spelled, [chosen])[0], [runs, groups]


def test_the_baseline_is_over_all_pairs_of_words_that_differ():
    found, (runs, groups) = found_for(VERB_AND_NOUN, (2, 2))
    words = [text.split() for text in VERB_AND_NOUN]
    for step in range(len(found.word)):
        vectors = [
            [run.hidden[step, list(group)].mean(0).astype(float) for group in grouped[1:-1]]
            for run, grouped in zip(runs, groups, strict=True)
        ]
        pairs = [
            cosine(mine, yours)
            for word, mine in zip(words[0], vectors[0], strict=True)
            for other, yours in zip(words[1], vectors[1], strict=True)
            if word != other
        ]
        assert found.pairs == len(pairs) == 23
        assert found.mean[step] == pytest.approx(np.mean(pairs), abs=1e-6)
        assert found.spread[step] == pytest.approx(np.std(pairs), abs=1e-6)
        assert found.shared[step] == pytest.approx(cosine(vectors[0][2], vectors[1][2]), abs=1e-6)
    assert found.shared_pairs == 1
