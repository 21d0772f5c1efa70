"""Words are paired with their equals only, in order, as many as can be, and neither side is preferred."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from tx_core.analysis.views import word_groups
from tx_core.analysis.word_alignment import align, equal_words, is_word, laid_together, spellings, told_apart, word_numbers
from tx_core.engine import catalogue

TEXTS = st.lists(st.sampled_from("abcd"), max_size=9).map(lambda letters: tuple(("word", letter) for letter in letters))


def spelled(text: str) -> tuple[tuple[str, str], ...]:
    return tuple(("word", word) for word in text.split())


def read(text: str, pair: str | None = None) -> tuple[tuple[str, str], ...]:
    encoding = catalogue.load(catalogue.DEFAULT).encode(text, pair)
    return spellings(encoding, word_groups(encoding))


def longest(one: tuple, other: tuple) -> int:
    """The textbook's recursion, on its own."""
    if not one or not other:
        return 0
    lengths = [[0] * (len(other) + 1) for _ in range(len(one) + 1)]
    for row, mine in enumerate(one, 1):
        for column, yours in enumerate(other, 1):
            lengths[row][column] = (
                lengths[row - 1][column - 1] + 1 if mine == yours else max(lengths[row - 1][column], lengths[row][column - 1])
            )
    return lengths[-1][-1]


@given(TEXTS, TEXTS)
def test_only_equal_words_are_paired_in_order_and_each_once(one, other):
    pairs = align(one, other)
    assert all(one[mine] == other[yours] for mine, yours in pairs)
    for (mine, yours), (next_mine, next_yours) in pairwise(pairs):
        assert mine < next_mine
        assert yours < next_yours


@given(TEXTS, TEXTS)
def test_exchanged_sides_give_the_same_pairs_exchanged(one, other):
    assert align(other, one) == tuple((yours, mine) for mine, yours in align(one, other))


@given(TEXTS, TEXTS)
def test_no_more_words_could_be_paired(one, other):
    assert len(align(one, other)) == longest(one, other)


@given(TEXTS)
def test_a_text_is_aligned_with_itself_word_for_word(text):
    assert align(text, text) == tuple((place, place) for place in range(len(text)))


@given(TEXTS, TEXTS)
def test_laid_together_every_word_of_both_sides_stands_once_and_in_order(one, other):
    pairs = align(one, other)
    rows = laid_together(pairs, len(one), len(other))
    assert [mine for mine, _ in rows if mine is not None] == list(range(len(one)))
    assert [yours for _, yours in rows if yours is not None] == list(range(len(other)))
    assert tuple(row for row in rows if None not in row) == pairs
    assert (None, None) not in rows


def test_neighbours_stay_together():
    assert align(spelled("the cat"), spelled("the dog saw the cat")) == ((0, 3), (1, 4))
    assert align(spelled("a b"), spelled("a b x a x b")) == ((0, 0), (1, 1))


def test_of_equal_pairings_the_first_is_taken():
    assert align(spelled("the cat the cat the cat"), spelled("cat")) == ((1, 0),)
    assert align(spelled("cat"), spelled("the cat the cat")) == ((0, 1),)


def test_a_special_token_draws_no_word_towards_it():
    first, last = (("special", "first"),), (("special", "after"),)
    one, other = first + spelled("the cat the cat the cat") + last, first + spelled("cat") + last
    assert align(one, other) == ((0, 0), (2, 1), (7, 2))


def test_words_are_counted_as_a_reader_counts():
    words, special = ("[CLS]", "the", "cat", ",", "the", "[MASK]", ".", "[SEP]"), (True, *(False,) * 6, True)
    assert word_numbers(words, special) == (0, 1, 2, 2, 3, 4, 4, 4)
    assert told_apart("the", False, 3, 1) == "the (word 3 of A, 1 of B)"
    assert told_apart(",", False, 2, 1) == ", (after word 2 of A, 1 of B)"
    assert told_apart("[SEP]", True, 4, 4) == "[SEP] (after word 4 of A, 4 of B)"


def test_the_two_flies_are_partners_and_their_subjects_are_not():
    one, other = read("time flies like an arrow"), read("Fruit flies like a banana")
    words = [one[mine][1] for mine, _ in align(one, other) if is_word(one[mine])]
    assert words == ["flies", "like"]
    assert laid_together(align(one, other), len(one), len(other))[1:3] == ((1, None), (None, 1))


def test_capitals_are_no_difference():
    assert read("The CAFÉ") == read("the café")


def test_special_tokens_are_known_by_where_they_stand_and_blanks_by_being_blanks():
    one = read("time [MASK]", "a bird")
    assert one == (
        ("special", "first"),
        ("word", "time"),
        ("blank", ""),
        ("special", "after"),
        ("word", "a"),
        ("word", "bird"),
        ("special", "after"),
    )


def test_models_with_other_pieces_and_other_special_tokens_align_by_words(checkpoint):
    from tx_core.engine.hub import load

    theirs = load.load_engine(checkpoint("roberta"), "tiny", "Tiny").encode("Time flies like an arrow")
    mine, yours = read("time flies like an arrow"), spellings(theirs, word_groups(theirs))
    assert align(mine, yours)[:-1] == tuple((place, place) for place in range(6))


def test_equal_words_are_listed_wherever_they_stand():
    assert equal_words(read("the man saw the dog"), read("the dog")) == ((1, 1), (4, 1), (5, 2))
