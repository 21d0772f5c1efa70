"""Masks by name, a drawn mask fitted to another sentence, and what masks do to scores and weights."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from tx_core.lessons.masking import MASK_KINDS, compare_maskings, fit_mask, forbid_row, mask_effect, mask_of_kind
from tx_core.transformer.attention import causal_mask


@pytest.mark.parametrize(
    ("kind", "rows"),
    [
        ("none", ["1111", "1111", "1111", "1111"]),
        ("padding", ["1110", "1110", "1110", "1110"]),
        ("causal", ["1000", "1100", "1110", "1111"]),
        ("combined", ["1000", "1100", "1110", "1110"]),
        ("window", ["1100", "1110", "0111", "0011"]),
    ],
)
def test_each_kind_is_the_mask_that_its_name_says(kind, rows):
    assert mask_of_kind(kind, 4, 3, 1).int().tolist() == [[int(cell) for cell in row] for row in rows]


def test_every_kind_can_be_built():
    assert all(mask_of_kind(kind, 5, 2).shape == (5, 5) for kind in MASK_KINDS)


def test_an_unknown_kind_is_refused():
    with pytest.raises(ValueError, match="got striped"):
        mask_of_kind("striped", 4, 3)


@given(st.integers(1, 9), st.integers(1, 9), st.integers(0, 99))
def test_a_fitted_mask_keeps_what_both_lengths_have_and_allows_the_rest(before, after, seed):
    mask = torch.rand(before, before, generator=torch.Generator().manual_seed(seed)) > 0.5
    fitted = fit_mask(mask.numpy(), after)
    both = min(before, after)
    assert torch.equal(fitted[:both, :both], mask[:both, :both])
    assert fitted[both:].all() and fitted[:, both:].all()


def test_a_forbidden_row_may_look_nowhere_and_the_first_mask_is_left_alone():
    mask = mask_of_kind("causal", 4, 4)
    changed = forbid_row(mask, 2)
    assert (~changed.any(-1)).nonzero().flatten().tolist() == [2]
    assert mask[2].any()


def test_what_a_mask_takes_from_some_keys_it_gives_to_the_others():
    effect = mask_effect(torch.randn(4, 4), causal_mask(4))
    assert (effect.masked_scores[~effect.mask] == -math.inf).all()
    assert (effect.weights[~effect.mask] == 0).all()
    assert (effect.difference[~effect.mask] < 0).all()
    assert (effect.difference[effect.mask] >= 0).all()
    torch.testing.assert_close(effect.difference.sum(-1), torch.zeros(4), atol=1e-6, rtol=0)


def test_a_query_that_may_look_nowhere_is_named():
    mask = torch.tensor([[True, False], [False, False]])
    assert mask_effect(torch.randn(2, 2), mask).nowhere == (1,)


def test_minus_ten_thousand_nearly_equals_minus_infinity_but_not_for_a_query_that_may_look_nowhere():
    scores = torch.randn(3, 5)
    mask = torch.tensor([[True] * 3 + [False] * 2, [True] * 5, [False] * 5])
    seen = compare_maskings(scores, mask)
    assert seen.leak == seen.greatest_difference == 0
    assert (seen.infinite[2] == 0).all()
    torch.testing.assert_close(seen.penalised[2], seen.unmasked[2], atol=1e-3, rtol=0)
    assert seen.greatest_difference_nowhere == pytest.approx(float(seen.penalised[2].max()))
    assert seen.leak_unmasked == pytest.approx(float(seen.unmasked[0, 3:].sum()))


def test_a_small_penalty_leaks_and_the_leak_is_what_the_arithmetic_says():
    seen = compare_maskings(torch.zeros(1, 2), torch.tensor([[True, False]]), penalty=-2.0)
    assert seen.leak == pytest.approx(1 / (1 + math.exp(2)))
    assert compare_maskings(torch.tensor([[0.0, 10000.0]]), torch.tensor([[True, False]])).leak == pytest.approx(0.5)
