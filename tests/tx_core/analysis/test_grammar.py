"""Relations of grammar that heads follow: the committed file agrees with the model's card and with the model itself."""

import re
from pathlib import Path

import numpy as np
import pytest

from tests.support.serving import ROOT
from tx_core.analysis.grammar import FILE, MIN_GAIN, grammar_of, read_grammar, write_grammar
from tx_core.engine import catalogue

CARD = (ROOT / "assets" / "models" / "embedded" / "README.md").read_text(encoding="utf-8")
ROWS = re.findall(r"\| relation (\w+): .*?\| ([\d.]+) % \((\d)\.(\d) (to \w+)\) / ([\d.]+) % \(([+-]\d)\)", CARD)
"""Relation, accuracy, layer, head and direction of the best head, accuracy and distance of the best offset."""
ALL = [one for relations in grammar_of(catalogue.DEFAULT).values() for one in relations]


def test_the_best_head_of_a_relation_has_the_figures_of_the_models_card():
    listed = {(one.relation, one.layer + 1, one.head + 1, one.direction): one for one in ALL}
    checked = 0
    for relation, accuracy, layer, head, direction, baseline, offset in ROWS:
        gain = (float(accuracy) - float(baseline)) / 100
        found = listed.get((relation, int(layer), int(head), direction))
        assert (found is not None) <= (gain >= MIN_GAIN - 0.001)
        if found:
            checked += 1
            assert 100 * found.accuracy == pytest.approx(float(accuracy), abs=0.06)
            assert 100 * found.baseline == pytest.approx(float(baseline), abs=0.06)
            assert found.offset == int(offset)
    assert checked >= 8


def test_every_relation_that_is_listed_beats_the_best_fixed_distance():
    assert len(ALL) > 10
    assert [one for one in ALL if one.accuracy - one.baseline < MIN_GAIN - 1e-3] == []
    for relations in grammar_of(catalogue.DEFAULT).values():
        gains = [one.accuracy - one.baseline for one in relations]
        assert gains == sorted(gains, reverse=True)


DETERMINERS = (
    ("The old man bought a very big house.", {1: 3, 5: 8}),
    ("A small black cat sat on the old red chair.", {1: 4, 7: 10}),
    ("She has a very nice car.", {3: 6}),
    ("They live in a big white house.", {4: 7}),
    ("The flowers in the park are beautiful.", {1: 2, 4: 5}),
    ("I saw the tall young woman.", {3: 6}),
)
"""Sentences, with the position of each article and of its noun, [CLS] at 0."""


def test_a_relation_recomputed_on_a_few_sentences_beats_its_distance_there_too():
    det = next(one for one in grammar_of(catalogue.DEFAULT)[1, 5] if one.relation == "det")
    engine, found, by_distance, articles = catalogue.load(catalogue.DEFAULT), 0, 0, 0
    for text, nouns in DETERMINERS:
        weights = engine.trace(text).attention.weights[det.layer, det.head].copy()
        np.fill_diagonal(weights, -1)
        for article, noun in nouns.items():
            found += weights[article, 1:-1].argmax() + 1 == noun
            by_distance += article + det.offset == noun
            articles += 1
    assert found / articles >= det.accuracy - 0.05
    assert found - by_distance >= MIN_GAIN * articles


def test_other_models_are_not_measured_and_the_file_stays_small():
    assert grammar_of("bert-base-uncased") is None
    assert (catalogue.MODELS / catalogue.DEFAULT / FILE).stat().st_size < 20_000


def test_what_is_written_is_read_again(tmp_path: Path):
    write_grammar(tmp_path, tuple(ALL))
    assert read_grammar(tmp_path) == grammar_of(catalogue.DEFAULT)
