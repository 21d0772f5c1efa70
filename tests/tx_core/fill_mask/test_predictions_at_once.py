"""Visitors at once with different changes: what the model would put into a blank never mixes."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np

from pages.fill_mask.predictions import prediction_shift
from pages.ui.panels.predictions import ListSettings
from tx_core.engine import catalogue
from tx_core.fill_mask.prediction_shift import shift_predictions
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


def test_answers_of_the_page_under_different_changes_at_once_are_each_visitors_own():
    chosen, text = ListSettings(listed=5, temperature=1.0, top_p=1.0, limit=1.0), "The young man saw a ___ in the house."
    engine = catalogue.load(catalogue.DEFAULT)

    def run(changed: str) -> list[tuple[str, float, float]]:
        found = prediction_shift(engine, text, read_interventions(changed), chosen).blanks[0]
        return [(moved.prediction.piece, moved.before, moved.after) for moved in found.moved]

    with ThreadPoolExecutor(6) as visitors:
        together = list(visitors.map(run, CHANGES * 3))
    for changed, told in zip(CHANGES * 3, together, strict=True):
        found = shift_predictions(engine, text, read_interventions(changed), top_k=5).blanks[0]
        assert [piece for piece, _, _ in told] == [moved.prediction.piece for moved in found.moved]
        np.testing.assert_allclose([told[0][1:]], [(found.moved[0].before, found.moved[0].after)], atol=1e-5)
