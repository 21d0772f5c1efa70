"""Swear words are found by whole word, whatever their spelling; words that hold one are not."""

from tx_core.classroom.refused_words import is_refused


def test_a_refused_word_is_found_in_any_simple_spelling_and_within_no_other():
    assert all(map(is_refused, ["Shit", "well, SH1T!", "$hiiit", "shít", "Niggers", "a fucking-word"]))
    assert not any(map(is_refused, ["went", "class", "Scunthorpe", "cocktail", "as", "123", "", "Dick", "go!"]))
