"""Without positions, shuffling the words only shuffles the outputs; with them it does not."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.torch_weights import shake
from tx_core.engine import catalogue
from tx_core.errors import TextProblem
from tx_core.lessons.word_order import bert_shuffle_effect, embed, logits_at, order_test, random_order, shuffle_effect
from tx_core.transformer.bert import random_bert
from tx_core.transformer.config import BertConfig
from tx_core.transformer.encoder import Encoder
from tx_core.transformer.layers import EncoderBlock
from tx_core.transformer.positions import sinusoids

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


@given(st.integers(2, 7).flatmap(lambda tokens: st.permutations(range(tokens))), st.booleans())
@settings(max_examples=30, deadline=None)
def test_an_encoder_without_positions_is_equivariant(order, norm_first):
    encoder = shake(Encoder([EncoderBlock(12, 3, 20, norm_first=norm_first) for _ in range(2)]))
    effect = shuffle_effect(lambda x: encoder(x).output, torch.randn(len(order), 12), order)
    assert effect.greatest_difference < 1e-5


def test_positions_break_the_equivariance():
    encoder = shake(Encoder([EncoderBlock(12, 3, 20)]))
    effect = shuffle_effect(lambda x: encoder(x + sinusoids(4, 12)).output, torch.randn(4, 12), (1, 0, 2, 3))
    assert effect.greatest_difference > 1e-2
    assert len(effect.by_token) == 4


def test_outputs_are_put_back_before_they_are_compared():
    vectors = torch.arange(6.0).view(3, 2)
    effect = shuffle_effect(lambda x: x, vectors, (2, 0, 1))
    assert torch.equal(effect.shuffled, vectors)
    place = torch.tensor([[10.0], [20.0], [30.0]])
    moved = shuffle_effect(lambda x: x + place, torch.zeros(3, 1), (2, 0, 1))
    # Word 0 stands at place 1 after the shuffle, word 1 at place 2, word 2 at place 0.
    assert moved.shuffled.flatten().tolist() == [20, 30, 10]
    assert moved.by_token == (10, 10, 20)


def test_berts_own_positions_make_order_matter_and_their_absence_does_not():
    model, ids, order = shake(random_bert(SIZES, seed=2)), (3, 9, 8, 7, 4), (0, 3, 1, 2, 4)
    assert bert_shuffle_effect(model, ids, order, positions=False).greatest_difference < 1e-4
    assert bert_shuffle_effect(model, ids, order, positions=True).greatest_difference > 1e-2


def test_with_positions_the_embeddings_are_berts_own():
    model, ids = shake(random_bert(SIZES, seed=2)), torch.tensor([[3, 9, 4]])
    assert torch.equal(embed(model, ids, positions=True), model.embeddings(ids))
    assert not torch.allclose(embed(model, ids, positions=False), model.embeddings(ids))


def test_predictions_with_positions_are_berts_own():
    model, ids = shake(random_bert(SIZES, seed=2)), (3, 9, 8, 4)
    whole = model.predict(model(torch.tensor([ids])).output)[0]
    torch.testing.assert_close(logits_at(model, ids, [2], positions=True), whole[[2]])
    assert not torch.allclose(logits_at(model, ids, [2], positions=False), whole[[2]])


def test_a_shuffle_leaves_the_fixed_places_alone_and_loses_no_word():
    order = random_order(9, seed=3, fixed=(0, 8))
    assert order[0] == 0
    assert order[8] == 8
    assert sorted(order) == list(range(9))
    assert order != tuple(range(9))
    assert order == random_order(9, seed=3, fixed=(0, 8))


@pytest.mark.parametrize("order", [(0, 0, 1), (0, 1), (1, 2, 3)])
def test_an_order_that_loses_a_word_is_refused(order):
    with pytest.raises(ValueError, match="must name each of 0 to 2 once"):
        shuffle_effect(lambda x: x, torch.randn(3, 2), order)


@pytest.fixture(scope="module")
def engine():
    return catalogue.load("embedded")


def test_without_positions_shuffling_only_shuffles_and_with_them_it_does_not(engine):
    found = order_test(engine, "He opened the [MASK] with a key.", 1)
    assert found.without_positions.greatest_difference < 1e-4 < 1 < found.with_positions.greatest_difference
    assert found.without_ordered.words == found.without_shuffled.words
    assert found.without_ordered.shares == pytest.approx(found.without_shuffled.shares, rel=1e-3)
    assert found.ordered.words[0] == "door"
    assert found.ordered.words != found.shuffled.words


def test_special_tokens_stay_and_every_word_stays_in_the_sentence(engine):
    found = order_test(engine, "She wants to buy a car.", 7)
    tokens = found.encoding.tokens
    assert (found.tokens_shuffled[0], found.tokens_shuffled[-1]) == (tokens[0], tokens[-1])
    assert sorted(found.tokens_shuffled) == sorted(tokens)


def test_a_text_without_a_blank_has_no_guesses(engine):
    found = order_test(engine, "She wants to buy a car.", 1)
    assert found.ordered is found.without_shuffled is None


def test_a_text_that_cannot_be_read_is_refused(engine):
    with pytest.raises(TextProblem, match="no text"):
        order_test(engine, " ", 1)
