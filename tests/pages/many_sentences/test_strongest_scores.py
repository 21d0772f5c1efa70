"""What the page says of the scores of the strongest sentences, put to attention that is uniform, on one token, or on targets."""

import numpy as np
import pytest
import torch

from pages.many_sentences import texts
from pages.many_sentences.heads import describe_score
from pages.ui.stage.heads import kind_styles
from tx_core.analysis.patterns import TARGETED_KINDS, kind_targets
from tx_core.corpus.sentence_file import Sentences
from tx_core.corpus.statistics import RANKED_KINDS, HeadReport, read_all
from tx_core.engine import catalogue
from tx_core.engine.bert_engine import OwnEngine

TEXT = "The old man saw the dog, and the dog saw him."
UNIFORM, ON_ONE_TOKEN, ON_TARGETS = 0, 1, 2
"""Layers of attention that no model computed: in the last, head number n attends to the targets of kind number n only."""


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> HeadReport:
    """Return the report over one sentence, as if the model attended as the three layers say."""
    engine = catalogue.load(catalogue.DEFAULT)
    encoding = engine.encode(TEXT)
    tokens = len(encoding)
    layers = np.full((engine.info.num_layers, engine.info.num_heads, tokens, tokens), 1 / tokens, dtype=np.float32)
    layers[ON_ONE_TOKEN] = np.eye(tokens)[::-1]
    for number, targets in enumerate(kind_targets(encoding)):
        aimed = targets / np.maximum(targets.sum(axis=-1, keepdims=True), 1)
        layers[ON_TARGETS, number] = np.where(targets.any(axis=-1, keepdims=True), aimed, np.eye(tokens))
    weights = [torch.from_numpy(layer)[None] for layer in layers]
    monkeypatch.setattr(OwnEngine, "over_weights", lambda self, rows, measure, *, half=False: measure(weights))
    return read_all(engine, Sentences("made", (TEXT,), (1,), ()))


def score(report: HeadReport, layer: int, kind: str, head: int = 0) -> float:
    return float(report.strongest.values[layer, head, RANKED_KINDS.index(kind), 0])


def test_uniform_attention_has_1_where_a_head_is_broad_and_0_in_every_other_score(made: HeadReport):
    for kind in RANKED_KINDS:
        assert score(made, UNIFORM, kind) == pytest.approx(float(kind == "broad"), abs=1e-5)


def test_attention_to_one_token_has_1_in_focus_and_0_where_a_head_is_broad(made: HeadReport):
    assert score(made, ON_ONE_TOKEN, "focused") == pytest.approx(1, abs=1e-5)
    assert score(made, ON_ONE_TOKEN, "broad") == pytest.approx(0, abs=1e-5)


@pytest.mark.parametrize("kind", TARGETED_KINDS)
def test_a_head_that_attends_to_its_targets_only_has_1_though_some_tokens_have_none(made: HeadReport, kind: str):
    assert score(made, ON_TARGETS, kind, TARGETED_KINDS.index(kind)) == pytest.approx(1, abs=1e-5)
    assert describe_score(made, kind) == texts.STRONGEST_SCORE.format(aim=kind_styles(made.example)[kind].target)
