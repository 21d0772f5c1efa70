"""What a graphics card buys on the page of the classifier. Only the device's name is a card's: it is computed on the CPU."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from huggingface_hub import constants

from pages.classifier import model, texts
from tests.support.classifier_page import KIND, SMALL, Open, press
from tests.support.drawings import says
from tests.support.imdb_cache import keep, reviews, table_of
from tests.support.trainings import own_server, until_still
from tx_core.training import classifier
from tx_core.training.background import Registry


@pytest.fixture(autouse=True)
def trainings(monkeypatch: pytest.MonkeyPatch) -> Iterator[Registry]:
    with own_server(monkeypatch, limit=1, pause=0.005) as registry:
        yield registry


@pytest.fixture
def card(monkeypatch: pytest.MonkeyPatch) -> None:
    """A server whose device has the name of a card."""
    start = classifier.start_training
    monkeypatch.setattr("tx_core.engine.device.best_device", lambda: "cuda")
    monkeypatch.setattr(model, "best_device", lambda: "cuda")
    monkeypatch.setattr(classifier, "start_training", lambda settings, data, device: start(settings, data, "cpu"))


def test_a_card_takes_the_batches_and_the_reviews_of_the_notebook(
    open_app: Open, card: None, trainings: Registry, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path))
    for part, count in (("train", 1500), ("test", 1200)):
        keep(tmp_path, part, table_of(reviews(part, count)))
    app = open_app("classifier", **SMALL | {"data": "imdb", "batch": "164"})
    assert texts.IMDB.format(train=22_500, test=2_500) in says(app)
    snapshot = until_still(press(app, "train"), trainings, KIND)
    assert not app.exception
    assert (len(snapshot.result.train_rows), len(snapshot.result.test_rows), snapshot.result.batches) == (1500, 1200, 10)
    assert snapshot.result.settings.most_words == 50_000
