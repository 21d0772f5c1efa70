"""Words and their numbers: how a sentence is cut, and which words a model knows."""

import pytest

from tx_core.errors import TextProblem
from tx_core.training.classifier_model import build_vocabulary, encode_words, split_words


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Don't go, it's BAD!", ["don't", "go", ",", "it's", "bad", "!"]),
        ("naïve café 2nd 映画", ["naïve", "café", "2nd", "映画"]),
        ("<br />", ["<", "br", "/", ">"]),
        ("  \n\t ", []),
    ],
)
def test_a_text_is_cut_into_small_letter_words_and_signs(text, words):
    assert split_words(text) == words


def test_the_commonest_words_get_the_first_numbers_and_the_alphabet_decides_between_equals():
    vocabulary = build_vocabulary(["b a c", "c b", "c d"], most_words=3)
    assert vocabulary.words == ("c", "b", "a")
    assert vocabulary.numbers() == {"c": 2, "b": 3, "a": 4}
    assert len(vocabulary) == 5


def test_an_unknown_word_keeps_its_spelling_and_is_marked():
    encoding = encode_words("A zebra!", {"a": 2, "!": 3}, most=5)
    assert encoding.ids == (2, 1, 3)
    assert encoding.tokens == ("a", "zebra", "!")
    assert encoding.unknown == (1,)


def test_a_text_without_words_or_with_too_many_is_refused_and_never_cut():
    with pytest.raises(TextProblem, match="one word or more"):
        encode_words("  ", {}, most=5)
    with pytest.raises(TextProblem, match="reads 2 words at the most, the text has 3"):
        encode_words("a b c", {}, most=2)
