"""Two visitors at once, with different models, sentences and interventions: neither sees the other's."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from pages.ui.shell import cache
from tests.support.staged import staged
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


def test_pages_open_at_once_show_each_visitor_their_own_sentence_and_model(hub_model: str, open_app):
    first = open_app("attention", text="Birds sing.", heads="1-2")
    second = open_app("attention", text="Time flies like an arrow", model=hub_model, heads="2-3")
    for _ in range(2):
        first.run()
        second.run()
    assert (first.text_input("attention_text").value, second.text_input("attention_text").value) == (
        "Birds sing.",
        "Time flies like an arrow",
    )
    assert [staged(app)["view"]["heads"] for app in (first, second)] == [[[0, 1]], [[1, 2]]]
    assert [staged(app)["text"] for app in (first, second)] == ["Birds sing.", "Time flies like an arrow"]
    assert (first.selectbox("attention_model").value, second.selectbox("attention_model").value) == (catalogue.DEFAULT, hub_model)
    assert not first.exception
    assert not second.exception
