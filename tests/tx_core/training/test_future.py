"""Two models learn to name the next word, one sees the future: what the stored training shows, and what it must not show."""

import math
from collections import Counter
from itertools import islice

import numpy as np
import pytest

from tx_core.training.future import (
    BATCHES,
    FIRST_WORDS,
    MASKS,
    SLOT_WORDS,
    SLOTS,
    corpus,
    least_loss,
    look_at_both,
    start_future_training,
)
from tx_core.training.stored import FUTURE, FUTURE_SEED, stored_future


def sentences() -> set[str]:
    return {" ".join(SLOT_WORDS[number] for number in row) for row in corpus().tolist()}


def test_the_stored_training_is_what_training_gives():
    """Held for the first batches: whatever changes a training changes these."""
    (untrained, records), training = stored_future(), start_future_training(FUTURE_SEED)
    begun = list(islice(training.updates(), 40))
    assert FUTURE.stat().st_size < 60_000
    assert [record.done for record in records] == list(range(1, BATCHES + 1))
    for name in MASKS:
        stored = [record.values[name] for record in records[: len(begun)]]
        np.testing.assert_allclose([record.values[name] for record in begun], stored, atol=0.02)
    assert untrained.written == look_at_both(start_future_training(FUTURE_SEED)).written


def test_the_least_loss_is_that_of_knowing_how_often_a_word_follows():
    texts = [sentence.split() for sentence in sentences()]
    counts = Counter(tuple(words[:place]) for words in texts for place in range(1, len(SLOTS) + 1))
    surprise = [
        -math.log(counts[tuple(words[: place + 1])] / counts[tuple(words[:place])]) for words in texts for place in range(1, 8)
    ]
    assert np.mean(surprise) == pytest.approx(least_loss(), abs=1e-9)


def test_without_the_mask_the_loss_falls_below_what_looking_back_allows_and_writing_gets_worse():
    untrained, records = stored_future()
    late = {name: np.mean([record.values[name] for record in records[-5:]]) for name in MASKS}
    assert late["masked"] == pytest.approx(least_loss(), abs=0.03)
    assert late["unmasked"] < 0.05 < least_loss()
    last = records[-1].probe
    assert last.writing_loss["masked"] == pytest.approx(least_loss(), abs=0.03)
    assert last.writing_loss["unmasked"] > math.log(len(SLOT_WORDS)) > least_loss()
    assert set(last.written["masked"]) <= sentences()
    assert not set(last.written["unmasked"]) & sentences()
    assert untrained.written["masked"] == untrained.written["unmasked"]
    for one, begun in zip(untrained.written["masked"], FIRST_WORDS, strict=True):
        assert one.startswith(begun)
        assert set(one.split()[len(begun.split()) :]) == {begun.split()[-1]}
