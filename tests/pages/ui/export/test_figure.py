"""Charts of a figure: the chosen point of a map has its name where there is space for it."""

import numpy as np
import pytest

from pages.ui.canvas.charts import BELOW_ZERO
from pages.ui.export.figure import NAME_REACH, name_offset, signed_chart


def test_the_name_stands_where_it_is_farthest_from_the_other_points():
    assert name_offset(np.array([[0.0, 0.0], [0.1, 0.0]]), 0) == pytest.approx((-NAME_REACH[0], 0.0))
    assert name_offset(np.array([[0.0, 0.0], [-0.1, 0.1], [0.1, 0.1], [0.0, 1.0]]), 0) == pytest.approx((0.0, NAME_REACH[1]))


def test_bars_have_their_numbers_and_those_below_zero_another_colour():
    bars = signed_chart("", ["1 a", "2 <b>b"], [0.5, -1.25], limit=1.25)
    assert (bars["values"], bars["ends"], bars["from"]) == ([0.5, -1.25], ["0.50", "−1.25"], -1.25)
    assert [colour == BELOW_ZERO for colour in bars["colours"]] == [False, True]
