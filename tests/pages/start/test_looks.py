"""The start page: its picture is what the model computes, and its doors lead where they say."""

import re

import numpy as np
import pytest

from pages.start import looks, texts
from pages.ui.shell import cache
from pages.ui.shell.numbers import weight
from tx_core.engine import catalogue
from tx_core.errors import CheckpointProblem


@pytest.fixture(scope="module")
def weights() -> np.ndarray:
    """The attention of every head between the tokens of the sentence."""
    return catalogue.load(catalogue.DEFAULT).trace(texts.SENTENCE).attention.weights


def test_every_arc_is_the_largest_weight_of_any_head_between_two_words(weights):
    words = re.findall(r"\w+", texts.SENTENCE)
    shown = looks.sentence_looks(texts.SENTENCE)
    assert shown.words == tuple(words)
    assert shown.heads == weights.shape[0] * weights.shape[1]
    largest = weights.max(axis=(0, 1))[1 : len(words) + 1, 1 : len(words) + 1]  # past [CLS], before the full stop
    expected = {
        (query, key): largest[query, key]
        for query in range(len(words))
        for key in range(len(words))
        if abs(query - key) > 1 and largest[query, key] >= looks.SMALLEST
    }
    assert {(edge.query, edge.key): edge.weight for edge in shown.edges} == pytest.approx(expected)
    assert all(weights[edge.layer, edge.head, edge.query + 1, edge.key + 1] == pytest.approx(edge.weight) for edge in shown.edges)


def test_the_sentence_of_each_word_names_where_it_looks_most_with_the_share(weights):
    shown = looks.sentence_looks(texts.SENTENCE)
    for word, name in enumerate(shown.words):
        said = looks.describe_word(shown, word)
        edges = [edge for edge in shown.edges if edge.query == word]
        assert f"“{name}”" in said
        for number, edge in enumerate(edges):
            told = texts.LOOKED_AT.format(key=shown.words[edge.key], share=weight(edge.weight))
            assert (told in said) == (number < looks.MOST_TOLD)


def test_they_looks_at_those_who_may_be_hungry():
    shown = looks.sentence_looks(texts.SENTENCE)
    they = shown.words.index("they")
    assert {"cats", "hungry", "woman"} == {shown.words[edge.key] for edge in shown.edges if edge.query == they}


def test_a_damaged_model_leaves_the_doors_open(open_app, monkeypatch):
    def damaged(name: str) -> None:
        raise CheckpointProblem("The weights are damaged.")

    monkeypatch.setattr(cache, "engine", damaged)
    app = open_app("start")
    assert not app.exception
    assert "The weights are damaged." in [one.value for one in app.text]
    assert len(app.main.get("page_link")) >= len(texts.DOORS)
