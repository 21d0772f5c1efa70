"""Blanks in a text: words become blanks and come back, whatever else is typed."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tx_core.engine import catalogue
from tx_core.engine.tokenizer import BLANK, Tokenizer
from tx_core.fill_mask.blanks import carry_words, fill_blanks, replace_part, text_parts

TYPED = st.lists(st.sampled_from(["___", "[MASK]", "<mask>", "cat", " ", ",", "é", "'", "__", "😀", "\u0301", "["])).map("".join)


@pytest.fixture(scope="module")
def tokenizer() -> Tokenizer:
    return catalogue.load(catalogue.DEFAULT).tokenizer


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("The cat sat.", ["The", "cat", "sat"]),
        ("I can't ___ the well-known [mask]!", ["I", "can't", "___", "the", "well-known", "[mask]"]),
        ("rock'n'roll 'quoted' - yes", ["rock'n'roll", "quoted", "yes"]),
        ("un<mask>able", ["un", "<mask>", "able"]),
        ("a\u0301b שלום 😀 x̂", ["a\u0301b", "שלום", "😀", "x̂"]),
        ("nul\x00in\tside", ["nul", "in", "side"]),
        ("?! …", []),
    ],
)
def test_words_and_blanks_are_found_in_reading_order(text, found):
    assert [part.text for part in text_parts(text)] == found
    assert all(text[part.start : part.end] == part.text for part in text_parts(text))
    assert all(part.blank == bool(BLANK.fullmatch(part.text)) for part in text_parts(text))


@given(TYPED)
def test_a_word_blanked_and_brought_back_leaves_the_text_as_it_was(text):
    for number, part in enumerate(text_parts(text)):
        if not part.blank:
            blanked = replace_part(text, part, "[MASK]")
            back = text_parts(blanked)[number]
            assert back.blank
            assert replace_part(blanked, back, part.text) == text


@pytest.mark.parametrize(
    ("before", "words", "after", "kept"),
    [
        ("A ___ is ___.", ("cat", "nice"), "A ___ is very ___.", ("cat", "nice")),
        ("A ___ is ___.", ("cat", "nice"), "A ___ is warm.", ("cat",)),
        ("A ___ is ___.", ("cat", "nice"), "My dog is ___.", ("nice",)),
        ("A ___ is.", ("cat",), "A ___ is ___.", ("cat", "")),
        ("A ___ is.", ("cat",), "Something else: ___ !", ("",)),
        ("A ___ is.", ("cat",), "So a ___ at.", ("",)),
    ],
)
def test_the_word_behind_a_blank_is_kept_while_one_side_of_it_is_unchanged(before, words, after, kept):
    assert carry_words(before, words, after) == kept


@given(TYPED, TYPED)
def test_there_is_one_word_behind_every_blank_of_whatever_is_typed_next(before, after):
    words = tuple("abcdefghij"[number % 10] for number, _ in enumerate(BLANK.finditer(before)))
    kept = carry_words(before, words, after)
    assert len(kept) == len(BLANK.findall(after))
    assert len([word for word in kept if word]) <= len(words)


@pytest.mark.parametrize(
    ("text", "entries", "sentence"),
    [
        ("The MAN has a [MASK].", {0: "dog"}, "The MAN has a dog."),
        ("They play ___ here.", {0: "##ing"}, "They playing here."),
        ("They play___ here.", {0: "##ing"}, "They playing here."),
        ("They play<mask>here.", {0: "dog"}, "They play doghere."),
        ("Time flies ___", {0: "."}, "Time flies."),
        ("A ___ and a <mask> and a [MASK].", {0: "dog", 2: "cat"}, "A dog and a <mask> and a cat."),
    ],
)
def test_an_entry_is_written_as_a_reader_would(tokenizer, text, entries, sentence):
    ids = {number: tokenizer.entry(entry) for number, entry in entries.items()}
    assert fill_blanks(text, tokenizer, ids) == sentence
