"""The one attention function, its masks and its normalisers: by hand, by law, and against PyTorch's."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.nn.functional import scaled_dot_product_attention

from tx_core.transformer.attention import (
    NORMALISE,
    attend,
    attention_weights,
    hardmax,
    softmax,
    sparsemax,
    support,
    with_temperature,
)


def test_two_by_two_by_hand():
    query = torch.tensor([[1.0, 0.0], [0.0, 2.0]])
    key = torch.tensor([[1.0, 1.0], [0.0, 1.0]])
    value = torch.tensor([[10.0, 0.0], [0.0, 20.0]])
    context, weights, scores = attend(query, key, value)
    root = math.sqrt(2)
    torch.testing.assert_close(scores, torch.tensor([[1 / root, 0.0], [2 / root, 2 / root]]))
    share = math.exp(1 / root) / (math.exp(1 / root) + 1)
    torch.testing.assert_close(weights, torch.tensor([[share, 1 - share], [0.5, 0.5]]))
    torch.testing.assert_close(context, torch.tensor([[10 * share, 20 * (1 - share)], [5.0, 10.0]]))


@pytest.mark.parametrize("masked", [False, True])
def test_context_equals_pytorchs_fused_attention(masked):
    query, key, value = torch.randn(2, 3, 5, 4), torch.randn(2, 3, 7, 4), torch.randn(2, 3, 7, 4)
    mask = torch.rand(2, 1, 5, 7) > 0.4 if masked else None
    if mask is not None:
        mask[..., 0] = True
    expected = scaled_dot_product_attention(query, key, value, mask)
    torch.testing.assert_close(attend(query, key, value, mask).context, expected, atol=1e-6, rtol=0)


@st.composite
def scores_and_mask(draw):
    queries, keys = draw(st.integers(1, 5)), draw(st.integers(1, 6))
    cell = st.tuples(st.floats(-1e4, 1e4, width=32), st.booleans())
    cells = draw(st.lists(cell, min_size=queries * keys, max_size=queries * keys))
    scores = torch.tensor([score for score, _ in cells]).view(queries, keys)
    return scores, torch.tensor([allowed for _, allowed in cells]).view(queries, keys)


@given(scores_and_mask())
def test_rows_sum_to_one_or_to_zero_and_what_is_masked_is_exactly_zero(case):
    scores, mask = case
    weights = attention_weights(scores, mask)
    assert (weights >= 0).all()
    assert (weights[~mask] == 0).all()
    torch.testing.assert_close(weights.sum(-1), mask.any(-1).float())


def test_the_gradient_is_finite_where_a_query_may_attend_nowhere():
    tensors = [torch.randn(size, 4, requires_grad=True) for size in (2, 3, 3)]
    mask = torch.tensor([[False, False, False], [True, False, True]])
    attend(*tensors, mask).context.square().sum().backward()
    assert all(tensor.grad.isfinite().all() for tensor in tensors)
    assert (tensors[0].grad[0] == 0).all()
    assert (tensors[1].grad[1] == 0).all()
    assert tensors[2].grad[0].abs().sum() > 0


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


def test_hard_attention_has_one_key_and_an_l0_norm_of_1_even_among_equals():
    weights = hardmax(torch.tensor([[1.0, 4.0, 2.0], [7.0, 7.0, 7.0]]))
    assert weights.tolist() == [[0, 1, 0], [1, 0, 0]]
    assert support(weights).tolist() == [1, 1]
    assert support(torch.tensor([0.1, 0.0, 0.9])) == 2


@pytest.mark.parametrize("name", sorted(NORMALISE))
def test_every_normalisation_gives_a_masked_key_exactly_nothing_and_a_lost_query_zeros(name):
    query, key, value = torch.randn(2, 3, 5), torch.randn(2, 4, 5), torch.randn(2, 4, 7)
    mask = torch.tensor([[True, False, True, True], [False, False, False, False], [False, True, False, False]])
    context, weights, _ = attend(query, key, value, mask, normalise=NORMALISE[name])
    assert (weights[:, ~mask] == 0).all()
    torch.testing.assert_close(weights.sum(-1), torch.tensor([1.0, 0.0, 1.0]).expand(2, 3))
    assert (context[:, 1] == 0).all()


def test_temperature_goes_from_decided_to_undecided():
    scores = torch.tensor([1.0, 2.0, 4.0])
    torch.testing.assert_close(with_temperature(softmax, 2.0)(scores), softmax(scores / 2))
    torch.testing.assert_close(with_temperature(softmax, 1e-3)(scores), hardmax(scores))
    torch.testing.assert_close(with_temperature(softmax, 1e6)(scores), torch.full((3,), 1 / 3))
