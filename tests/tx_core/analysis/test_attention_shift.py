"""What moved between two maps, by hand and by law."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tx_core.analysis.attention_shift import heads_that_moved, largest_change_in_words, moved

BEFORE = np.array([[0.7, 0.2, 0.1], [0.2, 0.3, 0.5]], np.float32)
AFTER = np.array([[0.1, 0.2, 0.7], [0.2, 0.4, 0.4]], np.float32)


def attention(seed: int, *shape: int) -> np.ndarray:
    return np.random.default_rng(seed).dirichlet(np.ones(shape[-1]), shape[:-1]).astype(np.float32)


def test_what_moved_is_the_share_that_went_elsewhere():
    np.testing.assert_allclose(moved(BEFORE, AFTER), [0.6, 0.1], atol=1e-6)


def test_a_row_that_is_switched_off_lost_all():
    np.testing.assert_allclose(moved(BEFORE, np.zeros_like(BEFORE)), [1, 1], atol=1e-6)


@given(seed=st.integers(0, 99))
def test_for_shares_it_is_half_the_sum_of_differences_and_the_same_both_ways(seed: int):
    one, other = attention(seed, 2, 3, 4, 5), attention(seed + 1, 2, 3, 4, 5)
    np.testing.assert_allclose(moved(one, other), np.abs(one - other).sum(-1) / 2, atol=1e-5)
    np.testing.assert_allclose(moved(one, other), moved(other, one), atol=1e-5)
    assert not moved(one, one).any()


def test_heads_are_listed_from_the_one_that_moved_most_without_those_that_stood_still_or_are_off():
    before = attention(1, 2, 3, 4, 5)
    after = before.copy()
    after[0, 0] = 0
    after[1, 2] = attention(7, 4, 5)
    after[0, 1, 0] = attention(9, 5)
    (first, share), (second, _) = heads_that_moved(before, after, 5)
    assert (first, second) == ((1, 2), (0, 1))
    assert abs(share - moved(before, after)[1, 2].mean()) < 1e-6


def test_the_largest_change_is_told_of_all_or_of_one_token():
    names = ["a", "b", "c"]
    told = largest_change_in_words(BEFORE, AFTER, names[:2], names)
    assert told.startswith("The largest change: 'a' gives ")
    assert "In all, 35% of the attention shown" in told
    assert largest_change_in_words(BEFORE, AFTER, names[:2], names, 1).startswith("The largest change: 'b' gives 'b' 0.40 ")
    assert "in place of 0.30 (+0.10)" in largest_change_in_words(BEFORE, AFTER, names[:2], names, 1)
    assert largest_change_in_words(BEFORE, BEFORE, names[:2], names) == "Nothing changed here."
    assert largest_change_in_words(BEFORE, BEFORE + np.float32(0.004), names[:2], names) == "Nothing changed here."
    assert largest_change_in_words(BEFORE, BEFORE, names[:2], names, 0) == "Nothing changed for 'a'."


def test_a_change_of_rescaled_shares_is_said_to_be_of_what_is_shown():
    names = ["a", "b", "c"]
    told = largest_change_in_words(BEFORE, AFTER, names[:2], names, 1, rescaled=True)
    assert told.startswith("The largest change: of its attention to the words shown, 'b' gives 'b' 0.40 in place of 0.30")
    assert told.endswith("of its attention to the words shown went elsewhere or was lost.")
