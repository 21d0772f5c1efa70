"""Likeness of heads: by hand, by scipy, and the map that is drawn from it."""

import numpy as np
import pytest
from scipy.spatial.distance import jensenshannon

from tx_core.analysis.similarity import MAX_SIMILARITY_CELLS, classical_mds, head_similarity, mds_correlation, most_similar_heads
from tx_core.engine import catalogue
from tx_core.errors import TextProblem


def test_on_a_run_of_the_model_it_is_what_scipy_gives():
    weights = catalogue.load("embedded").trace("Time flies like an arrow.").attention.weights
    flat, found = weights.reshape(-1, *weights.shape[2:]).astype(float), head_similarity(weights)
    for one, other in ((0, 1), (3, 30), (17, 8)):
        meant = 1 - np.mean([jensenshannon(a, b, 2) ** 2 for a, b in zip(flat[one], flat[other], strict=True)])
        assert found[one, other] == pytest.approx(meant, abs=1e-5)


def test_the_nearest_heads_come_first_and_never_the_head_itself():
    alike = np.array([[1.0, 0.2, 0.9, 0.9], [0.2, 1, 0, 0], [0.9, 0, 1, 0], [0.9, 0, 0, 1]])
    assert most_similar_heads(alike, 0, 2) == [(2, 0.9), (3, 0.9)]
    assert len(most_similar_heads(alike, 1, 9)) == 3


def test_a_map_of_points_in_a_plane_keeps_their_distances():
    points = np.random.default_rng(3).uniform(0, 0.4, size=(7, 2))
    apart = np.linalg.norm(points[:, None] - points[None], axis=-1)
    places = classical_mds(1 - apart)
    np.testing.assert_allclose(np.linalg.norm(places[:, None] - places[None], axis=-1), apart, atol=1e-9)
    assert mds_correlation(1 - apart) == pytest.approx(1.0)


def test_too_much_to_compare_is_refused_at_once():
    tokens = int(MAX_SIMILARITY_CELLS**0.5 / 12) + 1
    with pytest.raises(TextProblem, match="shorten it by"):
        head_similarity(np.broadcast_to(np.float32(1 / tokens), (3, 4, tokens, tokens)))
