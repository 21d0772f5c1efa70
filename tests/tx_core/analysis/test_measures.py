"""How widely and how far a head looks: by hand and by law."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from tx_core.analysis.measures import entropy, mean_distance, normalised_entropy, uniform_distance
from tx_core.engine import catalogue

SCORES = arrays(np.float64, (2, 3, 5, 7), elements=st.floats(-20, 20))


def shares(scores: np.ndarray) -> np.ndarray:
    raised = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return raised / raised.sum(axis=-1, keepdims=True)


@pytest.mark.parametrize("keys", [1, 2, 7, 512])
def test_the_same_to_all_has_the_log_of_the_number_of_keys(keys):
    even = np.full((2, 3, 4, keys), 1 / keys)
    np.testing.assert_allclose(entropy(even), np.log(keys), atol=1e-12)
    np.testing.assert_allclose(normalised_entropy(even), float(keys > 1), atol=1e-12)


def test_all_on_one_and_a_query_that_attends_nowhere_have_no_entropy():
    weights = np.zeros((1, 1, 2, 3))
    weights[0, 0, 0, 1] = 1
    assert entropy(weights).tolist() == [[[0, 0]]]
    assert not np.signbit(entropy(weights)).any()


@given(SCORES)
def test_entropy_is_what_torch_computes_and_lies_between_its_ends(scores):
    weights = shares(scores)
    np.testing.assert_allclose(entropy(weights), torch.distributions.Categorical(torch.tensor(weights)).entropy(), atol=1e-6)
    assert ((normalised_entropy(weights) > -1e-9) & (normalised_entropy(weights) < 1 + 1e-9)).all()


@given(SCORES)
def test_the_order_of_the_keys_does_not_matter_to_entropy(scores):
    weights = shares(scores)
    np.testing.assert_allclose(entropy(weights[..., ::-1]), entropy(weights), atol=1e-9)


def test_distance_by_hand():
    weights = np.array([[0.5, 0.0, 0.5], [0.25, 0.5, 0.25], [0.0, 0.0, 0.0]])
    assert mean_distance(weights).tolist() == [1.0, 0.5, 0.0]


@pytest.mark.parametrize("tokens", [1, 2, 5, 40])
def test_an_even_look_has_the_distance_that_the_formula_says(tokens):
    found = mean_distance(np.full((tokens, tokens), 1 / tokens)).mean()
    assert found == pytest.approx(uniform_distance(tokens), abs=1e-12)


def test_looking_n_tokens_back_is_n_tokens_far():
    for back in range(4):
        np.testing.assert_allclose(mean_distance(np.eye(6, k=-back))[back:], back)


def test_on_a_run_of_the_model_each_head_is_what_a_loop_gives():
    weights = catalogue.load("embedded").trace("Fruit flies like a banana.").attention.weights
    layers, heads, tokens, _ = weights.shape
    for layer in range(layers):
        for head in range(heads):
            rows = weights[layer, head].astype(float)
            far = [sum(rows[query, key] * abs(query - key) for key in range(tokens)) for query in range(tokens)]
            wide = [-sum(share * np.log(share) for share in row if share > 0) for row in rows]
            np.testing.assert_allclose(mean_distance(weights)[layer, head], far, atol=1e-4)
            np.testing.assert_allclose(entropy(weights)[layer, head], wide, atol=1e-4)
