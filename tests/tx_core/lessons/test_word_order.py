"""Without positions, shuffling the words only shuffles the outputs; with them it does not."""

from tx_core.lessons.word_order import random_order, shuffle_test


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
