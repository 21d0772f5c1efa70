"""Blanks in a text: words become blanks and come back, whatever else is typed."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tx_core.engine import catalogue
from tx_core.engine.tokenizer import BLANK, Tokenizer
from tx_core.errors import TextProblem
from tx_core.fill_mask.blanks import ReadSentence, carry_words, fill_blanks, read_sentence, replace_part, text_parts
from tx_core.fill_mask.predictions import predict

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


@pytest.mark.parametrize(
    ("typed", "read"),
    [
        ("My dog eats bread", ReadSentence("My dog [MASK] bread.", 2, True)),
        ("What is the capital of France?", ReadSentence("What is the [MASK] of France?", 3)),
        ("We were there.", ReadSentence("We were [MASK].", 2)),  # no content word: the longest
        ("Hello", ReadSentence("[MASK].", 0, True)),
        ("She said “good morning”", ReadSentence("She said “[MASK] morning”.", 2, True)),
        ("I like ___", ReadSentence("I like ___.", None, True)),
        ("I like <mask>!", ReadSentence("I like <mask>!")),
        ("I _ to school, and you __ here.", ReadSentence("I [MASK] to school, and you [MASK] here.")),
        ("My name is ...", ReadSentence("My name is [MASK].", None, True)),
        ("A … is an animal.", ReadSentence("A [MASK] is an animal.")),
        ("Well ... I [MASK] so.", ReadSentence("Well ... I [MASK] so.")),  # a blank is written: these are dots
        ("Wait...what about snake_1", ReadSentence("Wait...what about [MASK]_1.", 3, True)),
        ("I am 😀😀😀😀!!", ReadSentence("I [MASK] 😀😀😀😀!!", 1)),
        ("Is this a ? or not", ReadSentence("Is [MASK] a ? or not.", 1, True)),
    ],
)
def test_a_sentence_is_read_with_a_blank_and_an_end(typed, read):
    assert read_sentence(typed) == read
    open_end = read_sentence(typed, closes=False)
    assert (open_end.text, open_end.closed) == (read.text[:-1] if read.closed else read.text, False)


@pytest.mark.parametrize("typed", ["", "  ", "?!", ". . .", "()", "😀", "❤️ 😀"])
def test_a_text_of_signs_alone_has_nothing_to_guess(typed):
    with pytest.raises(TextProblem):
        read_sentence(typed)


@given(TYPED)
def test_whatever_is_read_has_a_blank_and_is_read_again_as_it_is(typed):
    if any(part.blank or any(map(str.isalnum, part.text)) for part in text_parts(typed)):
        read = read_sentence(typed)
        assert BLANK.search(read.text)
        assert read_sentence(read.text) == ReadSentence(read.text)


EVERYDAY = """
My dog eats bread
I love my mother
The weather in London is bad today
We went to the beach last summer
my cat sleeps on the sofa all day
I forgot my keys at home
She baked a cake on Sunday
the teacher gave us too much homework
Can you help me with my homework
I would like a cup of coffee
He plays football every Saturday
the train was late again this morning
What is the capital of France
my brother is taller than me
Our neighbours have a new car
I am so tired after work
The children are playing in the garden
Do you want to go to the cinema tonight
I lost my phone in the park
It rained the whole night
My favourite colour is blue
the soup tastes like nothing
She speaks three languages
I have never been to Japan
He broke his leg while skiing
Birds fly south in winter
The baby cried all night
I need a new pair of shoes
we watched a movie about space
The old man walked slowly across the street
My sister works as a nurse in a hospital
please close the door behind you
I don't understand this question
They got married in June
the doctor told him to stop smoking
There is a spider in the bathroom
I ate too many cookies
Tom and Anna bought a house near the river
The shop closes at eight
Why is the sky blue
I think it will snow tomorrow
her hair is longer than mine
The president gave a speech on television
You should drink more water
nobody knows where the key is
I heard a strange noise in the kitchen
The boy threw the ball over the fence
My grandmother tells the best stories
Time flies when you are having fun
The pizza was cold and the waiter was rude
she has been waiting for two hours
I want to learn how to play the guitar
Dogs are better than cats
The computer crashed before I could save my work
He is afraid of the dark
we are going to visit my uncle next week
The moon is bright tonight
I can't find my glasses
The students who failed the exam were angry
Money does not make you happy
""".strip().splitlines()
"""Sentences as somebody types them, without a stop."""


def test_the_first_guess_in_a_sentence_of_ones_own_is_a_word():
    """Without the stop, the last word blanked gives a sign in two thirds."""
    engine = catalogue.load(catalogue.DEFAULT)

    def signs(asked: list[str]) -> int:
        guesses = [predict(engine, text, top_k=1).blanks[0].predictions[0].word for text in asked]
        return sum(not any(map(str.isalnum, guess)) for guess in guesses)

    assert len(EVERYDAY) == 60
    ends = [replace_part(typed, text_parts(typed)[-1], "___") for typed in EVERYDAY]
    for typed in (EVERYDAY, ends):
        assert signs([read_sentence(one).text for one in typed]) <= len(EVERYDAY) / 20
    assert signs(ends) > len(EVERYDAY) / 2
