"""A word's vectors in two texts: cosines by numpy alone, and a baseline of words that share nothing."""

import numpy as np
import pytest

from tx_core.analysis.views import word_groups
from tx_core.analysis.word_alignment import spellings
from tx_core.analysis.word_similarity import Likeness, cosines, in_words, likeness, word_vectors
from tx_core.engine import catalogue

TEXTS = ("time flies like an arrow", "fruit flies like a banana")


def cosine(one: np.ndarray, other: np.ndarray) -> float:
    return float(one @ other / np.sqrt((one @ one) * (other @ other)))


def found_for(texts: tuple[str, str], chosen: tuple[int, int]) -> tuple[Likeness, list]:
    """The likeness of a chosen pair, and the runs and groups that it comes from."""
    runs = [catalogue.load(catalogue.DEFAULT).trace(text, keep=("hidden",)) for text in texts]
    encodings = [one.attention.query_tokens for one in runs]
    groups = [word_groups(encoding) for encoding in encodings]
    spelled = [spellings(encoding, group) for encoding, group in zip(encodings, groups, strict=True)]
    vectors = [word_vectors(one.hidden, group) for one, group in zip(runs, groups, strict=True)]
    return likeness(cosines(*vectors), *spelled, chosen), [runs, groups]


def test_the_two_flies_are_compared_by_the_means_of_their_pieces_at_every_step():
    found, (runs, groups) = found_for(TEXTS, (2, 2))
    places = [list(group[2]) for group in groups]
    assert len(found.word) == catalogue.load(catalogue.DEFAULT).num_layers + 1
    for step in range(len(found.word)):
        one, other = (run.hidden[step, at].mean(0).astype(float) for run, at in zip(runs, places, strict=True))
        assert found.word[step] == pytest.approx(cosine(one, other), abs=1e-6)
    assert found.word[0] == pytest.approx(1, abs=1e-6)  # the same pieces at the same positions


def test_the_baseline_is_over_all_pairs_of_words_that_differ():
    found, (runs, groups) = found_for(TEXTS, (2, 2))
    words = [text.split() for text in TEXTS]
    for step in range(len(found.word)):
        vectors = [
            [run.hidden[step, list(group)].mean(0).astype(float) for group in grouped[1:-1]]
            for run, grouped in zip(runs, groups, strict=True)
        ]
        pairs = [
            cosine(mine, yours)
            for word, mine in zip(words[0], vectors[0], strict=True)
            for other, yours in zip(words[1], vectors[1], strict=True)
            if word != other
        ]
        assert found.pairs == len(pairs) == 23
        assert found.mean[step] == pytest.approx(np.mean(pairs), abs=1e-6)
        assert found.spread[step] == pytest.approx(np.std(pairs), abs=1e-6)
        assert found.shared[step] == pytest.approx(cosine(vectors[0][2], vectors[1][2]), abs=1e-6)
    assert found.shared_pairs == 1


def test_without_other_words_there_is_no_baseline():
    found, _ = found_for(("flies", "flies"), (1, 1))
    assert found.mean is None
    assert found.spread is None
    assert found.shared is None
    np.testing.assert_allclose(found.word, 1, atol=1e-9)


def test_the_chosen_word_is_not_among_the_other_shared_words_even_where_it_aligns_elsewhere():
    found, _ = found_for(("the dog", "the cat the dog"), (1, 1))
    assert found.shared_pairs == 1


def test_cosines_depend_on_directions_alone_and_nothing_has_none():
    one = np.array([[[1.0, 0.0], [3.0, 3.0], [0.0, 0.0]]])
    other = np.array([[[0.0, 2.0], [-5.0, 0.0]]])
    np.testing.assert_allclose(cosines(one, other), [[[0, -1], [0.5**0.5, -(0.5**0.5)], [0, 0]]], atol=1e-12)


def test_words_tell_the_start_the_end_the_lowest_point_and_what_others_have():
    found = Likeness(
        word=np.array([1.0, 0.5, 0.25, 0.75]),
        shared=np.array([1.0, 0.9, 0.9, 0.8]),
        mean=np.array([0.1, 0.1, 0.2, 0.3]),
        spread=np.array([0.1, 0.1, 0.1, 0.05]),
        shared_pairs=2,
        pairs=9,
    )
    assert in_words(found, "flies") == (
        "'flies' in A and in B: similarity 1.00 before the first layer, 0.75 after the last, least after layer 2 (0.25). "
        "Words that differ have 0.30 ± 0.05 there. The other shared words have 0.80 on average."
    )
