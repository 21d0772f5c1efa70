"""What is drawn of positions, against the formulas and the model itself."""

import pytest
import torch

from tx_core.engine import catalogue
from tx_core.lessons.position_views import (
    BIASES,
    biases,
    by_distance,
    contestants,
    distance_map,
    judge,
    learned_table,
    rotary_waves,
    same_word_scores,
    scores_of,
    turned_word,
)
from tx_core.transformer.positions import sinusoids


@pytest.fixture(scope="module")
def engine():
    return catalogue.load("embedded")


def test_rotary_waves_are_sinusoids_in_another_order():
    waves, expected = rotary_waves(7, 6), sinusoids(7, 6)
    torch.testing.assert_close(waves[:, :3], expected[:, 1::2])
    torch.testing.assert_close(waves[:, 3:], expected[:, 0::2])


def test_a_turned_word_keeps_its_length():
    lengths = turned_word(9, 6).norm(dim=-1)
    torch.testing.assert_close(lengths, lengths[:1].expand(9))


def test_distances_are_clipped_by_shaw_and_put_into_buckets_by_t5():
    shaw, t5 = distance_map("shaw", 40), distance_map("t5", 40)
    assert (shaw[0, 1].item(), shaw[0, 39].item(), shaw[39, 0].item()) == (1, 16, -16)
    assert t5[3, 2].item() == 1 and t5[2, 3].item() == 17
    with pytest.raises(ValueError, match="got alibi"):
        distance_map("alibi", 4)


@pytest.mark.parametrize("scheme", BIASES)
def test_a_bias_of_every_head_depends_on_the_distance_alone(scheme):
    for bias in biases(scheme, 11):
        assert by_distance(bias).spread < 1e-5


def test_an_unknown_bias_is_refused():
    with pytest.raises(ValueError, match="got rotary"):
        biases("rotary", 4)


def test_numbers_are_gathered_by_distance():
    found = by_distance(torch.tensor([[0.0, 1.0, 2.0], [3.0, 4.0, 5.0], [6.0, 7.0, 8.0]]))
    assert found.distance == (-2, -1, 0, 1, 2)
    assert found.mean == (6.0, 5.0, 4.0, 3.0, 2.0)
    assert found.lowest == (6.0, 3.0, 0.0, 1.0, 2.0)
    assert found.highest == (6.0, 7.0, 8.0, 5.0, 2.0)
    assert found.spread == 8.0


def test_copies_of_one_token_are_told_apart_by_a_trained_bert_only_through_its_positions(engine):
    found = same_word_scores(engine, 12, 3)
    assert found.scores.shape == (12, 12)
    assert not found.drawn
    assert found.scores.std() > 0.05
    torch.testing.assert_close(found.weights, found.scores.softmax(-1))


def test_every_scheme_has_scores(engine):
    for scheme in ("none", "sinusoidal", "learned", "shaw", "t5", "rotary", "alibi"):
        assert scores_of(scheme, 10, 16, 10000.0, 2, engine).weights.sum(-1).tolist() == pytest.approx([1.0] * 10)


def test_the_four_demands_tell_good_ways_from_naive_ones(engine):
    holds = {
        name: "".join("x" if criterion.holds else "-" for criterion in verdict)
        for name, verdict in judge(64, 10000.0, learned_table(engine), 48).items()
    }
    assert holds["sinusoids"] == holds["rotary"] == "xxxx"
    assert holds["counting 0, 1, 2 …"] == "x-xx"
    assert holds["share of the text"][2] == "-"
    assert holds["a new random table"][2] == "-"
    assert holds["learned table"] == "xxx-"
    assert list(holds) == list(contestants(64, 10000.0, learned_table(engine)))
