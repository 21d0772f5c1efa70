"""The effect of each kind of position on scores between copies of one word."""

import pytest
import torch

from tx_core.lessons.position_scores import SCHEMES, position_scores
from tx_core.transformer.positions import sinusoids


def test_without_positions_one_word_sees_no_place_before_another():
    seen = position_scores("none", 6, 8)
    torch.testing.assert_close(seen.weights, torch.full((6, 6), 1 / 6))
    assert not seen.drawn


@pytest.mark.parametrize("scheme", ["shaw", "t5", "rotary", "alibi"])
def test_relative_schemes_tell_the_distance_and_not_the_place(scheme):
    scores = position_scores(scheme, 9, 8, seed=3).scores
    for distance in range(-8, 9):
        along = scores.diagonal(distance)
        torch.testing.assert_close(along, along[0].expand_as(along), atol=1e-5, rtol=0)
    assert scores[0].std() > 1e-3


def test_vectors_added_to_the_word_tell_the_place_itself():
    for scheme in ("sinusoidal", "learned"):
        along = position_scores(scheme, 9, 8, seed=3).scores.diagonal()
        assert along.std() > 1e-3


def test_alibi_prefers_the_near_and_rotary_the_same_place():
    alibi = position_scores("alibi", 7, 8, head=1)
    assert alibi.weights.argmax(-1).tolist() == list(range(7))
    assert (alibi.scores[0].diff() < 0).all()
    assert position_scores("rotary", 7, 8).scores.argmax(-1).tolist() == list(range(7))


def test_a_trained_table_takes_the_place_of_a_drawn_one():
    given, drawn = (position_scores("learned", 5, 8, table=table) for table in (sinusoids(12, 8), None))
    assert torch.equal(given.scores, position_scores("sinusoidal", 5, 8).scores)
    assert drawn.drawn
    assert not given.drawn


def test_only_known_schemes_and_long_enough_tables_are_taken():
    assert all(position_scores(scheme, 40, 8).scores.shape == (40, 40) for scheme in SCHEMES)
    with pytest.raises(ValueError, match="scheme must be one of"):
        position_scores("magic", 5, 8)
    with pytest.raises(ValueError, match="5 rows or more"):
        position_scores("learned", 5, 8, table=torch.randn(4, 8))
