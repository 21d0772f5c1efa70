"""Relations of grammar that heads follow: the committed file agrees with the model's card and with the model itself."""

import json
import re
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

import pytest

from pages.ui.stage.heads import describe_grammar
from pages.ui.stage.texts import NO_GRAMMAR
from tests.support.serving import ROOT
from tx_core.analysis.grammar import FILE, MIN_GAIN, HeadRelation, grammar_of, write_grammar
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


@pytest.fixture
def offered(tmp_path: Path, offer) -> Iterator[Path]:
    """The folder of a model of the host's own. What was read of one before is forgotten."""
    offer("bert")
    grammar_of.cache.clear()
    yield tmp_path / "models" / "own"
    grammar_of.cache.clear()


def test_what_is_stored_beside_a_model_of_the_hosts_is_read_by_the_pages(offered: Path):
    assert grammar_of("local:own") is None
    grammar_of.cache.clear()
    one = HeadRelation(1, 2, "appos", "to head", 0.75, 0.5, 1, 64)
    write_grammar(offered, (one,))
    assert grammar_of("local:own") == {(1, 2): (one,)}
    described = describe_grammar("local:own", (1, 2))
    assert "“appos”" in described and "n = 64" in described
    assert describe_grammar("local:own", (0, 0)).startswith(NO_GRAMMAR.partition("{")[0])
    assert grammar_of("local:../own") is None


@pytest.mark.parametrize(
    "text",
    ["", "[]", '{"relations": 3}', '{"relations": [{"layer": 1}]}', '{"relations": [[1]]}']
    + [
        json.dumps({"relations": [asdict(HeadRelation(1, 2, "appos", "to head", 0.75, 0.5, 1, 64)) | {name: value}]})
        for name, value in (("accuracy", 2), ("layer", "1"))
    ],
)
def test_a_file_that_is_no_list_of_relations_counts_as_none_and_is_logged(
    offered: Path, caplog: pytest.LogCaptureFixture, text: str
):
    (offered / FILE).write_text(text, encoding="utf-8")
    assert grammar_of("local:own") is None
    assert len([one for one in caplog.records if FILE in one.getMessage()]) == 1
