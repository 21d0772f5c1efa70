"""Bars and lines: what a chart holds, what it says in words, and what it refuses; colours that can be told apart."""

import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pages.ui.shell.numbers import percent
from pages.ui.stage import texts as stage_texts
from pages.ui.stage.charts import (
    BACKGROUND,
    BELOW_ZERO,
    INK,
    LINE_COLOURS,
    ONE_COLOUR,
    bars_drawing,
    moved_drawing,
    signed_drawing,
)
from tests.browser.test_focus import MIN_CONTRAST, contrast
from tests.support.serving import ROOT


def test_text_and_background_are_those_of_the_page():
    theme = tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text("utf-8"))["theme"]
    for dark, mode in ((False, "light"), (True, "dark")):
        assert (theme[mode]["textColor"], theme[mode]["backgroundColor"]) == (INK[dark], BACKGROUND[dark])


@pytest.mark.parametrize("background", BACKGROUND.values())
@pytest.mark.parametrize("colour", [ONE_COLOUR, BELOW_ZERO, *LINE_COLOURS])
def test_the_colours_of_charts_stand_out_on_both_backgrounds(colour, background):
    assert contrast(*(list(bytes.fromhex(one[1:])) for one in (colour, background))) >= MIN_CONTRAST


@given(shares=st.lists(st.floats(0, 1), min_size=1, max_size=9), limit=st.sampled_from([0.05, 0.2, 1.0]))
def test_a_bar_is_as_long_as_its_share_or_as_the_axis_and_its_number_is_never_cut(shares: list[float], limit: float):
    chart = bars_drawing("Blank 1", [str(share) for share in shares], shares, limit=limit).chart
    assert chart["values"] == [min(share, limit) for share in shares]
    assert chart["cut"] == [share > limit for share in shares]
    assert chart["ends"] == [percent(share) for share in shares]
    assert (chart["from"], chart["to"], chart["colours"]) == (0, limit, [ONE_COLOUR])


def test_a_change_is_a_row_a_word_with_both_shares_and_their_difference():
    chart = moved_drawing("Changes", ["a", "<b>", "c"], [0.5, 0.9, 1e-7], [0.25, 0.95, 0.3], limit=0.8).chart
    assert (chart["before"], chart["after"]) == ([0.5, 0.8, 1e-7], [0.25, 0.8, 0.3])
    assert chart["cut"] == [[False, False], [True, True], [False, False]]
    assert chart["ends"] == ["50.0 → 25.0\u00a0%", "90.0 → 95.0\u00a0%", "1 in 10⁷ → 30.0\u00a0%"]
    assert chart["deltas"] == ["−25.0", "+5.00", "+30.0"]
    assert chart["sides"] == [stage_texts.BEFORE, stage_texts.AFTER]


def test_bars_have_their_numbers_and_those_below_zero_another_colour():
    bars = signed_drawing("", ["1 a", "2 <b>b"], [0.5, -1.25], limit=1.25).chart
    assert (bars["values"], bars["ends"], bars["from"]) == ([0.5, -1.25], ["0.50", "−1.25"], -1.25)
    assert [colour == BELOW_ZERO for colour in bars["colours"]] == [False, True]
