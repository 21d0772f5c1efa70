"""What masks do to scores and weights, and what padding must not do."""

import math

import pytest
import torch

from tx_core.lessons.masked_scores import mask_effect, pad_batch, padding_proof, three_maskings
from tx_core.transformer.bert import random_bert
from tx_core.transformer.config import BertConfig
from tx_core.transformer.masks import causal_mask

SIZES = BertConfig(
    vocab_size=23,
    hidden_size=12,
    num_layers=2,
    num_heads=3,
    intermediate_size=20,
    max_positions=10,
    num_segments=2,
    activation="gelu",
    layer_norm_eps=1e-12,
    dropout=0.0,
)


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
    seen = three_maskings(scores, mask)
    assert seen.leak == seen.greatest_difference == 0
    assert (seen.infinite[2] == 0).all()
    torch.testing.assert_close(seen.penalised[2], seen.unmasked[2], atol=1e-3, rtol=0)
    assert seen.greatest_difference_nowhere == pytest.approx(float(seen.penalised[2].max()))
    assert seen.leak_unmasked == pytest.approx(float(seen.unmasked[0, 3:].sum()))


def test_a_small_penalty_leaks_and_the_leak_is_what_the_arithmetic_says():
    seen = three_maskings(torch.zeros(1, 2), torch.tensor([[True, False]]), penalty=-2.0)
    assert seen.leak == pytest.approx(1 / (1 + math.exp(2)))
    assert three_maskings(torch.tensor([[0.0, 10000.0]]), torch.tensor([[True, False]])).leak == pytest.approx(0.5)


@pytest.mark.parametrize(("first", "second"), [((3, 8, 4), (3, 5, 6, 7, 9, 4)), ((3, 5, 6, 7, 4), (3, 4))])
def test_padding_counts_for_nothing_when_masked_and_for_something_when_not(first, second):
    model = random_bert(SIZES, seed=4)
    proof = padding_proof(lambda ids, mask: model(ids, None, mask).output, first, second, padding_id=0)
    assert proof.padding == abs(len(first) - len(second))
    assert len(proof.alone) == min(len(first), len(second))
    assert proof.difference_masked < 1e-5
    assert proof.difference_unmasked > 1e-3


def test_what_stands_on_masked_padding_moves_nothing_bit_for_bit():
    model = random_bert(SIZES, seed=4)
    results = []
    for padding_id in (0, 17):
        proof = padding_proof(lambda ids, mask: model(ids, None, mask).output, (3, 8, 4), (3, 5, 6, 7, 4), padding_id)
        results.append(proof.masked)
    assert torch.equal(*results)


def test_a_batch_is_filled_up_to_the_longest():
    assert pad_batch([(5, 6), (7, 8, 9)], 0).tolist() == [[5, 6, 0], [7, 8, 9]]
