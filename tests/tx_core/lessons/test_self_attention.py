"""Attention step by step: the same numbers as `attend` and as the model, and every sum written out."""

import math

import pytest
import torch

from tx_core.lessons.self_attention import HeadChoice, attention_tensors, head_run, random_projections, saturation
from tx_core.transformer.attention import attend, causal_mask, sparsemax

TOKENS = ("time", "flies", "like", "an", "arrow")


@pytest.mark.parametrize("scaled", [True, False])
def test_the_steps_end_where_attend_ends(scaled):
    vectors, projections = torch.randn(5, 12), random_projections(12, 4, seed=3)
    mask = causal_mask(5)
    tensors = attention_tensors(TOKENS, vectors, projections, scaled=scaled, mask=mask, normalise=sparsemax)
    query, key, value = (vectors @ matrix for matrix in (projections.query, projections.key, projections.value))
    whole = attend(query, key, value, mask, scale=None if scaled else 1.0, normalise=sparsemax)
    assert torch.equal(tensors.weights, whole.weights)
    torch.testing.assert_close(tensors.context, whole.context)
    torch.testing.assert_close(tensors.matches * tensors.scale, tensors.scores)
    assert (tensors.masked[~mask] == -math.inf).all()
    assert torch.equal(tensors.masked[mask], tensors.scores[mask])


def test_without_scaling_softmax_saturates_as_vectors_grow_and_with_it_does_not():
    seen = saturation((4, 64, 1024))
    assert seen.largest_unscaled[0] < seen.largest_unscaled[1] < seen.largest_unscaled[2]
    assert seen.largest_unscaled[2] > 0.9
    assert seen.slope_unscaled[2] < 0.5 * seen.slope_scaled[2]
    assert max(seen.largest_scaled) - min(seen.largest_scaled) < 0.05


TEXT = "time flies like an arrow"


@pytest.fixture(scope="module")
def trace(engine):
    return engine.trace(TEXT, keep=("hidden", "weights", "query", "context"))


@pytest.mark.parametrize(("layer", "head"), [(0, 7), (3, 4)])
def test_a_trained_head_computes_what_the_model_computes(engine, trace, layer, head):
    tensors = head_run(engine, trace, HeadChoice(layer, head)).tensors
    for name, found in (("query", tensors.query), ("weights", tensors.weights), ("context", tensors.context)):
        expected = torch.tensor(getattr(trace.attention, name)[layer, head])
        torch.testing.assert_close(found, expected, atol=1e-5, rtol=1e-5)
