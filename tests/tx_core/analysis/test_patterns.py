"""Entropy and distance by hand; patterns of heads by rule: heads made by hand are named as what they are, sums add up."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from tx_core.analysis.patterns import (
    PATTERN_KINDS,
    TARGETED_KINDS,
    entropy,
    is_punctuation,
    kind_targets,
    mean_distance,
    name_heads,
    normalised_entropy,
    pattern_sums,
    uniform_distance,
)
from tx_core.transformer.trace import plain_encoding

SCORES = arrays(np.float64, (2, 3, 5, 7), elements=st.floats(-20, 20))


def shares(scores: np.ndarray) -> np.ndarray:
    raised = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return raised / raised.sum(axis=-1, keepdims=True)


@given(SCORES)
def test_entropy_is_what_torch_computes_and_lies_between_its_ends(scores):
    weights = shares(scores)
    np.testing.assert_allclose(entropy(weights), torch.distributions.Categorical(torch.tensor(weights)).entropy(), atol=1e-6)
    assert ((normalised_entropy(weights) > -1e-9) & (normalised_entropy(weights) < 1 + 1e-9)).all()


def test_distance_by_hand():
    weights = np.array([[0.5, 0.0, 0.5], [0.25, 0.5, 0.25], [0.0, 0.0, 0.0]])
    assert mean_distance(weights).tolist() == [1.0, 0.5, 0.0]


@pytest.mark.parametrize("tokens", [1, 5])
def test_an_even_look_has_the_distance_that_the_formula_says(tokens):
    found = mean_distance(np.full((tokens, tokens), 1 / tokens)).mean()
    assert found == pytest.approx(uniform_distance(tokens), abs=1e-12)


TEXT = "The cat saw the unbelievable dog, and it ran."


@pytest.fixture
def encoding(engine):
    return engine.encode(TEXT)


def rows_to(targets: np.ndarray) -> np.ndarray:
    held = np.where(targets.any(axis=-1, keepdims=True), targets, True).astype(float)
    return held / held.sum(axis=-1, keepdims=True)


def one(weights: np.ndarray, encoding):
    return name_heads(pattern_sums(weights[None, None], encoding))[0]


@pytest.mark.parametrize("kind", TARGETED_KINDS)
def test_a_head_made_for_a_kind_is_named_so_with_full_confidence(encoding, kind):
    targets = kind_targets(encoding)[TARGETED_KINDS.index(kind)]
    found = one(rows_to(targets), encoding)
    assert (found.kind, found.agreement) == (kind, 1.0)
    assert found.confidence == pytest.approx(1.0)


def test_targets_by_hand():
    #          0 CLS   1 a  2 .   3 a  4 SEP
    encoding = plain_encoding(["[CLS]", "a", ".", "a", "[SEP]"], [1, 2, 3, 2, 4], [True, False, False, False, True])
    marked = {
        kind: {(int(q), int(k)) for q, k in np.argwhere(table)}
        for kind, table in zip(TARGETED_KINDS, kind_targets(encoding), strict=True)
    }
    every = range(5)
    assert marked["previous"] == {(2, 1), (3, 2), (4, 3)}
    assert marked["next"] == {(0, 1), (1, 2), (2, 3)}
    assert marked["same"] >= {(1, 1), (2, 2), (3, 3)}
    assert marked["first"] == {(query, 0) for query in every}
    assert marked["separator"] == {(query, 4) for query in every}
    assert marked["punctuation"] == {(query, 2) for query in every}


def test_signs_are_punctuation_and_what_has_a_letter_or_a_figure_or_nothing_is_not():
    signs, others = (".", "##,", "␣!", "…", "''", "€"), ("a", "##s", "3", "", "##", "␣", "a.", "é")
    assert [token for token in (*signs, *others) if is_punctuation(token)] == list(signs)


def test_in_a_model_that_cannot_see_the_future_chance_counts_the_past_alone():
    encoding = plain_encoding(["a", "b", "c", "d"], [1, 2, 3, 4], [False] * 4)
    even = np.tril(np.ones((4, 4)))
    even /= even.sum(axis=-1, keepdims=True)
    sums = pattern_sums(even[None, None], encoding)
    np.testing.assert_allclose(sums.scores[0, 0, : len(TARGETED_KINDS)], 0, atol=1e-9)
    assert sums.queries[TARGETED_KINDS.index("next")] == 0
    assert sums.shares[0, 0, TARGETED_KINDS.index("previous")] == pytest.approx((1 / 2 + 1 / 3 + 1 / 4) / 4)
    assert name_heads(sums)[0].kind == "broad"


def test_sums_of_texts_add_up_and_agreement_counts_texts(engine):
    texts = ("A bird sings.", TEXT, "Time flies, and so do they!")
    each = [pattern_sums((run := engine.trace(text).attention).weights, run.query_tokens) for text in texts]
    total = each[0] + each[1] + each[2]
    assert total.texts == 3
    np.testing.assert_allclose(total.given, sum(one.given for one in each))
    for head in name_heads(total):
        alone = [name_heads(one)[head.layer * engine.info.num_heads + head.head].kind for one in each]
        assert head.agreement == pytest.approx(alone.count(head.kind) / 3)
        assert 0 <= head.second_score <= head.confidence <= 1
        assert head.kind in PATTERN_KINDS
