"""Interventions are arguments of a run: what they name must be there, and the next run knows nothing of them."""

from collections.abc import Sequence

import numpy as np
import pytest

from tx_core.errors import ChangeProblem
from tx_core.transformer.interventions import NO_HEAD, NO_LAYER, NO_TOKEN, Intervention

SENTENCE = "The quick fox jumps."


def off(*heads: tuple[int, int | None]) -> tuple[Intervention, ...]:
    return tuple(Intervention("off", *head) for head in heads)


@pytest.mark.parametrize(
    ("changes", "template", "missing"),
    [
        (off((99, 0)), NO_LAYER, {"layer": 100}),
        (off((0, 99)), NO_HEAD, {"head": 100}),
        ([Intervention("cut", 0, 0, (99, 0))], NO_TOKEN, {"position": 100}),
    ],
)
def test_what_a_run_does_not_have_cannot_be_changed(engine, changes: Sequence[Intervention], template: str, missing: dict):
    sizes = {"layers": engine.info.num_layers, "heads": engine.info.num_heads, "tokens": len(engine.encode(SENTENCE))}
    message = template.format(**sizes, **missing)
    with pytest.raises(ChangeProblem, match=message):
        engine.trace(SENTENCE, interventions=changes)
    with pytest.raises(ChangeProblem, match=message):
        engine.blank_logits([engine.encode("The quick ___ jumps.")], interventions=[changes])


def test_rows_of_a_padded_batch_may_each_have_their_own_interventions(engine):
    texts = ["A ___.", "The old man saw a ___ in the house.", "I ___ you.", "I ___.", "The dog ___ a cat.", "The ___ dog runs."]
    rows = [engine.encode(text) for text in texts]
    whole_run = [[Intervention("no_padding_mask", value=5.0)], [Intervention("no_positions")], [Intervention("causal")]]
    changes = [off((0, 1), (1, None)), (), [Intervention("hidden", positions=(1,))], *whole_run]
    together = engine.blank_logits(rows, interventions=changes)
    for row, change, logits in zip(rows, changes, together, strict=True):
        np.testing.assert_allclose(logits, engine.blank_logits([row], interventions=[change])[0], atol=5e-5, rtol=0)
