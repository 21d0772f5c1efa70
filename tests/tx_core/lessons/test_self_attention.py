"""Attention step by step: the same numbers as `attend` and as the model, and every sum written out."""

import math
from dataclasses import replace

import pytest
import torch

from tests.support.torch_weights import shake
from tx_core.engine import catalogue
from tx_core.lessons.self_attention import (
    HeadChoice,
    attention_tensors,
    head_projections,
    head_run,
    random_projections,
    saturation,
)
from tx_core.transformer.attention import NORMALISE, attend, causal_mask, sparsemax
from tx_core.transformer.layers import MultiHeadAttention

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


def test_a_head_cut_out_of_a_trained_layer_computes_what_it_does_there():
    layer, vectors = shake(MultiHeadAttention(12, 3)), torch.randn(5, 12)
    inside = layer(vectors[None])
    for head in range(3):
        tensors = attention_tensors(TOKENS, vectors, head_projections(layer, head))
        torch.testing.assert_close(tensors.weights, inside.weights[0, head])
        torch.testing.assert_close(tensors.context, inside.context[0, head])


def test_without_projections_every_word_is_its_own_query_key_and_value():
    vectors = torch.randn(5, 12)
    tensors = attention_tensors(TOKENS, vectors)
    torch.testing.assert_close(tensors.matches, vectors @ vectors.T)
    torch.testing.assert_close(tensors.matches, tensors.matches.T)
    assert tensors.scale == pytest.approx(1 / math.sqrt(12))


def test_every_shape_is_listed_in_order():
    tensors = attention_tensors(TOKENS, torch.randn(5, 12), random_projections(12, 4, seed=0))
    assert tensors.shapes == {
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


def test_without_scaling_softmax_saturates_as_vectors_grow_and_with_it_does_not():
    seen = saturation((4, 64, 1024))
    assert seen.largest_unscaled[0] < seen.largest_unscaled[1] < seen.largest_unscaled[2]
    assert seen.largest_unscaled[2] > 0.9
    assert seen.slope_unscaled[2] < 0.5 * seen.slope_scaled[2]
    assert max(seen.largest_scaled) - min(seen.largest_scaled) < 0.05


def test_tokens_without_vectors_are_refused():
    with pytest.raises(ValueError, match="every token needs one vector"):
        attention_tensors(TOKENS, torch.randn(4, 12))


TEXT = "time flies like an arrow"


@pytest.fixture(scope="module")
def engine():
    return catalogue.load("embedded")


@pytest.fixture(scope="module")
def trace(engine):
    return engine.trace(TEXT, keep=("hidden", "weights", "query", "context"))


@pytest.mark.parametrize(("layer", "head"), [(0, 7), (1, 0), (3, 4)])
def test_a_trained_head_computes_what_the_model_computes(engine, trace, layer, head):
    tensors = head_run(engine, trace, HeadChoice(layer, head)).tensors
    for name, found in (("query", tensors.query), ("weights", tensors.weights), ("context", tensors.context)):
        expected = torch.tensor(getattr(trace.attention, name)[layer, head])
        torch.testing.assert_close(found, expected, atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("normalise", ["softmax", "sparsemax", "hardmax"])
@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("weights", ["trained", "random", "none"])
def test_every_choice_ends_where_attend_ends(engine, trace, weights, causal, normalise):
    choice = HeadChoice(1, 2, weights, seed=5, scaled=False, normalise=normalise, causal=causal)
    tensors = head_run(engine, trace, choice).tensors
    mask = causal_mask(tensors.query.shape[-2]) if causal else None
    whole = attend(tensors.query, tensors.key, tensors.value, mask, scale=1.0, normalise=NORMALISE[normalise])
    torch.testing.assert_close(tensors.weights, whole.weights)
    torch.testing.assert_close(tensors.context, whole.context)


def test_without_projections_scores_are_dot_products_of_the_words_themselves(engine, trace):
    found = head_run(engine, trace, HeadChoice(0, 0, "none"))
    vectors = torch.tensor(trace.hidden[0]).double()
    torch.testing.assert_close(found.tensors.scores.double(), vectors @ vectors.T / math.sqrt(256), atol=1e-4, rtol=1e-4)
    assert found.share_to_itself > 0.99


def test_random_weights_come_back_from_their_seed(engine, trace):
    choice = HeadChoice(0, 0, "random", seed=3)
    once, again, other = (head_run(engine, trace, c).tensors.query for c in (choice, choice, replace(choice, seed=4)))
    assert torch.equal(once, again)
    assert not torch.equal(once, other)


def test_a_trace_without_vectors_is_refused(engine):
    with pytest.raises(ValueError, match="hidden"):
        head_run(engine, engine.trace(TEXT), HeadChoice(0, 0))
