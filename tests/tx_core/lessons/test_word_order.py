"""Without positions, shuffling the words only shuffles the outputs; with them it does not."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.torch_weights import SMALL_BERT, shake
from tx_core.engine import catalogue
from tx_core.lessons.word_order import logits_at, random_order, shuffle_effect, shuffle_test
from tx_core.transformer.bert import random_bert


@given(st.integers(2, 7).flatmap(lambda tokens: st.permutations(range(tokens))))
@settings(max_examples=10, deadline=None)
def test_a_bert_without_positions_is_equivariant(order):
    model = shake(random_bert(SMALL_BERT, seed=2))
    effect = shuffle_effect(model, range(3, 3 + len(order)), order, positions=False)
    assert effect.greatest_difference < 1e-5
    assert len(effect.by_token) == len(order)


def test_predictions_with_positions_are_berts_own():
    model, ids = shake(random_bert(SMALL_BERT, seed=2)), (3, 9, 8, 4)
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


@pytest.fixture(scope="module")
def engine():
    return catalogue.load("embedded")


def test_without_positions_shuffling_only_shuffles_and_with_them_it_does_not(engine):
    found = shuffle_test(engine, "He opened the [MASK] with a key.", 1)
    assert found.without_positions.greatest_difference < 1e-4 < 1 < found.with_positions.greatest_difference
    assert found.ordered.words[0] == "door"
    assert found.ordered.words != found.shuffled.words


def test_without_positions_a_blank_is_filled_alike_in_both_orders(engine):
    found = shuffle_test(engine, "He opened the [MASK] with a key.", 1)
    blank, shuffled = found.encoding.blanks[0], [found.encoding.ids[place] for place in found.order]
    compute = lambda model, device: logits_at(model, shuffled, [found.order.index(blank)], positions=False)  # noqa: E731
    best = engine.runner.run(compute).value[0].softmax(-1).topk(len(found.without_ordered.words))
    assert found.without_ordered.words == tuple(engine.tokenizer.word(piece) for piece in best.indices.tolist())
    assert found.without_ordered.shares == pytest.approx(best.values.tolist(), rel=1e-3)


def test_a_text_without_a_blank_has_no_guesses(engine):
    found = shuffle_test(engine, "She wants to buy a car.", 1)
    assert found.ordered is found.shuffled is found.without_ordered is None
