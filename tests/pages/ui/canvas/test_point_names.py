"""Names of points: the chosen one and its neighbours have one, and none lies on another or, where it can be, on a point."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from pages.ui.canvas.plotly_figures import PointKind
from pages.ui.canvas.point_names import EXTENTS, LARGE_MARK, LETTER, MARK, TALL, PlacedName, place_names
from pages.ui.export.figure import points_chart

CLOSE = np.array([[0.0, 0.0], [1.0, 1.0], [0.97, 0.99], [0.5, 0.2], [0.51, 0.2], [0.52, 0.21]])
LABELS = [f"1-{number}" for number in range(1, 10)]


def drawn(places: np.ndarray, extent: float) -> np.ndarray:
    """Give points in pixels, down the screen."""
    return places * extent / max(np.ptp(places, axis=0).max(), 1e-9) * (1, -1)


def boxes(places: np.ndarray, names: list[PlacedName], extent: float) -> dict[int, tuple[np.ndarray, np.ndarray]]:
    """Give the middle and half the size of every written name, in pixels."""
    points = drawn(places, extent)
    return {
        name.point: (points[name.point] + (name.right, name.down), np.array([LETTER * len(LABELS[name.point]), TALL]) / 2)
        for name in names
    }


def collide(one: tuple[np.ndarray, np.ndarray], other: tuple[np.ndarray, np.ndarray]) -> bool:
    return bool((np.abs(one[0] - other[0]) < one[1] + other[1] - 1e-6).all())


@given(arrays(np.float64, (9, 2), elements=st.floats(-1, 1)), st.permutations(range(9)))
def test_the_chosen_point_and_its_neighbours_are_always_named_and_no_name_lies_on_another(places: np.ndarray, order: list[int]):
    names = place_names(places, LABELS, order[0], order[1:6])
    assert [name.point for name in names][:6] == order[:6]
    for extent in EXTENTS:
        for one, other in itertools.combinations(boxes(places, names, extent).values(), 2):
            assert not collide(one, other)


@pytest.mark.parametrize("chosen", range(len(CLOSE)))
@pytest.mark.parametrize("extent", EXTENTS)
def test_names_leave_the_points_free(chosen: int, extent: float):
    names = place_names(CLOSE, LABELS, chosen, [number for number in range(len(CLOSE)) if number != chosen])
    assert len(names) == len(CLOSE)
    for box in boxes(CLOSE, names, extent).values():
        for number, point in enumerate(drawn(CLOSE, extent)):
            assert not collide(box, (point, np.full(2, LARGE_MARK if number == chosen else MARK)))


def test_a_name_without_room_beside_its_point_stands_away_from_it_on_a_line():
    crowd = np.array([[0.0, 0.0], *([x, y] for x in (-0.05, 0.0, 0.05) for y in (-0.05, 0.0, 0.05) if x or y), [1.0, 1.0]])
    names = {name.point: name for name in place_names(crowd, [*LABELS, "2-1"], 9, [0])}
    assert names[0].led
    assert np.hypot(names[0].right, names[0].down) > 24
    assert not names[9].led


def test_an_exported_figure_names_the_same_points_in_the_same_places():
    kinds = [PointKind("broad", "#a8912a", "circle")] * len(CLOSE)
    chart = points_chart("", CLOSE, LABELS[: len(CLOSE)], kinds, 1, [2, 3])
    names = place_names(CLOSE, LABELS, 1, [2, 3])
    assert [(name["point"], name["right"], name["down"], name["led"]) for name in chart["names"]] == [
        (name.point, name.right, name.down, name.led) for name in names
    ]
    assert {1, 2, 3} <= {name["point"] for name in chart["names"]}
