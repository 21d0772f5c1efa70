"""The record of a run: labels for texts without word pieces, and which parts a run may keep."""

import pytest

from tx_core.transformer.trace import ALL_PARTS, check_parts, plain_encoding


def test_a_plain_text_numbers_its_words_and_leaves_marks_out():
    encoding = plain_encoding(["[CLS]", "good", "film"], [2, 7, 8], [True, False, False])
    assert encoding.words == (None, 0, 1)
    assert encoding.word_texts == ("good", "film")
    with pytest.raises(ValueError, match="every id must have one token"):
        plain_encoding(["good"], [7, 8])


def test_the_first_token_of_each_sentence_starts_it():
    encoding = plain_encoding(["[CLS]", "good", "film", "[SEP]", "bad"], range(5), [True, False, False, True, False])
    assert [encoding.starts_sentence(position) for position in range(5)] == [True, True, False, False, True]


def test_a_part_that_no_run_has_is_refused():
    assert check_parts(ALL_PARTS) == set(ALL_PARTS)
    with pytest.raises(ValueError, match="got gradients"):
        check_parts(["weights", "gradients"])
