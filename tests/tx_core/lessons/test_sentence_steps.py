"""A reader's sentence through one head: the same numbers as the model itself, and every switch does what it says."""

import math
from dataclasses import replace

import pytest
import torch

from tx_core.engine import catalogue
from tx_core.lessons.sentence_steps import StepChoice, sentence_steps
from tx_core.transformer.attention import attend
from tx_core.transformer.masks import causal_mask
from tx_core.transformer.normalise import NORMALISE

TEXT = "time flies like an arrow"


@pytest.fixture(scope="module")
def engine():
    return catalogue.load("embedded")


@pytest.fixture(scope="module")
def trace(engine):
    return engine.trace(TEXT, keep=("hidden", "weights", "query", "context"))


@pytest.mark.parametrize(("layer", "head"), [(0, 7), (1, 0), (3, 4)])
def test_a_trained_head_computes_what_the_model_computes(engine, trace, layer, head):
    steps = sentence_steps(engine, trace, StepChoice(layer, head)).steps
    for name, found in (("query", steps.query), ("weights", steps.weights), ("context", steps.context)):
        expected = torch.tensor(getattr(trace.attention, name)[layer, head])
        torch.testing.assert_close(found, expected, atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("normalise", ["softmax", "sparsemax", "hardmax"])
@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("weights", ["trained", "random", "none"])
def test_every_choice_ends_where_attend_ends(engine, trace, weights, causal, normalise):
    choice = StepChoice(1, 2, weights, seed=5, scaled=False, normalise=normalise, causal=causal)
    steps = sentence_steps(engine, trace, choice).steps
    mask = causal_mask(steps.query.shape[-2]) if causal else None
    whole = attend(steps.query, steps.key, steps.value, mask, scale=1.0, normalise=NORMALISE[normalise])
    torch.testing.assert_close(steps.weights, whole.weights)
    torch.testing.assert_close(steps.context, whole.context)


def test_without_projections_scores_are_dot_products_of_the_words_themselves(engine, trace):
    found = sentence_steps(engine, trace, StepChoice(0, 0, "none"))
    vectors = torch.tensor(trace.hidden[0]).double()
    torch.testing.assert_close(found.steps.scores.double(), vectors @ vectors.T / math.sqrt(256), atol=1e-4, rtol=1e-4)
    assert found.share_to_itself > 0.99


def test_random_weights_come_back_from_their_seed(engine, trace):
    choice = StepChoice(0, 0, "random", seed=3)
    once, again, other = (sentence_steps(engine, trace, c).steps.query for c in (choice, choice, replace(choice, seed=4)))
    assert torch.equal(once, again)
    assert not torch.equal(once, other)


def test_a_trace_without_vectors_is_refused(engine):
    with pytest.raises(ValueError, match="hidden"):
        sentence_steps(engine, engine.trace(TEXT), StepChoice(0, 0))
