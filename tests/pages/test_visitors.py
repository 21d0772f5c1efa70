"""Two visitors at once, with different models, sentences and interventions: neither sees the other's."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from pages.ui.shell import cache
from tx_core.engine import catalogue
from tx_core.transformer.interventions import Intervention

HUB_MODEL = "roberta-base"


@pytest.fixture
def hub_model(checkpoint, monkeypatch: pytest.MonkeyPatch):
    """Make a name of the catalogue lead to a tiny checkpoint, as if it had been fetched."""
    monkeypatch.setattr(catalogue, "fetch", lambda hub_id, revision: checkpoint("roberta"))
    return HUB_MODEL


def test_runs_at_once_are_what_each_is_alone(hub_model: str):
    asks = [
        (model, f"visitor {number} waits here", (Intervention("off", number % 3, number % 4),))
        for number in range(8)
        for model in (catalogue.DEFAULT, hub_model)
    ]

    def alone(model: str, text: str, changes: tuple[Intervention, ...]) -> np.ndarray:
        return catalogue.load(model).trace(text, interventions=changes).attention.weights

    def at_the_page(ask: tuple) -> np.ndarray:
        model, text, changes = ask
        return cache.trace_with(cache.engine(model), text, interventions=changes).attention.weights

    expected = [alone(*ask) for ask in asks]
    with ThreadPoolExecutor(8) as visitors:
        together = list(visitors.map(at_the_page, asks * 4))
    for number, weights in enumerate(together):
        np.testing.assert_allclose(weights, expected[number % len(asks)], atol=1e-5, rtol=0)
