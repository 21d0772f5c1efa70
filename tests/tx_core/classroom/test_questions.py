"""A guess is compared with the model's answer, and the guesses of a class are counted in few ranges."""

import hypothesis.strategies as st
import numpy as np
from hypothesis import given

from tx_core.classroom.questions import BINS, round_edges


@given(st.floats(-1e8, 1e8), st.floats(-1e8, 1e8))
def test_ranges_hold_every_number_are_few_and_equally_wide(one: float, other: float):
    low, high = sorted((one, other))
    edges = round_edges(low, high)
    tolerance = 1e-9 * max(1.0, abs(low), abs(high))
    assert edges[0] <= low + tolerance and high <= edges[-1] + tolerance
    assert 2 <= len(edges) <= BINS + 1
    assert np.allclose(np.diff(edges), edges[1] - edges[0], atol=tolerance)
