"""Without positions, shuffling the words only shuffles the outputs; with them it does not."""

import pytest

from tx_core.fill_mask.predictions import predict
from tx_core.lessons.word_order import NUM_PREDICTIONS, random_order, shuffle_test
from tx_core.transformer.interventions import Intervention


def test_a_shuffle_leaves_the_fixed_places_alone_and_loses_no_word():
    order = random_order(9, seed=3, fixed=(0, 8))
    assert order[0] == 0
    assert order[8] == 8
    assert sorted(order) == list(range(9))
    assert order != tuple(range(9))
    assert order == random_order(9, seed=3, fixed=(0, 8))


def test_without_positions_shuffling_only_shuffles_and_with_them_it_does_not(engine):
    found = shuffle_test(engine, "He opened the [MASK] with a key.", 1)
    assert found.without_positions.greatest_difference < 1e-4 < 1 < found.with_positions.greatest_difference
    assert found.ordered.words[0] == "door"
    assert found.ordered.words != found.shuffled.words


def test_the_guesses_are_those_of_the_page_fill_the_blank(engine):
    text = "He opened the [MASK] with a key."
    found = shuffle_test(engine, text, 1)
    for guess, changes in ((found.ordered, ()), (found.without_ordered, [Intervention("no_positions")])):
        (blank,) = predict(engine, text, top_k=NUM_PREDICTIONS, interventions=changes).blanks
        assert guess.words == tuple(one.piece for one in blank.predictions)
        assert guess.shares == pytest.approx([one.probability for one in blank.predictions], rel=1e-3)


def test_a_text_without_a_blank_has_no_guesses(engine):
    found = shuffle_test(engine, "She wants to buy a car.", 1)
    assert found.ordered is found.shuffled is found.without_ordered is None
