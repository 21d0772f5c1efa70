"""Ours beside the library's on the embedded checkpoint, and what an untrained model and an untrained head say."""

import numpy as np
import pytest

from tx_core.engine import catalogue
from tx_core.engine.hub.load import reference_run
from tx_core.errors import CheckpointProblem
from tx_core.fill_mask.predictions import predict
from tx_core.lessons.parity import parity
from tx_core.lessons.untrained import untrained_engine

TEXT = "I drink a cup of [MASK] every morning."
DIRECTORY = catalogue.MODELS / catalogue.DEFAULT


def test_the_difference_is_measured_and_not_promised(engine):
    reference = reference_run(DIRECTORY, engine.encode(TEXT), engine.model)
    reference.hidden[2, 1, 7] += 0.5
    reference.weights[3, 4, 0, 1] += 0.25
    found = parity(engine, TEXT, None, reference)
    assert max(found.hidden[:2]) < 1e-5
    assert found.hidden[2] == pytest.approx(0.5, abs=1e-4)
    assert found.weights[3] == pytest.approx(0.25, abs=1e-5)


def test_a_checkpoint_without_a_head_cannot_be_compared(tmp_path, engine):
    from tests.support.checkpoints import write_bert

    with pytest.raises(CheckpointProblem, match="no masked-word head"):
        reference_run(write_bert(tmp_path, with_head=False), engine.encode(TEXT), engine.model)


def test_an_untrained_bert_finds_every_word_about_as_likely(engine):
    drawn = untrained_engine(engine, 1)
    best = predict(drawn, TEXT, top_k=1).blanks[0].predictions[0].probability
    assert best < 0.01 < predict(engine, TEXT, top_k=1).blanks[0].predictions[0].probability
    weights = drawn.trace(TEXT).attention.weights
    np.testing.assert_allclose(weights, 1 / weights.shape[-1], atol=0.05)
    assert untrained_engine(engine, 1).model is drawn.model
    assert engine.model.head.vocabulary.weight.std() != drawn.model.head.vocabulary.weight.std()
