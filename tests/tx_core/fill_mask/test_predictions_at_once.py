"""Visitors at once with different changes: what the model would put into a blank never mixes."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np

from tx_core.fill_mask.predictions import encode_with_blanks
from tx_core.transformer.interventions import read_interventions

TEXT = "The old man saw a ___ in the house."
CHANGES = ("", "off~1", "off~2", "hide~3", "hide~4~2", "cut~6-4", "temperature~4", "hard", "even~1-1", "off~1-1_off~2-2")


def test_logits_of_a_blank_under_different_interventions_at_once_are_what_each_gives_alone(hub_engine):
    engine = hub_engine("roberta")
    row = encode_with_blanks(engine, TEXT)

    def run(changed: str) -> np.ndarray:
        return engine.blank_logits([row], interventions=[read_interventions(changed)]).rows[0]

    alone = {changed: run(changed) for changed in CHANGES}
    assert all(np.abs(alone[changed] - alone[""]).max() > 1e-4 for changed in CHANGES[1:])
    with ThreadPoolExecutor(6) as visitors:
        together = list(visitors.map(run, CHANGES * 4))
    for changed, logits in zip(CHANGES * 4, together, strict=True):
        np.testing.assert_allclose(logits, alone[changed], atol=1e-5 * np.abs(alone[changed]).max(), rtol=0)
