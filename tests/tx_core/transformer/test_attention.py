"""The one attention function: by hand, by law, and against PyTorch's."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.nn.functional import scaled_dot_product_attention

from tx_core.transformer.attention import attend, attention_scores, attention_weights, merge_heads, split_heads


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


def test_bias_and_scale_act_on_the_scores():
    query, key = torch.randn(3, 4), torch.randn(5, 4)
    bias = torch.randn(3, 5)
    torch.testing.assert_close(attention_scores(query, key, 0.3, bias), 0.3 * query @ key.T + bias)


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


@given(scores_and_mask(), st.floats(-1e6, 1e6, width=32))
def test_a_masked_score_moves_nothing_whatever_it_is(case, other):
    scores, mask = case
    assert torch.equal(attention_weights(scores, mask), attention_weights(scores.where(mask, other), mask))


def test_a_query_that_may_attend_nowhere_gets_zeros():
    mask = torch.tensor([[False, False, False], [True, False, True]])
    context, weights, _ = attend(torch.randn(2, 4), torch.randn(3, 4), torch.randn(3, 4), mask)
    assert weights[0].tolist() == [0, 0, 0]
    assert context[0].tolist() == [0, 0, 0, 0]


def test_the_gradient_is_finite_where_a_query_may_attend_nowhere():
    tensors = [torch.randn(size, 4, requires_grad=True) for size in (2, 3, 3)]
    mask = torch.tensor([[False, False, False], [True, False, True]])
    attend(*tensors, mask).context.square().sum().backward()
    assert all(tensor.grad.isfinite().all() for tensor in tensors)
    assert (tensors[0].grad[0] == 0).all()
    assert (tensors[1].grad[1] == 0).all()
    assert tensors[2].grad[0].abs().sum() > 0


def test_a_change_makes_the_weights_from_scores_mask_and_normaliser_and_reaches_the_context():
    query, key, value, mask = torch.randn(2, 4), torch.randn(3, 4), torch.randn(3, 4), torch.tensor([True, False, True])
    plain = attend(query, key, value, mask)
    halved = attend(query, key, value, mask, weigh=lambda *given: attention_weights(*given) / 2)
    torch.testing.assert_close(halved.weights, plain.weights / 2)
    torch.testing.assert_close(halved.context, plain.context / 2)
    assert torch.equal(halved.scores, plain.scores)


def test_dropout_touches_the_mixing_and_not_the_weights_shown():
    query, key, value = torch.randn(2, 4), torch.randn(30, 4), torch.randn(30, 4)
    plain, dropped = attend(query, key, value), attend(query, key, value, dropout=0.5)
    assert torch.equal(plain.weights, dropped.weights)
    assert not torch.allclose(plain.context, dropped.context)


def test_attention_without_projections_looks_mostly_at_itself():
    # A3: query = key = value = embeddings. A vector is its own best match when all are of one length.
    words = torch.nn.functional.normalize(torch.randn(6, 64), dim=-1) * 8
    weights = attend(words, words, words).weights
    assert weights.argmax(-1).tolist() == list(range(6))
    assert (weights.diagonal() > 0.9).all()


KEYS = torch.tensor([[10.0, 0, 0], [0, 10, 0], [0, 0, 10], [0, 0, 10]])
VALUES = torch.tensor([[1.0, 0, 0], [10, 0, 0], [100, 5, 0], [1000, 6, 0]])


@pytest.mark.parametrize(
    ("query", "answer"),
    [((0, 10, 0), (10, 0, 0)), ((0, 0, 10), (550, 5.5, 0)), ((10, 10, 0), (5.5, 0, 0))],
)
def test_attention_is_a_store_of_keys_and_values(query, answer):
    context = attend(torch.tensor([query]).float(), KEYS, VALUES, scale=1 / math.sqrt(64)).context
    torch.testing.assert_close(context, torch.tensor([answer]).float(), atol=0.01, rtol=0)


def test_heads_are_cut_from_each_vector_in_order_and_put_back():
    hidden = torch.arange(2 * 3 * 8.0).view(2, 3, 8)
    heads = split_heads(hidden, 4)
    assert heads.shape == (2, 4, 3, 2)
    assert torch.equal(heads[1, 2, 0], hidden[1, 0, 4:6])
    assert torch.equal(merge_heads(heads), hidden)
