"""Two attention maps compared: of two texts, and before and after an intervention."""

import numpy as np
import pytest

from tx_core.analysis.comparison import (
    Comparison,
    compare_attention,
    largest_links,
    list_links,
    most_changed_heads,
    moved_attention,
)
from tx_core.analysis.views import view
from tx_core.analysis.word_comparison import spell_words
from tx_core.engine import catalogue


def compared(text: str, other: str, head: tuple[int, int] = (1, 2), *, hide: bool = False) -> Comparison:
    """Lay two texts of the embedded model over each other."""
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


def test_texts_without_a_common_word_have_nothing_to_take_from_each_other():
    found = compared("time", "banana", hide=True)
    assert not found.comparable.any()


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
