"""From scores to weights: by hand, by optimality, and inside attention."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from tx_core.transformer.attention import attend, softmax
from tx_core.transformer.normalise import NORMALISE, hardmax, sparsemax, support, with_temperature

rows = st.lists(st.floats(-30, 30, width=32), min_size=1, max_size=9).map(
    lambda values: torch.tensor(values, dtype=torch.float64)
)


@given(rows)
def test_sparsemax_is_the_nearest_point_of_the_simplex(scores):
    shares = sparsemax(scores)
    assert shares.min() >= 0
    assert shares.sum() == pytest.approx(1, abs=1e-9)
    # Optimality of a projection: what is given is scores less one threshold; what gets none lies below it.
    thresholds = (scores - shares)[shares > 0]
    assert thresholds.max() - thresholds.min() < 1e-9
    assert (scores[shares == 0] <= thresholds.max() + 1e-9).all()


def test_sparsemax_by_hand():
    scores = torch.tensor([[0.5, 0.3, -1.0], [3.0, 1.0, 1.0], [2.0, 2.0, 2.0]])
    expected = torch.tensor([[0.6, 0.4, 0.0], [1.0, 0.0, 0.0], [1 / 3, 1 / 3, 1 / 3]])
    torch.testing.assert_close(sparsemax(scores), expected)


def test_hard_attention_has_one_key_and_an_l0_norm_of_1_even_among_equals():
    weights = hardmax(torch.tensor([[1.0, 4.0, 2.0], [7.0, 7.0, 7.0]]))
    assert weights.tolist() == [[0, 1, 0], [1, 0, 0]]
    assert support(weights).tolist() == [1, 1]


@given(rows)
def test_sparsemax_looks_at_no_more_keys_than_softmax_and_no_fewer_than_hardmax(scores):
    assert 1 == support(hardmax(scores)) <= support(sparsemax(scores)) <= support(softmax(scores))


@pytest.mark.parametrize("name", sorted(NORMALISE))
def test_every_normalisation_gives_a_masked_key_exactly_nothing_and_a_lost_query_zeros(name):
    query, key, value = torch.randn(2, 3, 5), torch.randn(2, 4, 5), torch.randn(2, 4, 7)
    mask = torch.tensor([[True, False, True, True], [False, False, False, False], [False, True, False, False]])
    context, weights, _ = attend(query, key, value, mask, normalise=NORMALISE[name])
    assert (weights[:, ~mask] == 0).all()
    torch.testing.assert_close(weights.sum(-1), torch.tensor([1.0, 0.0, 1.0]).expand(2, 3))
    assert (context[:, 1] == 0).all()


def test_sparsemax_passes_a_finite_gradient_around_masked_keys():
    scores = torch.tensor([[2.0, 1.5, -torch.inf]], requires_grad=True)
    sparsemax(scores)[0, 0].backward()
    torch.testing.assert_close(scores.grad, torch.tensor([[0.5, -0.5, 0.0]]))


def test_temperature_goes_from_decided_to_undecided():
    scores = torch.tensor([1.0, 2.0, 4.0])
    torch.testing.assert_close(with_temperature(softmax, 2.0)(scores), softmax(scores / 2))
    torch.testing.assert_close(with_temperature(softmax, 1e-3)(scores), hardmax(scores))
    torch.testing.assert_close(with_temperature(softmax, 1e6)(scores), torch.full((3,), 1 / 3))


@pytest.mark.parametrize("temperature", [0.0, -1.0, float("nan")])
def test_a_temperature_of_zero_or_less_is_refused(temperature):
    with pytest.raises(ValueError, match="above 0"):
        with_temperature(softmax, temperature)
