"""Encodings of positions: what each does to scores, against the formulas and the model itself."""

import torch

from tx_core.lessons.position_encodings import (
    ENCODINGS,
    check_encodings,
    compared_encodings,
    distance_profile,
    learned_table,
)


def test_distances_are_clipped_by_shaw_and_put_into_buckets_by_t5():
    shaw, t5 = ENCODINGS["shaw"].distances(40), ENCODINGS["t5"].distances(40)
    assert (shaw[0, 1].item(), shaw[0, 39].item(), shaw[39, 0].item()) == (1, 16, -16)
    assert t5[3, 2].item() == 1 and t5[2, 3].item() == 17
    assert [name for name, encoding in ENCODINGS.items() if encoding.distances] == ["shaw", "t5"]


def test_numbers_are_gathered_by_distance():
    found = distance_profile(torch.tensor([[0.0, 1.0, 2.0], [3.0, 4.0, 5.0], [6.0, 7.0, 8.0]]))
    assert found.distance == (-2, -1, 0, 1, 2)
    assert found.mean == (6.0, 5.0, 4.0, 3.0, 2.0)
    assert found.lowest == (6.0, 3.0, 0.0, 1.0, 2.0)
    assert found.highest == (6.0, 7.0, 8.0, 5.0, 2.0)
    assert found.spread == 8.0


def test_the_four_demands_tell_good_ways_from_naive_ones(engine):
    holds = {
        name: "".join("x" if criterion.holds else "-" for criterion in verdict)
        for name, verdict in check_encodings(64, 10000.0, learned_table(engine), 48).items()
    }
    assert holds["sinusoids"] == holds["rotary"] == "xxxx"
    assert holds["counting 0, 1, 2 …"] == "x-xx"
    assert holds["share of the text"][2] == "-"
    assert holds["a new random table"][2] == "-"
    assert holds["learned table"] == "xxx-"
    assert list(holds) == list(compared_encodings(64, 10000.0, learned_table(engine)))
