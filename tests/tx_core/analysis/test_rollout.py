"""Rollout and flow: by hand, by a loop, by networkx, and by the laws that they must keep."""

import networkx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tx_core.analysis.patterns import entropy
from tx_core.analysis.rollout import MAX_FLOW_EDGES, flow, rollout
from tx_core.engine import catalogue
from tx_core.errors import TextProblem


def random_weights(layers: int, heads: int, tokens: int, seed: int) -> np.ndarray:
    drawn = np.random.default_rng(seed).exponential(size=(layers, heads, tokens, tokens)) ** 4
    return drawn / drawn.sum(axis=-1, keepdims=True)


SIZES = st.tuples(st.integers(1, 3), st.integers(1, 4), st.integers(1, 6), st.integers(0, 99))


def by_networkx(weights: np.ndarray, query: int) -> list[list[float]]:
    layers, tokens = len(weights), weights.shape[-1]
    graph = networkx.DiGraph()
    for layer in range(layers):
        mean = weights[layer].mean(axis=0) * 0.5
        for upper in range(tokens):
            for lower in range(tokens):
                capacity = mean[upper, lower] + 0.5 * (upper == lower)
                graph.add_edge((layer + 1, upper), (layer, lower), capacity=float(capacity))
    return [
        [networkx.maximum_flow_value(graph, (layer, query), (0, key)) for key in range(tokens)] for layer in range(1, layers + 1)
    ]


def test_rollout_is_the_product_of_the_mixed_layers():
    weights = catalogue.load("embedded").trace("Fruit flies like a banana.").attention.weights.astype(float)
    reached = np.eye(weights.shape[-1])
    for layer, found in zip(weights, rollout(weights), strict=True):
        reached = (layer.mean(0) / 2 + np.eye(len(reached)) / 2) @ reached
        np.testing.assert_allclose(found, reached, atol=1e-6)


def test_without_attention_everything_stays_where_it_is():
    off = np.zeros((3, 2, 4, 4))
    np.testing.assert_array_equal(rollout(off), np.broadcast_to(np.eye(4), (3, 4, 4)))
    np.testing.assert_array_equal(flow(off, 2), np.broadcast_to(np.eye(4)[2], (3, 4)))


@given(SIZES)
def test_flow_is_what_networkx_finds(sizes):
    weights = random_weights(*sizes)
    query = sizes[-1] % sizes[2]
    found = flow(weights, query)
    np.testing.assert_allclose(found, by_networkx(weights, query), atol=1e-8)
    assert found.max() <= 1


def test_a_text_too_long_for_flow_is_refused_at_once():
    tokens = int(MAX_FLOW_EDGES ** (1 / 3)) + 1
    with pytest.raises(TextProblem, match="at most"):
        flow(np.full((1, 1, tokens, tokens), 1 / tokens, dtype=np.float32), 0)


def test_flow_is_more_even_than_rollout_in_the_sentences_that_were_tried(engine):
    """What the page says; `engine` is the embedded model."""
    for text in ("Mary lost her keys.", "Yesterday I [MASK] to school.", "What is the matter?"):
        weights = engine.trace(text).attention.weights
        rolled = rollout(weights)[-1]
        for query, row in enumerate(rolled):
            flowed = flow(weights, query)[-1] / flow(weights, query)[-1].sum()
            assert entropy(flowed[None]) > entropy(row[None])
