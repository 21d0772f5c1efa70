"""Padding: it counts only where it is not masked, on tiny models and on the real one."""

import numpy as np
import pytest
import torch

from tx_core.engine import catalogue
from tx_core.errors import TextProblem
from tx_core.lessons.masking import forbid_row, mask_of_kind
from tx_core.lessons.padding import pad_batch, padded_pair, padded_scores, padding_proof
from tx_core.transformer.bert import random_bert
from tx_core.transformer.config import BertConfig

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


SHORT, LONG = "The cat sat.", "It was late and the dog that had slept all day was hungry again."


@pytest.fixture(scope="module")
def engine():
    return catalogue.load("embedded")


def test_without_padding_the_scores_are_those_of_a_plain_run(engine):
    padded, trace = padded_scores(engine, SHORT, 0), engine.trace(SHORT, keep=("scores",))
    assert padded.tokens == trace.attention.query_tokens.tokens
    np.testing.assert_allclose(padded.scores, trace.attention.scores, atol=1e-5)


def test_padding_stands_behind_the_sentence_and_has_scores_of_its_own(engine):
    padded = padded_scores(engine, SHORT, 3)
    assert padded.tokens[padded.real :] == ("[PAD]",) * 3
    assert padded.scores.shape == (engine.info.num_layers, engine.info.num_heads, padded.real + 3, padded.real + 3)
    assert np.isfinite(padded.scores).all()


def test_a_mask_laid_on_one_head_changes_the_weights_of_that_heads_own_scores(engine):
    padded = padded_scores(engine, SHORT, 2)
    mask = forbid_row(mask_of_kind("padding", len(padded.tokens), padded.real), 1)
    head = padded.under(mask, 3, 7)
    np.testing.assert_array_equal(head.effect.scores, padded.scores[3, 7])
    assert head.nowhere == head.effect.nowhere == (1,)
    assert (head.effect.weights[:, padded.real :] == 0).all()
    assert head.three_ways(-10.0).penalty == -10.0


def test_a_sentence_that_leaves_no_room_for_padding_is_refused(engine):
    text = "cat " * (engine.info.max_tokens - 2)
    assert padded_scores(engine, text, 0).real == engine.info.max_tokens
    with pytest.raises(TextProblem, match="shorten it by 2 tokens"):
        padded_scores(engine, text, 2)


@pytest.mark.parametrize(("first", "second", "shorter"), [(SHORT, LONG, 0), (LONG, SHORT, 1)])
def test_masked_padding_changes_nothing_and_unmasked_padding_does(engine, first, second, shorter):
    pair = padded_pair(engine, first, second)
    assert pair.shorter == shorter
    assert pair.proof.difference_masked < 1e-5 < 0.1 < pair.proof.difference_unmasked
    assert max(pair.proof.moved_masked) == pytest.approx(pair.proof.difference_masked)
    assert max(pair.proof.moved_unmasked) == pytest.approx(pair.proof.difference_unmasked)
    assert len(pair.rows[0]) == len(pair.rows[1])
    assert pair.rows[shorter].count("[PAD]") == pair.proof.padding > 0


def test_sentences_of_one_length_need_no_padding(engine):
    pair = padded_pair(engine, "The cat sat.", "The dog ran.")
    assert pair.proof.padding == 0
    assert pair.proof.difference_unmasked < 1e-5


def test_the_sentence_that_cannot_be_read_is_named(engine):
    with pytest.raises(TextProblem, match="^The second sentence: There is no text"):
        padded_pair(engine, SHORT, " ")
