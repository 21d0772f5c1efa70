"""The encoder-decoder that ships: it loads, is what its page trains by default, and answers as its records say."""

import numpy as np

from tx_core.training.copy_task import QUICK, answer_sequence, count_errors
from tx_core.training.stored import COPY, PROBE_NUMBERS, stored_copy


def test_the_encoder_decoder_answers_as_its_last_record_says():
    assert COPY.stat().st_size < 200_000
    stored = stored_copy()
    assert stored.training.settings == QUICK
    assert stored.training.done == stored.training.batches
    assert [record.done for record in stored.records] == list(range(1, 201))
    assert stored.records[0].values["loss"] > 2.5
    assert stored.records[-1].values["loss"] < 0.01
    answer, kept = answer_sequence(stored.training, PROBE_NUMBERS), stored.records[-1].probe
    assert answer.written == kept.written == answer.right
    for now, then in zip(answer.trace.stacks, kept.trace.stacks, strict=True):
        assert (now.kind, now.query_tokens.tokens) == (then.kind, then.query_tokens.tokens)
        np.testing.assert_allclose(now.weights, then.weights, atol=0.03)  # the weights of the model are rounded
    wrong, total = count_errors(stored.training)
    assert wrong <= total / 100
