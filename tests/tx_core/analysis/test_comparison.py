"""Two texts compared: which words correspond, how similar their vectors are, and what differs between their maps."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tx_core.analysis.comparison import (
    AFTER_WORD_NUMBERS,
    WORD_NUMBERS,
    Comparison,
    align,
    compare_attention,
    largest_links,
    list_links,
    most_changed_heads,
    moved_attention,
    number_word,
    pair_rows,
    spell_words,
    word_numbers,
    word_similarities,
)
from tx_core.analysis.views import view, word_groups
from tx_core.engine import catalogue

TEXTS = st.lists(st.sampled_from("abcd"), max_size=9).map(lambda letters: tuple(("word", letter) for letter in letters))


def spelled(text: str) -> tuple[tuple[str, str], ...]:
    return tuple(("word", word) for word in text.split())


@given(TEXTS, TEXTS)
def test_as_many_equal_words_as_can_be_are_paired_in_order(one, other):
    pairs = align(one, other)
    assert all(one[mine] == other[yours] for mine, yours in pairs)
    assert len(pairs) == max(size for size in range(10) if {*combinations(one, size)} & {*combinations(other, size)})
    rows = pair_rows(pairs, len(one), len(other))
    assert [[row[side] for row in rows if row[side] is not None] for side in (0, 1)] == [[*range(len(one))], [*range(len(other))]]
    assert tuple(row for row in rows if None not in row) == pairs and (None, None) not in rows


def test_an_article_stays_with_its_noun_and_sides_can_be_exchanged():
    one, other = spelled("the cat"), spelled("the dog saw the cat")
    assert align(one, other) == ((0, 3), (1, 4))
    assert align(other, one) == ((3, 0), (4, 1))


def test_words_are_counted_as_a_reader_counts():
    words, special = ("[CLS]", "the", "cat", ",", "the", "[MASK]", ".", "[SEP]"), (True, *(False,) * 6, True)
    assert word_numbers(words, special) == (0, 1, 2, 2, 3, 4, 4, 4)
    assert number_word("the", False, 3, 1) == WORD_NUMBERS.format(word="the", mine=3, yours=1)
    assert number_word(",", False, 2, 1) == AFTER_WORD_NUMBERS.format(word=",", mine=2, yours=1)
    after = AFTER_WORD_NUMBERS.format(word="[SEP]", mine=4, yours=4)
    assert number_word("[SEP]", True, 4, 4) == after


def test_special_tokens_are_known_by_where_they_stand_and_blanks_by_being_blanks():
    encoding = catalogue.load(catalogue.DEFAULT).encode("TIME [MASK]", "a bird")
    assert spell_words(encoding, word_groups(encoding)) == (
        ("special", "first"),
        ("word", "time"),
        ("blank", ""),
        ("special", "after"),
        ("word", "a"),
        ("word", "bird"),
        ("special", "after"),
    )


def test_a_word_is_compared_with_itself_and_with_all_pairs_of_words_that_differ():
    lines = np.array([[[0.9, 0.1, 0.2], [0.3, 0.8, 0.4], [0.5, 0.6, 0.7]], [[0.5] * 3] * 3])
    (found,) = word_similarities(lines, spelled("a cat sat"), spelled("a dog sat"), [(2, 2)])
    assert (found.word.tolist(), found.shared.tolist(), found.shared_pairs) == ([0.7, 0.5], [0.9, 0.5], 1)
    different = [0.1, 0.2, 0.3, 0.8, 0.4, 0.5, 0.6]
    assert (found.mean[0], found.spread[0], found.pairs) == pytest.approx((np.mean(different), np.std(different), 7))


def compared(text: str, other: str, head: tuple[int, int] = (1, 2), *, hide: bool = False) -> Comparison:
    views = [view(run(one).attention, merge_words=True, hide_special=hide) for one in (text, other)]
    spelled = [
        spell_words(run(one).attention.query_tokens, shown.query_places) for one, shown in zip((text, other), views, strict=True)
    ]
    return compare_attention(*views, *spelled, *(shown.weights[head] for shown in views))


def run(text: str):
    return catalogue.load(catalogue.DEFAULT).trace(text)


def by_hand(text: str, head: tuple[int, int]) -> tuple[np.ndarray, list[str]]:
    """The weights between words, summed and averaged piece by piece, without the views."""
    stack = run(text).attention
    tokens = stack.query_tokens
    names = [tokens.tokens[place] if word is None else f"word {word}" for place, word in enumerate(tokens.words)]
    names = [f"end {place}" if name == "[SEP]" else name for place, name in enumerate(names)]
    order = list(dict.fromkeys(names))
    member = np.array([[name == one for name in names] for one in order], float)
    weights = stack.weights[head].astype(float)
    return (member / member.sum(1, keepdims=True)) @ weights @ member.T, order


def test_every_difference_is_that_of_the_two_maps_and_all_else_is_marked_as_missing():
    found = compared("time flies like an arrow", "fruit flies like a banana")
    one, _ = by_hand("time flies like an arrow", (1, 2))
    other, _ = by_hand("fruit flies like a banana", (1, 2))
    np.testing.assert_allclose(found.one, one, atol=1e-6)
    np.testing.assert_allclose(found.other, other, atol=1e-6)
    for row, (mine, yours) in enumerate(found.rows):
        for column, (my_key, your_key) in enumerate(found.rows):
            both = None not in (mine, yours, my_key, your_key)
            assert found.comparable[row, column] == both
            expected = other[yours, your_key] - one[mine, my_key] if both else 0.0
            assert found.difference[row, column] == pytest.approx(expected, abs=1e-6)
    alone = [[label for label, row in zip(found.labels, found.rows, strict=True) if row[side] is None] for side in (1, 0)]
    assert alone == [["time", "an", "arrow"], ["fruit", "a", "banana"]]


def test_every_link_of_either_side_is_listed_once_and_the_largest_differences_first():
    found = compared("a small bird sings", "a bird sings loudly")
    every = list_links(found)
    assert len(every) == len({tuple(link) for link in every.tolist()}) == found.difference.size - 2
    first = largest_links(found, every, 9)
    sizes = np.abs(found.difference[tuple(first.T)])
    assert (np.diff(sizes) <= 0).all()
    assert sizes.sum() == pytest.approx(np.sort(np.abs(found.difference).ravel())[-9:].sum())


BEFORE = np.array([[0.7, 0.2, 0.1], [0.2, 0.3, 0.5]], np.float32)
AFTER = np.array([[0.1, 0.2, 0.7], [0.2, 0.4, 0.4]], np.float32)


def attention(seed: int, *shape: int) -> np.ndarray:
    return np.random.default_rng(seed).dirichlet(np.ones(shape[-1]), shape[:-1]).astype(np.float32)


def test_what_moved_is_the_share_that_went_elsewhere():
    np.testing.assert_allclose(moved_attention(BEFORE, AFTER), [0.6, 0.1], atol=1e-6)
    np.testing.assert_allclose(moved_attention(BEFORE, np.zeros_like(BEFORE)), [1, 1], atol=1e-6)


def test_heads_are_listed_from_the_one_that_moved_most_without_those_that_stood_still_or_are_off():
    before = attention(1, 2, 3, 4, 5)
    after = before.copy()
    after[0, 0] = 0
    after[1, 2] = attention(7, 4, 5)
    after[0, 1, 0] = attention(9, 5)
    (first, share), (second, _) = most_changed_heads(before, after, 5)
    assert (first, second) == ((1, 2), (0, 1))
    assert abs(share - moved_attention(before, after)[1, 2].mean()) < 1e-6
