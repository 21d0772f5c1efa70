"""Where the names of points go: around each point, or on a line away from it.

Where there is room, no name lies on a point or on another name.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from jaxtyping import Float

EXTENTS = (300.0, 390.0)
"""Pixels from the outermost point to the one across: a phone, and a wide screen or a page of paper. A name fits on both."""
LETTER, TALL, GAP = 7.2, 17.0, 2.0
MARK, LARGE_MARK = 6.5, 12.0
"""From the middle of a point to its edge; of the chosen one, also where it is a diamond, which Plotly draws a third larger."""
EDGE = 28.0
"""Pixels beyond the outermost points that a drawing leaves free."""
SIDES = ((0, -1), (1, 0), (-1, 0), (0, 1), (0.8, -1), (-0.8, -1), (0.8, 1), (-0.8, 1))
"""Around a point, the first that is free is taken: above, right, left, below, and the corners."""
AWAY = np.array(
    [
        (reach * np.cos(turn), reach * np.sin(turn))
        for reach in range(26, 160, 12)
        for turn in np.linspace(0, 2 * np.pi, 16, endpoint=False)
    ]
)
"""Where no side is free, a line leads to a name that is farther away."""
STEP = 4.0
ON_NAME, ON_POINT, OUTSIDE, ON_LINE, NEARER = 1000.0, 100.0, 50.0, 1.0, 0.03
"""What is bad about a place for a name, from worst to least; being farther away counts for each pixel."""

Dots = Float[np.ndarray, "dot axis"]
Offsets = Float[np.ndarray, "offset axis"]
Pair = Float[np.ndarray, "2"]


@dataclass(frozen=True)
class PlacedName:
    """The name of a point: pixels from the point to the middle of its name, and whether a line leads there."""

    point: int
    right: float
    down: float
    led: bool


def place_names(
    places: Float[np.ndarray, "point axis"], labels: Sequence[str], chosen: int, neighbours: Sequence[int]
) -> tuple[PlacedName, ...]:
    """Find room for names: the chosen point and its neighbours always get one, if need be on a line, others where it is free.

    What was found for a map is remembered: with 144 points it takes half a second.
    """
    return _placed(tuple(map(tuple, places.tolist())), tuple(labels), chosen, tuple(neighbours))


@lru_cache(maxsize=64)
def _placed(
    points: tuple[tuple[float, ...], ...], labels: tuple[str, ...], chosen: int, neighbours: tuple[int, ...]
) -> tuple[PlacedName, ...]:
    places = np.array(points)
    drawings = [_Drawing(places, extent, chosen, neighbours) for extent in EXTENTS]
    first, written = [chosen, *neighbours], []
    for point in dict.fromkeys([*first, *range(len(places))]):
        box = np.array([LETTER * len(labels[point]), TALL]) / 2
        beside = np.array(SIDES) * (box + (LARGE_MARK if point == chosen else MARK) + GAP)
        offset, bad = _best(drawings, point, beside, box, led=False)
        led = point in first and bad >= ON_POINT
        if led:
            offset, _ = _best(drawings, point, AWAY, box, led=True)
        elif point not in first and bad >= ON_LINE:
            continue
        for drawing in drawings:
            drawing.write(point, offset, box, led=led)
        written.append(PlacedName(point, float(offset[0]), float(offset[1]), led))
    return tuple(written)


def _best(drawings: Sequence["_Drawing"], point: int, offsets: Offsets, box: Pair, *, led: bool) -> tuple[Pair, float]:
    """Give the best of some places around a point, and how bad it is: 0 where nothing is in the way."""
    bad = sum(drawing.badness(point, offsets, box, led=led) for drawing in drawings)
    best = int((bad + NEARER * np.hypot(*offsets.T) if led else bad).argmin())
    return offsets[best], float(bad[best])


class _Drawing:
    """The map at one size: what is already on it."""

    def __init__(self, places: Float[np.ndarray, "point axis"], extent: float, chosen: int, neighbours: Sequence[int]):
        scale = extent / max(float(np.ptp(places, axis=0).max()), 1e-9)
        self.points = (places - places.min(0)) * scale * (1, -1)
        self.marks = np.full(len(places), MARK)
        self.marks[chosen] = LARGE_MARK
        self.low, self.high = self.points.min(0) - EDGE, self.points.max(0) + EDGE
        lines = [_dots(self.points[chosen], self.points[other])[3:-3] for other in neighbours]
        self.dots = np.concatenate([np.zeros((0, 2)), *lines])
        self.boxes = np.zeros((0, 4))

    def badness(self, point: int, offsets: Offsets, box: Pair, *, led: bool) -> Float[np.ndarray, "offset"]:
        middles = self.points[point] + offsets
        apart = np.abs(middles[:, None] - self.boxes[None, :, :2])
        names = (apart < box + self.boxes[None, :, 2:]).all(2).sum(1)
        points = (np.abs(middles[:, None] - self.points[None]) < box + self.marks[:, None]).all(2).sum(1)
        outside = ((middles - box < self.low) | (middles + box > self.high)).any(1)
        lines = (np.abs(middles[:, None] - self.dots[None]) < box + 1).all(2).any(1)
        bad = ON_NAME * names + ON_POINT * points + OUTSIDE * outside + ON_LINE * lines
        return bad + self._on_the_way(point, middles) if led else bad

    def _on_the_way(self, point: int, ends: Offsets) -> Float[np.ndarray, "offset"]:
        """Say how bad it is to draw a line to each end: through names, and past other points, which it might seem to name."""
        start = self.points[point]
        lines = start + (ends - start)[:, None] * np.linspace(0, 1, 24)[None, :, None]
        names = (np.abs(lines[:, :, None] - self.boxes[:, :2]) < self.boxes[:, 2:]).all(3).any(1)
        near = (np.abs(lines[:, :, None] - self.points) < self.marks[:, None]).all(3).any(1)
        near[:, point] = False
        return ON_POINT * names.sum(1) + ON_LINE * near.sum(1)

    def write(self, point: int, offset: Pair, box: Pair, *, led: bool) -> None:
        middle = self.points[point] + offset
        self.boxes = np.concatenate([self.boxes, [[*middle, *box]]])
        if led:
            self.dots = np.concatenate([self.dots, _dots(self.points[point], middle)])


def _dots(one: Pair, other: Pair) -> Dots:
    """Give points a few pixels apart along a line."""
    count = max(2, int(np.hypot(*(other - one)) / STEP))
    return one + (other - one) * np.linspace(0, 1, count)[:, None]
