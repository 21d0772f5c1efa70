"""Masks by name, and a painted mask carried over."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from tx_core.lessons.mask_kinds import KINDS, fit_mask, forbid_row, mask_of_kind


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


def test_every_kind_is_told_and_can_be_built():
    assert all(mask_of_kind(kind, 5, 2).shape == (5, 5) for kind in KINDS)


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
