"""Bars are the numbers: in order, on one axis, with their shares in words; and a text for each to whoever points at it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pages.ui.canvas import texts
from pages.ui.canvas.bars import bars_in_words, moved_chart, probability_chart, show_bars
from pages.ui.canvas.figures import ONE_COLOUR
from pages.ui.shell.numbers import percent


@given(shares=st.lists(st.floats(0, 1), min_size=1, max_size=9), limit=st.sampled_from([0.05, 0.2, 1.0]))
def test_a_bar_is_as_long_as_its_share_or_as_the_axis_and_its_number_is_never_cut(shares: list[float], limit: float):
    chart = probability_chart("Blank 1", [str(share) for share in shares], shares, limit=limit)
    assert chart["values"] == [min(share, limit) for share in shares]
    assert chart["cut"] == [share > limit for share in shares]
    assert chart["ends"] == [percent(share) for share in shares]
    assert (chart["from"], chart["to"], chart["colours"]) == (0, limit, [ONE_COLOUR])


@pytest.mark.parametrize(("limit", "ticks"), [(1.0, "0 % 50 % 100 %"), (0.05, "0 % 2.5 % 5 %"), (2 / 7, "0 % 14.3 % 28.6 %")])
def test_the_axis_ends_at_the_limit_whatever_the_shares(limit: float, ticks: str):
    for share in (0.001, 0.9):
        marks = probability_chart("", ["a"], [share], limit=limit)["ticks"]
        assert [mark["at"] for mark in marks] == [0, limit / 2, limit]
        assert " ".join(mark["text"] for mark in marks) == ticks


def test_a_change_is_a_row_a_word_with_both_shares_and_their_difference():
    chart = moved_chart("Changes", ["a", "<b>", "c"], [0.5, 0.9, 1e-7], [0.25, 0.95, 0.3], limit=0.8)
    assert (chart["before"], chart["after"]) == ([0.5, 0.8, 1e-7], [0.25, 0.8, 0.3])
    assert chart["cut"] == [[False, False], [True, True], [False, False]]
    assert chart["ends"] == ["50.0 → 25.0 %", "90.0 → 95.0 %", "1 in 10⁷ → 30.0 %"]
    assert chart["deltas"] == ["−25.0", "+5.00", "+30.0"]
    assert chart["sides"] == [texts.BEFORE, texts.AFTER]


def test_charts_without_a_label_for_each_share_or_a_text_for_each_bar_are_refused():
    with pytest.raises(ValueError, match="got 2 and 1"):
        probability_chart("", ["a"], [0.1, 0.2], limit=1)
    with pytest.raises(ValueError, match="got 1 and 2"):
        show_bars(probability_chart("", ["a"], [0.1], limit=1), ["one", "two"], key="bars")


def test_words_say_what_a_chart_shows():
    assert bars_in_words("First blank", ["nurse", "maid"], [0.2, 0.1]) == "First blank: nurse 20.0 %, maid 10.0 %."
