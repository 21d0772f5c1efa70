"""Pairs of which one word decides the answer: how they are made, kept, counted and stored."""

import re
from itertools import islice

import pytest

from tx_core.causal.deciding_words import (
    KINDS,
    OTHER_LENGTH,
    SAME_SENTENCES,
    SEVERAL_WORDS,
    TEMPLATES,
    TWO_BLANKS,
    PairReading,
    draw_pairs,
    explain_pair,
    is_decided,
    ranked_pair,
    read_pairs,
    share_first,
    stored_pairs,
    write_pairs,
)
from tx_core.causal.explain import METHODS
from tx_core.errors import TextProblem
from tx_core.settings import ASSETS


def test_pairs_differ_in_one_word_are_drawn_again_alike_and_are_no_example_of_the_app():
    drawn = list(islice(draw_pairs(), 90))
    assert drawn == list(islice(draw_pairs(), 90)) != list(islice(draw_pairs(1), 90))
    for _, text, other in drawn:
        assert sum(one != two for one, two in zip(text.split(), other.split(), strict=True)) == 1
    shapes = [re.compile(re.sub(r"\\{.*?\\}", r"[\\w']+", re.escape(one.text))) for one in TEMPLATES]
    files = "".join(file.read_text("utf-8") for file in (ASSETS / "examples").glob("*.json"))
    assert not [shape.pattern for shape in shapes if shape.search(files)] and all(
        shapes[number % len(shapes)].fullmatch(text) for number, (_, text, _) in enumerate(drawn)
    )


@pytest.mark.parametrize(
    ("text", "other", "why"),
    [
        ("The dog [MASK].", "The dog [MASK].", SAME_SENTENCES),
        ("The dog [MASK].", "The old dog [MASK].", OTHER_LENGTH.format(one=4, other=5)),
        ("The dog [MASK] here.", "A cat [MASK] there.", SEVERAL_WORDS.format(count=3, words="The, dog, here")),
        ("The dogs [MASK] [MASK].", "The dog [MASK] [MASK].", TWO_BLANKS.format(count=2)),
        ("The dog [MASK].", "The cat [MASK].", "Both sentences are answered by"),
    ],
    ids=["same", "longer", "three words", "two blanks", "one answer"],
)
def test_what_is_no_pair_is_explained(engine, text: str, other: str, why: str):
    with pytest.raises(TextProblem, match=re.escape(why)):
        explain_pair(engine, text, other)


def test_the_stored_table_is_of_500_pairs_that_the_model_decides_and_its_ranks_are_computed_anew(engine):
    pairs, drawn = stored_pairs("embedded")
    assert {one.template for one in pairs} == set(range(len(TEMPLATES))) and len(TEMPLATES) == 21
    assert len(pairs) == 500 <= drawn and stored_pairs("writer") is None
    assert sorted(sum(one.kind == kind for one in pairs) for kind in KINDS) == [166, 167, 167]
    assert len({frozenset((one.text, one.other)) for one in pairs}) == 500
    moved = 0
    for one in pairs[::250]:
        assert is_decided(engine, one.text, one.other)
        again = ranked_pair(one.template, one.text, one.other, explain_pair(engine, one.text, one.other))
        assert again.words == one.words
        for stored, found in ((one.ranks, again.ranks), (one.alone, again.alone)):
            assert all(abs(stored[name] - found[name]) <= 1 for name in METHODS)
            moved += sum(stored[name] != found[name] for name in METHODS)
    assert moved <= 1  # on another processor, scores that are almost equal may change places
    reading = PairReading(engine, 1)
    *_, last = reading.updates()
    assert [one.text for one in reading.pairs] == [one.text for one in pairs[:1]] and (last.done, last.total) == (1, 1)
    assert read_pairs(write_pairs(pairs, drawn)) == (pairs, drawn)


def test_an_interval_draws_templates_again_and_not_pairs():
    """Two templates, one always right and one never: a share drawn again is 0, one half or 1, however many the pairs."""
    share = share_first([(0, 1)] * 100 + [(4, 2)] * 100)
    assert (share.share, share.low, share.high, share.templates) == (0.5, 0, 1, {0: 1.0, 4: 0.0})
    assert share_first([]).pairs == 0
    one = share_first([(0, 1)] * 3)  # of one template there is nothing to draw again
    assert (one.share, one.low, one.high) == (1, 0, 1)
