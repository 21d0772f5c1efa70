"""Masks by name, a drawn mask fitted to another sentence, and what masks do to scores and weights."""

import numpy as np
import pytest
import torch

from tx_core.lessons.masking import MaskedHead, mask_of_kind, padded_pair, padded_scores


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


def test_minus_ten_thousand_nearly_equals_minus_infinity_but_not_for_a_query_that_may_look_nowhere():
    scores = torch.randn(3, 5)
    mask = torch.tensor([[True] * 3 + [False] * 2, [True] * 5, [False] * 5])
    head = MaskedHead((), mask, scores)
    assert torch.equal(head.penalised()[:2], head.weights[:2])
    assert (head.weights[2] == 0).all()
    torch.testing.assert_close(head.penalised()[2], head.weights_before[2], atol=1e-3, rtol=0)


SHORT, LONG = "The cat sat.", "It was late and the dog that had slept all day was hungry again."


def test_a_mask_laid_on_one_head_changes_the_weights_of_that_heads_own_scores(engine):
    padded = padded_scores(engine, SHORT, 2)
    mask = mask_of_kind("padding", len(padded.tokens), padded.real)
    mask[1] = False
    head = padded.under(mask, 3, 7)
    np.testing.assert_array_equal(head.scores, padded.scores[3, 7])
    assert (head.weights[1] == 0).all()
    assert (head.weights[:, padded.real :] == 0).all()
    assert (head.penalised(-10.0)[0, padded.real :] > 0).all()


@pytest.mark.parametrize(("first", "second", "shorter"), [(SHORT, LONG, 0), (LONG, SHORT, 1)])
def test_masked_padding_changes_nothing_and_unmasked_padding_does(engine, first, second, shorter):
    pair = padded_pair(engine, first, second)
    assert pair.shorter == shorter
    assert max(pair.moved_masked) < 1e-5 < 0.1 < max(pair.moved_unmasked)
    assert len(pair.rows[0]) == len(pair.rows[1])
    assert pair.rows[shorter].count("[PAD]") == pair.padding > 0
