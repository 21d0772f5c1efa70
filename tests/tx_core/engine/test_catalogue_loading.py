"""Loading models: once, whoever asks at the same time, within the memory that the host gives them."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from cachetools import TTLCache

from tx_core.engine import catalogue
from tx_core.engine.checkpoint_files import weights_bytes
from tx_core.engine.download import TOO_LARGE_FOR_MEMORY
from tx_core.errors import ModelUnavailable


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch, checkpoint: Callable[[str], Path]) -> Path:
    monkeypatch.setattr(catalogue, "fetch", lambda _hub_id, _revision: checkpoint("bert"))
    return checkpoint("bert")


def why_not(name: str) -> str:
    with pytest.raises(ModelUnavailable) as told:
        catalogue.load(name)
    return str(told.value)


def test_visitors_who_wait_for_a_model_share_one_engine_and_a_model_that_failed_is_tried_again_later(hub: Path, monkeypatch):
    loaded, load, clock = [], catalogue.load_directory, [100.0]
    monkeypatch.setattr(catalogue, "_failures", TTLCache(64, catalogue.FAILURE_SECONDS, timer=lambda: clock[0]))
    with monkeypatch.context() as patch:
        patch.setattr(catalogue, "load_directory", lambda *_: (_ for _ in ()).throw(ModelUnavailable("damaged")))
        assert why_not("bert-base-uncased") == "damaged"
    monkeypatch.setattr(catalogue, "load_directory", lambda *model: loaded.append(model) or load(*model))
    clock[0] += catalogue.FAILURE_SECONDS - 1
    assert why_not("bert-base-uncased") == "damaged"
    clock[0] += 2
    with ThreadPoolExecutor(6) as visitors:
        engines = set(map(id, visitors.map(catalogue.load, ["bert-base-uncased"] * 6)))
    assert (len(engines), len(loaded)) == (1, 1)


def test_a_model_that_is_larger_than_the_space_for_models_is_refused_before_it_is_loaded(
    hub: Path, host, monkeypatch: pytest.MonkeyPatch
):
    host(max_model_megabytes=1)
    monkeypatch.setattr(catalogue, "weights_bytes", lambda _directory: 1_000_001)
    monkeypatch.setattr(catalogue, "load_directory", lambda *_: pytest.fail("it was loaded"))
    assert why_not("bert-base-uncased") == TOO_LARGE_FOR_MEMORY.format(
        title=catalogue.card("bert-base-uncased").title, megabytes=1, limit=1
    )


def test_models_stay_in_memory_by_their_bytes_and_the_one_unused_for_longest_goes(
    hub: Path, host, monkeypatch: pytest.MonkeyPatch
):
    size = weights_bytes(hub)
    host(max_model_megabytes=1)
    monkeypatch.setattr(catalogue, "weights_bytes", lambda _directory: 1_000_000 - 2 * size)
    first, second = (catalogue.load(name) for name in ("bert-base-uncased", "bert-base-cased"))
    assert first.runner.nbytes <= size
    assert catalogue.load("bert-base-uncased") is first
    monkeypatch.setattr(catalogue, "weights_bytes", lambda _directory: 1_000_000 - size)
    catalogue.load("bert-base-multilingual-cased")
    assert second not in catalogue._engines.values() and len(catalogue._engines) == 2
