"""The trained models that ship: they load, they are what their pages train by default, and they answer as their records say."""

import numpy as np
import pytest

from tx_core.training.classifier import classify, evaluate_classifier
from tx_core.training.classifier_data import opinions
from tx_core.training.copy_task import answer_sequence, count_errors
from tx_core.training.stored import CLASSIFIER, COPY, PROBE_NUMBERS, PROBE_SENTENCE, stored_classifier, stored_copy
from tx_core.training.synthetic import QUICK


def test_they_are_small():
    assert COPY.stat().st_size < 200_000
    assert CLASSIFIER.stat().st_size < 60_000


def test_the_encoder_decoder_answers_as_its_last_record_says():
    stored = stored_copy()
    assert stored.training.settings == QUICK
    assert stored.training.finished
    assert [record.batch for record in stored.records] == list(range(1, 201))
    assert stored.records[0].loss > 2.5
    assert stored.records[-1].loss < 0.01
    answer, kept = answer_sequence(stored.training, PROBE_NUMBERS), stored.records[-1].probe
    assert answer.written == kept.written == answer.right
    for now, then in zip(answer.trace.stacks, kept.trace.stacks, strict=True):
        assert (now.kind, now.query_tokens.tokens) == (then.kind, then.query_tokens.tokens)
        np.testing.assert_allclose(now.weights, then.weights, atol=0.03)  # the weights of the model are rounded
    wrong, total = count_errors(stored.training)
    assert wrong <= total / 100


def test_the_classifier_labels_as_its_last_record_says():
    stored = stored_classifier()
    assert stored.training.data == opinions()
    assert stored.training.finished
    assert [record.batch for record in stored.records] == list(range(1, 481))
    assert stored.records[-1].accuracy > 0.95
    found, kept = classify(stored.training, PROBE_SENTENCE), stored.records[-1].probe
    assert found.label == kept.label == "positive"
    np.testing.assert_allclose(found.probabilities, kept.probabilities, atol=0.01)
    np.testing.assert_allclose(found.contributions, kept.contributions, atol=0.2)
    last = stored.records[-1].test
    assert last.accuracy == pytest.approx(evaluate_classifier(stored.training).accuracy)
    assert [record.batch for record in stored.records if record.test] == list(range(60, 481, 60))
