"""Curves: the lines are the numbers, and what is compared is named."""

import pytest

from pages.positions.drawings import curve_in_range, curves


def test_every_curve_is_its_numbers_over_the_places():
    figure = curves(range(3), {"a": [1.0, 2.0, 3.0], "<b>": [0.0, -1.0, 0.5]}, across="position")
    assert [list(line.y) for line in figure.data] == [[1.0, 2.0, 3.0], [0.0, -1.0, 0.5]]
    assert [list(line.x) for line in figure.data] == [[0, 1, 2]] * 2
    assert figure.data[1].name == "&lt;b&gt;"
    assert len({(line.line.color, line.line.dash) for line in figure.data}) == 2
    assert figure.layout.xaxis.title.text == "position"


def test_a_curve_without_a_number_for_each_place_is_refused():
    with pytest.raises(ValueError, match="got 3 places and 2 numbers of a"):
        curves(range(3), {"a": [1.0, 2.0]}, across="position")


def test_the_band_runs_along_the_highest_and_back_along_the_lowest():
    figure = curve_in_range([-1, 0, 1], [2, 5, 2], [1, 5, 0], [3, 5, 4], across="distance")
    band, line = figure.data
    assert list(band.x) == [-1, 0, 1, 1, 0, -1]
    assert list(band.y) == [3, 5, 4, 0, 5, 1]
    assert list(line.y) == [2, 5, 2]
