"""The catalogue and the way from a name to an engine."""

import json
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from cachetools import TTLCache

from tx_core.engine import catalogue
from tx_core.engine.checkpoint import read_json
from tx_core.engine.download import CATALOGUE
from tx_core.errors import CheckpointProblem, ModelUnavailable


def test_the_embedded_model_comes_first_and_is_described_as_it_is():
    first, settings = catalogue.catalogue()[0], read_json(catalogue.MODELS / catalogue.DEFAULT / "config.json")
    assert (first.name, first.hub_id) == (catalogue.DEFAULT, None)
    assert (first.num_layers, first.num_heads) == (settings["num_hidden_layers"], settings["num_attention_heads"])
    weights = (catalogue.MODELS / catalogue.DEFAULT / "model.safetensors").stat().st_size
    assert first.megabytes == round(weights / 1e6)


def test_the_embedded_model_is_as_small_and_as_deep_as_the_app_needs_it():
    engine = catalogue.load(catalogue.DEFAULT)
    assert (catalogue.MODELS / catalogue.DEFAULT / "model.safetensors").stat().st_size <= 25e6
    assert min(engine.info.num_layers, engine.info.num_heads) >= 4
    assert engine.info.max_tokens >= 128


def test_every_model_says_size_licence_heads_and_where_it_is_from():
    for card in catalogue.catalogue():
        assert card.licence and card.note and card.title
        assert min(card.num_layers, card.num_heads, card.megabytes) > 0
        assert card.name == catalogue.DEFAULT or "/" in card.hub_id


def test_names_are_unique():
    names = [card.name for card in catalogue.catalogue()]
    assert len(names) == len(set(names))


def test_no_revision_is_invented():
    for entry in json.loads(CATALOGUE.read_text(encoding="utf-8")):
        revision = entry.get("revision")
        assert revision is None or (len(revision) == 40 and set(revision) <= set("0123456789abcdef"))


def test_a_model_is_found_by_its_hub_id_too():
    assert catalogue.card("google-bert/bert-base-uncased").name == "bert-base-uncased"


@pytest.mark.parametrize("name", ["", "nonsense", "../../etc/passwd", "someone/their-model", "x" * 10_000])
def test_a_name_that_is_not_on_offer_is_refused_where_only_the_list_is_allowed(host, name: str):
    host(any_model=0)
    with pytest.raises(ModelUnavailable, match="choose one from the list"):
        catalogue.load(name)


def test_any_hub_id_is_a_card_where_that_is_allowed_and_a_path_is_not(host):
    host(any_model=1)
    assert catalogue.card("someone/their-model").hub_id == "someone/their-model"
    for path in ("../secret", "/etc/passwd", "a/b/c", "..", "a/.."):
        with pytest.raises(ModelUnavailable):
            catalogue.card(path)


def test_first_visitors_at_once_share_one_engine():
    with ThreadPoolExecutor(4) as visitors:
        engines = list(visitors.map(catalogue.load, [catalogue.DEFAULT] * 4))
    assert all(engine is engines[0] for engine in engines)


class Hub:
    """A hub that is slow to answer and counts how often it is asked; `directory` is None while it is out of reach."""

    def __init__(self):
        self.asked: list[str] = []
        self.directory: Path | None = None

    def fetch(self, hub_id: str, revision: str | None) -> Path:
        """Give the directory, or say that there is none."""
        self.asked.append(hub_id)
        time.sleep(0.05)
        if self.directory is None:
            raise ModelUnavailable(f"{hub_id} could not be fetched")
        return self.directory


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch) -> Hub:
    """A hub out of reach."""
    hub = Hub()
    monkeypatch.setattr(catalogue, "fetch", hub.fetch)
    return hub


def why_not(name: str) -> str:
    with pytest.raises(ModelUnavailable) as told:
        catalogue.load(name)
    return str(told.value)


def test_visitors_who_wait_for_a_model_that_cannot_be_had_share_one_attempt(hub: Hub):
    with ThreadPoolExecutor(6) as visitors:
        told = list(visitors.map(why_not, ["bert-base-uncased"] * 6))
    assert told == ["google-bert/bert-base-uncased could not be fetched"] * 6
    assert why_not("bert-base-uncased") == told[0]
    assert len(hub.asked) == 1
    assert not catalogue._loading


def test_one_models_failure_is_not_anothers(hub: Hub):
    why_not("bert-base-uncased")
    assert "roberta-base" in why_not("roberta-base")
    assert len(hub.asked) == 2


def test_after_a_while_a_model_that_failed_is_tried_again(
    hub: Hub, monkeypatch: pytest.MonkeyPatch, checkpoint: Callable[[str], Path]
):
    clock = [100.0]
    monkeypatch.setattr(catalogue, "_failed", TTLCache(64, catalogue.FAILURE_SECONDS, timer=lambda: clock[0]))
    why_not("bert-base-uncased")
    hub.directory = checkpoint("bert")
    clock[0] += catalogue.FAILURE_SECONDS - 1
    why_not("bert-base-uncased")
    clock[0] += 2
    assert catalogue.load("bert-base-uncased").name == "bert-base-uncased"
    assert len(hub.asked) == 2


def test_damaged_files_stay_a_problem_of_the_checkpoint(hub: Hub, tmp_path: Path):
    hub.directory = tmp_path
    for _ in range(2):
        with pytest.raises(CheckpointProblem):
            catalogue.load("bert-base-uncased")
    assert len(hub.asked) == 1
