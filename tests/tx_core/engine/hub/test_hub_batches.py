"""Several texts through a family at once: each gets what it gets alone."""

import numpy as np
import pytest

from tests.support.hub_families import TEXT
from tx_core.transformer.interventions import Intervention


@pytest.mark.parametrize("family", ["roberta", "bart"])
def test_rows_of_a_padded_batch_score_their_blanks_as_they_do_alone(hub_engine, family: str):
    rows = [hub_engine(family).encode("Time ___."), hub_engine(family).encode("the ___ sleeps, and the quick brown ___ jumps")]
    off = Intervention("off", 0, 1)
    together = hub_engine(family).blank_logits(rows, interventions=[[off]] * len(rows)).rows
    for row, logits in zip(rows, together, strict=True):
        alone = hub_engine(family).blank_logits([row], interventions=[[off]]).rows[0]
        assert logits.shape[0] == len(row.blanks) > 0
        np.testing.assert_allclose(logits, alone, atol=1e-5, rtol=1e-5)
        assert not np.allclose(alone, hub_engine(family).blank_logits([row]).rows[0], atol=1e-3)


@pytest.mark.parametrize("family", ["roberta", "gpt2", "t5"])
def test_rows_of_a_padded_batch_have_the_weights_that_they_have_alone(hub_engine, family: str):
    texts = [TEXT, "Time", "An arrow flies"]
    rows = [hub_engine(family).encode(text) for text in texts]
    batched = hub_engine(family).over_weights(rows, lambda layers: [layer.clone().numpy() for layer in layers])
    for place, (text, row) in enumerate(zip(texts, rows, strict=True)):
        alone = hub_engine(family).trace(text).attention.weights
        together = np.stack([layer[place, :, : len(row)] for layer in batched])
        np.testing.assert_allclose(together[..., : len(row)], alone, atol=1e-5)
        assert not together[..., len(row) :].any()
