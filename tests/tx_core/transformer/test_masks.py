"""Masks answer who may attend to whom."""

import pytest
import torch

from tx_core.transformer.masks import causal_mask, combine, padding_mask, window_mask


def test_padding_is_hidden_behind_each_sentence():
    mask = padding_mask([2, 3, 0], 4)
    assert mask.shape == (3, 1, 1, 4)
    assert mask[:, 0, 0].tolist() == [[True, True, False, False], [True, True, True, False], [False] * 4]


def test_the_longest_sentence_decides_the_padded_length():
    assert padding_mask([2, 5]).shape == (2, 1, 1, 5)


@pytest.mark.parametrize(("lengths", "tokens"), [([5], 4), ([-1, 2], 3)])
def test_a_length_that_does_not_fit_is_refused(lengths, tokens):
    with pytest.raises(ValueError, match="between 0 and"):
        padding_mask(lengths, tokens)


def test_a_causal_mask_is_the_lower_triangle():
    assert causal_mask(3).tolist() == [[True, False, False], [True, True, False], [True, True, True]]


def test_a_window_reaches_as_far_to_either_side():
    assert window_mask(4, 1).int().tolist() == [[1, 1, 0, 0], [1, 1, 1, 0], [0, 1, 1, 1], [0, 0, 1, 1]]
    assert torch.equal(window_mask(3, 0), torch.eye(3, dtype=torch.bool))
    with pytest.raises(ValueError, match="0 or more"):
        window_mask(3, -1)


def test_a_combination_allows_only_what_every_mask_allows():
    both = combine(padding_mask([2, 3]), None, causal_mask(3))
    assert both.shape == (2, 1, 3, 3)
    assert both[0, 0].int().tolist() == [[1, 0, 0], [1, 1, 0], [1, 1, 0]]
    assert torch.equal(both[1, 0], causal_mask(3))


def test_no_mask_at_all_allows_everything():
    assert combine(None, None) is None
    assert combine() is None
