"""Attention as a store of keys and values: the founding figures, and tables that a reader must mend."""

import math

import pytest

from tx_core.errors import TextProblem
from tx_core.lessons.key_value import look_up
from tx_core.lessons.key_value_store import MAX_STORE_ROWS, Store


def test_the_shares_follow_from_the_matches_by_softmax():
    store = Store(keys=((1, 0, 2), (0, 3, 1)), values=((1, 2, 3), (4, 5, 6)))
    answer = look_up(store, (2, 1, 0), divisor=4.0)
    assert answer.matches.tolist() == [[2, 3]]
    assert answer.scores.tolist() == [[0.5, 0.75]]
    first = math.exp(0.5) / (math.exp(0.5) + math.exp(0.75))
    assert answer.weights[0].tolist() == pytest.approx([first, 1 - first])
    mixed = [first * one + (1 - first) * other for one, other in [(1, 4), (2, 5), (3, 6)]]
    assert answer.result[0].tolist() == pytest.approx(mixed)


@pytest.mark.parametrize(
    ("keys", "says"),
    [
        ([(1, 2, 3)] * (MAX_STORE_ROWS + 1), "and has 13"),
        ([(1, 2, 3), (1, None, 3)], "key of row 2 needs 3 numbers"),
        ([(math.nan, 0, 0)], "fill the empty cells"),
        ([(0, 0, -10_001)], "beyond ±10,000"),
    ],
)
def test_a_table_that_cannot_be_used_says_what_to_change(keys, says):
    with pytest.raises(TextProblem, match=says):
        Store(tuple(keys), ((0.0, 0.0, 0.0),) * len(keys))
