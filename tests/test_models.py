"""The catalogue and the way from a name to an engine."""

import json
from concurrent.futures import ThreadPoolExecutor

import pytest

from tx_core import models
from tx_core.checkpoint import read_json
from tx_core.download import CATALOGUE
from tx_core.errors import ModelUnavailable


def test_the_embedded_model_comes_first_and_is_described_as_it_is():
    first, settings = models.catalogue()[0], read_json(models.MODELS / models.DEFAULT / "config.json")
    assert (first.name, first.hub_id) == (models.DEFAULT, None)
    assert (first.num_layers, first.num_heads) == (settings["num_hidden_layers"], settings["num_attention_heads"])
    weights = (models.MODELS / models.DEFAULT / "model.safetensors").stat().st_size
    assert first.megabytes == round(weights / 1e6)


def test_every_model_says_size_licence_heads_and_where_it_is_from():
    for card in models.catalogue():
        assert card.licence and card.note and card.title
        assert min(card.num_layers, card.num_heads, card.megabytes) > 0
        assert card.name == models.DEFAULT or "/" in card.hub_id


def test_names_are_unique():
    names = [card.name for card in models.catalogue()]
    assert len(names) == len(set(names))


def test_no_revision_is_invented():
    for entry in json.loads(CATALOGUE.read_text(encoding="utf-8")):
        revision = entry.get("revision")
        assert revision is None or (len(revision) == 40 and set(revision) <= set("0123456789abcdef"))


def test_a_model_is_found_by_its_hub_id_too():
    assert models.card("google-bert/bert-base-uncased").name == "bert-base-uncased"


@pytest.mark.parametrize("name", ["", "nonsense", "../../etc/passwd", "someone/their-model", "x" * 10_000])
def test_a_name_that_is_not_on_offer_is_refused_where_only_the_list_is_allowed(
    monkeypatch: pytest.MonkeyPatch, name: str
):
    monkeypatch.delenv("TX_ANY_MODEL", raising=False)
    with pytest.raises(ModelUnavailable, match="choose one from the list"):
        models.load(name)


def test_any_hub_id_is_a_card_where_that_is_allowed_and_a_path_is_not(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("TX_ANY_MODEL", "1")
    assert models.card("someone/their-model").hub_id == "someone/their-model"
    for path in ("../secret", "/etc/passwd", "a/b/c", "..", "a/.."):
        with pytest.raises(ModelUnavailable):
            models.card(path)


def test_first_visitors_at_once_share_one_engine():
    with ThreadPoolExecutor(4) as visitors:
        engines = list(visitors.map(models.load, [models.DEFAULT] * 4))
    assert all(engine is engines[0] for engine in engines)
