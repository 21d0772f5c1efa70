"""The figures of the summaries: bars end where their numbers are, points stand where the map puts them, with their names."""

import numpy as np
import pytest

from pages.ui.canvas.charts import BELOW_ZERO
from pages.ui.canvas.plotly_figures import (
    NAME_REACH,
    PROJECTOR_SCALE,
    TEXT_SIZE,
    PointKind,
    for_projector,
    head_points,
    name_offset,
    signed_bars,
)
from pages.ui.export.figure import points_chart

KINDS = [PointKind("broad", "#a8912a", "circle"), PointKind("[SEP]", "#1f9fb5", "star"), PointKind("broad", "#a8912a", "circle")]
PLACES = np.array([[0.0, 0.0], [0.3, 0.1], [0.31, 0.1]])


def test_bars_have_their_numbers_and_those_below_zero_another_colour():
    bars = signed_bars(["1 a", "2 <b>b"], [0.5, -1.25], limit=1.25).data[0]
    assert list(bars.x) == [0.5, -1.25]
    assert list(bars.text) == ["0.50", "−1.25"]
    assert [colour == BELOW_ZERO for colour in bars.marker.color] == [False, True]


def test_labels_are_never_markup():
    figure = signed_bars(["<b>x</b>"], [1.0], limit=1)
    assert figure.layout.yaxis.ticktext == ("&lt;b&gt;x&lt;/b&gt;  ",)


def test_points_stand_where_the_map_puts_them_each_kind_once_in_the_legend():
    figure = head_points(PLACES, ["1-1", "1-2", "1-3"], KINDS, 0, [1])
    lines, broad, separator = figure.data
    assert list(lines.x) == [0.0, 0.3, None]
    assert (list(broad.x), list(separator.x)) == ([0.0, 0.31], [0.3])
    assert [trace.name for trace in (broad, separator)] == ["broad", "[SEP]"]


def test_the_chosen_point_is_named_where_it_stands_and_no_other():
    (name,) = head_points(PLACES, ["1-1", "1-2", "1-3"], KINDS, 1, [2]).layout.annotations
    assert (name.text, name.x, name.y) == ("1-2", 0.3, 0.1)


def test_the_name_stands_where_it_is_farthest_from_the_other_points():
    assert name_offset(np.array([[0.0, 0.0], [0.1, 0.0]]), 0) == pytest.approx((-NAME_REACH[0], 0.0))
    assert name_offset(np.array([[0.0, 0.0], [-0.1, 0.1], [0.1, 0.1], [0.0, 1.0]]), 0) == pytest.approx((0.0, NAME_REACH[1]))


def test_an_exported_figure_has_the_same_name_in_the_same_place():
    (name,) = head_points(PLACES, ["1-1", "1-2", "1-3"], KINDS, 1, [2]).layout.annotations
    assert points_chart("", PLACES, "1-2", KINDS, 1, [2])["name"] == {"text": "1-2", "right": name.xshift, "down": -name.yshift}


def test_on_a_projector_every_text_of_a_figure_is_twice_as_large_and_every_number_stays():
    figures = [signed_bars(["a", "b"], [1.0, -0.5], limit=1.0), head_points(PLACES, ["1-1", "1-2", "2-1"], KINDS, 0, [1])]
    for figure in figures:
        enlarged = for_projector(figure)
        assert enlarged.layout.height is None and figure.layout.height
        assert enlarged.layout.font.size == PROJECTOR_SCALE * TEXT_SIZE
        for one, other in zip(figure.data, enlarged.data, strict=True):
            assert (one.x, one.y) == (other.x, other.y)
            assert one.textfont.size is None or other.textfont.size == PROJECTOR_SCALE * one.textfont.size
        for one, other in zip(figure.layout.annotations, enlarged.layout.annotations, strict=True):
            assert other.font.size == PROJECTOR_SCALE * one.font.size
            assert (other.x, other.y, other.xshift) == (one.x, one.y, PROJECTOR_SCALE * one.xshift)
    assert figures[1].layout.annotations
