"""Positions told by vectors: sinusoids against double precision, and the four criteria."""

import numpy as np
import pytest
import torch

from tx_core.transformer.positions import (
    check_criteria,
    random_table,
    similarity,
    sinusoids,
)


@pytest.mark.parametrize(("tokens", "hidden", "base"), [(7, 10, 10000.0), (600, 32, 10000.0), (33, 6, 20.0)])
def test_sinusoids_equal_the_formula_in_double_precision(tokens, hidden, base):
    expected = np.zeros((tokens, hidden))
    for position in range(tokens):
        for i in range(hidden // 2):
            angle = position / base ** (2 * i / hidden)
            expected[position, 2 * i : 2 * i + 2] = np.sin(angle), np.cos(angle)
    assert np.abs(sinusoids(tokens, hidden, base).numpy() - expected).max() < 1e-7


def test_the_first_position_is_all_zeros_and_ones():
    assert sinusoids(1, 6).tolist() == [[0, 1, 0, 1, 0, 1]]


@pytest.mark.parametrize(("hidden", "base"), [(5, 10000.0), (0, 10000.0), (4, 1.0)])
def test_an_odd_width_or_a_useless_base_is_refused(hidden, base):
    with pytest.raises(ValueError, match="must be"):
        sinusoids(3, hidden, base)


def test_sinusoids_meet_all_four_criteria():
    criteria = check_criteria(lambda tokens: sinusoids(tokens, 64), 50)
    assert [criterion.name for criterion in criteria] == ["unique", "bounded", "deterministic", "consistent"]
    assert all(criterion.holds for criterion in criteria)


def test_each_criterion_fails_where_it_should():
    def failing(encode):
        return {criterion.name for criterion in check_criteria(encode, 12) if not criterion.holds}

    drawn_anew = iter(range(3))
    assert failing(lambda tokens: torch.arange(tokens)[:, None].float()) == {"bounded"}
    assert failing(lambda tokens: torch.arange(tokens)[:, None] / tokens) == {"deterministic"}
    assert failing(lambda tokens: sinusoids(5, 8).repeat(3, 1)[:tokens]) == {"unique", "consistent"}
    assert "consistent" in failing(lambda tokens: random_table(12, 8, seed=1)[:tokens])
    assert "deterministic" in failing(lambda tokens: random_table(tokens, 8, seed=next(drawn_anew)))


def test_a_sinusoids_similarity_depends_on_the_distance_alone():
    diagonals = [similarity(sinusoids(40, 16), "dot").diagonal(distance) for distance in range(40)]
    assert diagonals[0].mean().item() == pytest.approx(8)  # sin² + cos² = 1, eight times
    assert max((line.max() - line.min()).item() for line in diagonals) < 1e-5
    assert diagonals[0].mean() > diagonals[1].mean() > diagonals[2].mean()


def test_a_random_tables_similarity_does_not_depend_on_the_distance():
    diagonals = [similarity(random_table(60, 256, seed=0)).diagonal(distance) for distance in range(60)]
    assert diagonals[0].mean().item() == pytest.approx(1)
    assert max(abs(line.mean().item()) for line in diagonals[1:40]) < 0.1
    assert max((line.max() - line.min()).item() for line in diagonals) > 0.1


def test_similarity_by_hand():
    table = torch.tensor([[3.0, 4.0], [4.0, 3.0], [0.0, 2.0]])
    torch.testing.assert_close(similarity(table, "dot"), torch.tensor([[25.0, 24, 8], [24, 25, 6], [8, 6, 4]]))
    torch.testing.assert_close(similarity(table)[0], torch.tensor([1.0, 0.96, 0.8]))
