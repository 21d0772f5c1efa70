"""Padding in a real model: its scores are the model's own, and it counts only where it is not masked."""

import numpy as np
import pytest

from tx_core.engine import catalogue
from tx_core.errors import TextProblem
from tx_core.lessons.mask_kinds import forbid_row, mask_of_kind
from tx_core.lessons.padding import padded_pair, padded_scores

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
    assert padded.scores.shape == (engine.num_layers, engine.num_heads, padded.real + 3, padded.real + 3)
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
    text = "cat " * (engine.max_tokens - 2)
    assert padded_scores(engine, text, 0).real == engine.max_tokens
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
