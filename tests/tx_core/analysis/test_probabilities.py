"""Probabilities, ranks and distances of distributions, held against torch and arithmetic by hand."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from tx_core.analysis.probabilities import largest, log_probabilities, probabilities, rank_of, total_variation

LOGITS = arrays.arrays(np.float32, st.tuples(st.integers(1, 3), st.integers(2, 40)), elements=st.floats(-80, 80, width=32))


@given(LOGITS)
def test_probabilities_and_their_logarithms_are_those_of_torch_in_double_precision(logits):
    doubles = torch.tensor(logits).double()
    np.testing.assert_allclose(probabilities(logits), doubles.softmax(-1), rtol=1e-12, atol=1e-300)
    np.testing.assert_allclose(log_probabilities(logits), doubles.log_softmax(-1), rtol=1e-12, atol=1e-12)


def test_scores_that_no_exponential_can_hold_still_share_one():
    logits = np.array([1e4, 1e4 - 1, -1e4], dtype=np.float32)
    np.testing.assert_allclose(probabilities(logits), [1 / (1 + np.exp(-1)), 1 / (1 + np.e), 0])
    assert log_probabilities(logits)[2] == pytest.approx(-2e4, abs=1)


@given(LOGITS, st.data())
def test_the_largest_values_are_those_of_torch_the_largest_first(values, data):
    count = data.draw(st.integers(0, values.shape[-1]))
    found = np.take_along_axis(values, largest(values, count), axis=-1)
    np.testing.assert_array_equal(found, torch.tensor(values).topk(count).values)


def test_a_rank_counts_what_is_larger_and_equal_values_share_it():
    values = np.array([0.1, 0.3, 0.3, 0.2])
    assert [rank_of(values, entry) for entry in range(4)] == [4, 1, 1, 3]


def test_the_total_variation_is_the_probability_that_moved():
    half, base = np.array([0.5, 0.5, 0.0]), np.array([0.2, 0.5, 0.3])
    assert total_variation(half, base) == pytest.approx(0.3)
    np.testing.assert_allclose(total_variation(np.stack([base, half, np.eye(3)[0]]), base), [0, 0.3, 0.8])
