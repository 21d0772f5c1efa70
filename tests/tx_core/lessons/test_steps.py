"""Attention step by step: the same numbers as `attend`, and every sum written out."""

import math

import pytest
import torch

from tests.support.torch_weights import shake
from tx_core.lessons.steps import (
    attention_steps,
    head_projections,
    random_projections,
    saturation,
    sum_of_context,
    sum_of_match,
)
from tx_core.transformer.attention import attend
from tx_core.transformer.layers import MultiHeadAttention
from tx_core.transformer.masks import causal_mask
from tx_core.transformer.normalise import sparsemax

TOKENS = ("time", "flies", "like", "an", "arrow")


@pytest.mark.parametrize("scaled", [True, False])
def test_the_steps_end_where_attend_ends(scaled):
    vectors, projections = torch.randn(5, 12), random_projections(12, 4, seed=3)
    mask = causal_mask(5)
    steps = attention_steps(TOKENS, vectors, projections, scaled=scaled, mask=mask, normalise=sparsemax)
    query, key, value = (vectors @ matrix for matrix in (projections.query, projections.key, projections.value))
    whole = attend(query, key, value, mask, scale=None if scaled else 1.0, normalise=sparsemax)
    assert torch.equal(steps.weights, whole.weights)
    torch.testing.assert_close(steps.context, whole.context)
    torch.testing.assert_close(steps.matches * steps.scale, steps.scores)
    assert (steps.masked[~mask] == -math.inf).all()
    assert torch.equal(steps.masked[mask], steps.scores[mask])


def test_a_head_cut_out_of_a_trained_layer_computes_what_it_does_there():
    layer, vectors = shake(MultiHeadAttention(12, 3)), torch.randn(5, 12)
    inside = layer(vectors[None])
    for head in range(3):
        steps = attention_steps(TOKENS, vectors, head_projections(layer, head))
        torch.testing.assert_close(steps.weights, inside.weights[0, head])
        torch.testing.assert_close(steps.context, inside.context[0, head])


def test_without_projections_every_word_is_its_own_query_key_and_value():
    vectors = torch.randn(5, 12)
    steps = attention_steps(TOKENS, vectors)
    torch.testing.assert_close(steps.matches, vectors @ vectors.T)
    torch.testing.assert_close(steps.matches, steps.matches.T)
    assert steps.scale == pytest.approx(1 / math.sqrt(12))


def test_every_shape_is_told_in_order():
    steps = attention_steps(TOKENS, torch.randn(5, 12), random_projections(12, 4, seed=0))
    assert steps.shapes == {
        "vectors": (5, 12),
        "query": (5, 4),
        "key": (5, 4),
        "value": (5, 4),
        "matches": (5, 5),
        "scores": (5, 5),
        "masked": (5, 5),
        "weights": (5, 5),
        "context": (5, 4),
    }


def test_the_sum_behind_a_cell_adds_up_to_the_cell():
    steps = attention_steps(TOKENS, torch.randn(5, 12), random_projections(12, 4, seed=0))
    match, context = sum_of_match(steps, 1, 3), sum_of_context(steps, 2, 0)
    assert len(match.terms) == 4
    assert match.total == pytest.approx(float(steps.matches[1, 3]), abs=1e-5)
    assert len(context.terms) == 5
    assert context.total == pytest.approx(float(steps.context[2, 0]), abs=1e-5)


def test_without_scaling_softmax_saturates_as_vectors_grow_and_with_it_does_not():
    seen = saturation((4, 64, 1024))
    assert seen.largest_unscaled[0] < seen.largest_unscaled[1] < seen.largest_unscaled[2]
    assert seen.largest_unscaled[2] > 0.9
    assert seen.slope_unscaled[2] < 0.5 * seen.slope_scaled[2]
    assert max(seen.largest_scaled) - min(seen.largest_scaled) < 0.05


def test_tokens_without_vectors_are_refused():
    with pytest.raises(ValueError, match="every token needs one vector"):
        attention_steps(TOKENS, torch.randn(4, 12))
