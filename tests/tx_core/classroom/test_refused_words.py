"""Swear words are found by whole word, whatever their spelling; words that hold one are not."""

import pytest

from tx_core.classroom.refused_words import is_refused


@pytest.mark.parametrize("text", ["Shit", "well, SH1T!", "$hiiit", "shít", "Niggers", "a fucking-word"])
def test_a_refused_word_is_found_in_any_simple_spelling(text: str):
    assert is_refused(text)


@pytest.mark.parametrize("text", ["went", "class", "Scunthorpe", "cocktail", "as", "123", "", "Dick", "go!"])
def test_a_word_that_holds_one_or_is_none_is_not_refused(text: str):
    assert not is_refused(text)
