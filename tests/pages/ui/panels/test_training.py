"""Training on a page: what a visitor has ends with the session, and queue and curves are said in words."""

import pytest

from pages.ui.panels import texts, training
from tests.support.counting import Counting, until
from tx_core.training.background import Registry


def test_the_end_of_a_session_drops_its_trainings_and_its_scans(monkeypatch: pytest.MonkeyPatch):
    for name in ("TRAININGS", "SCANS"):
        monkeypatch.setattr(training, name, Registry(limit=1))
    registries, runs = (training.TRAININGS, training.SCANS), (Counting(), Counting())
    for registry, run in zip(registries, runs, strict=True):
        registry.start("ann", "copy", run)
    training._release("ann")
    for registry, run in zip(registries, runs, strict=True):
        assert registry.snapshot("ann", "copy") is None
        run.let(1)
        until(lambda registry=registry: registry.running == 0)


@pytest.mark.parametrize(
    ("ahead", "sentence"),
    [(0, texts.QUEUE_NEXT), (1, texts.QUEUE_ONE_AHEAD), (1200, texts.QUEUE_MANY_AHEAD.format(ahead=1200))],
)
def test_a_place_in_the_queue_is_said_in_a_whole_sentence(ahead: int, sentence: str):
    assert training.queue_in_words(ahead) == sentence


def test_curves_are_described_by_their_first_and_last_values():
    line = texts.CURVE_IN_WORDS.format(name="loss", begin=1, first=2.5, end=10, last=0.5)
    assert training.describe_curves({"loss": [(1, 2.5), (5, 1.0), (10, 0.5)], "test loss": []}) == texts.CURVES_ALT.format(
        lines=line
    )
    assert training.describe_curves({"loss": []}) == texts.CURVES_EMPTY
