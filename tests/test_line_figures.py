"""Lines over depth: the points are the numbers, the labels are texts, and words say where lines begin and end."""

import pytest

from pages.ui.line_figures import LINE_COLOURS, lines_in_words, lines_over_depth
from tests.test_figures import luminance

STEPS, SERIES = ["in", "1", "2"], {"pre-norm": [8.0, 9.5, 12.0], "<b>post</b>": [8.0, 8.0, 8.0]}


def test_every_line_is_its_series():
    figure = lines_over_depth(STEPS, SERIES)
    assert [list(line.y) for line in figure.data] == list(SERIES.values())
    assert list(figure.layout.xaxis.ticktext) == STEPS
    assert figure.data[1].name == "&lt;b&gt;post&lt;/b&gt;"


def test_lines_differ_in_more_than_colour():
    one, other = lines_over_depth(STEPS, SERIES).data
    assert one.line.dash != other.line.dash
    assert one.marker.symbol != other.marker.symbol


@pytest.mark.parametrize("background", ["#ffffff", "#10151b"])
@pytest.mark.parametrize("colour", LINE_COLOURS)
def test_every_colour_stands_out_on_both_backgrounds(colour, background):
    lighter, darker = sorted((luminance(colour), luminance(background)), reverse=True)
    assert (lighter + 0.05) / (darker + 0.05) >= 3


def test_a_series_without_a_number_for_each_step_is_refused():
    with pytest.raises(ValueError, match="got 3 steps and 2 numbers of short"):
        lines_over_depth(STEPS, {"short": [1.0, 2.0]})


def test_a_band_lies_behind_the_lines_and_has_both_borders():
    figure = lines_over_depth(STEPS, SERIES, band=([1, 2, 3], [4, 5, 6]))
    shade, *lines = figure.data
    assert list(zip(shade.x, shade.y, strict=True)) == [(0, 4), (1, 5), (2, 6), (2, 3), (1, 2), (0, 1)]
    assert [list(line.y) for line in lines] == list(SERIES.values())
    with pytest.raises(ValueError, match="1 numbers of upper border"):
        lines_over_depth(STEPS, SERIES, band=([1, 2, 3], [4]))


def test_words_say_where_lines_begin_and_end():
    assert lines_in_words("Length", {"pre-norm": [8.04, 9, 35.62]}) == "Length: pre-norm from 8.04 to 35.6."
