"""Interventions are arguments of a run: what they name must be there."""

from collections.abc import Sequence

import pytest

from tx_core.errors import ChangeProblem
from tx_core.transformer.interventions import NO_HEAD, NO_LAYER, NO_TOKEN, Intervention

SENTENCE = "The quick fox jumps."


@pytest.mark.parametrize(
    ("changes", "template", "missing"),
    [
        ([Intervention("off", 99, 0)], NO_LAYER, {"layer": 100}),
        ([Intervention("off", 0, 99)], NO_HEAD, {"head": 100}),
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
