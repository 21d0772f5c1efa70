"""A trained BERT with its words shuffled: order counts with positions, and not at all without."""

import pytest

from tx_core.engine import catalogue
from tx_core.errors import TextProblem
from tx_core.lessons.word_order import order_test


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
