"""Loading models: once, whoever asks at the same time, within the memory that the host gives them."""

import gc
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace

import pytest
from cachetools import TTLCache
from safetensors.torch import load_file

from tx_core.engine import catalogue
from tx_core.engine.checkpoint_files import weights_bytes
from tx_core.engine.download import TOO_LARGE_FOR_MEMORY
from tx_core.errors import Busy, ModelUnavailable
from tx_core.lessons.labels import FINE_TUNED


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
        """Return the directory, or say that there is none."""
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
    gc.collect()  # the traceback of a failure holds the lock
    assert not catalogue._loading


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


def bytes_in_files(directory: Path) -> int:
    """Count the bytes of the tensors in a checkpoint by reading all of them."""
    return sum(tensor.nbytes for file in directory.glob("*.safetensors") for tensor in load_file(file).values())


def test_a_fine_tuned_model_counts_with_the_one_that_it_is_a_difference_from():
    tuned, base = (catalogue.MODELS / name for name in (FINE_TUNED, catalogue.DEFAULT))
    assert weights_bytes(tuned) == 2 * bytes_in_files(tuned) + 2 * bytes_in_files(base)  # stored in half precision


def test_a_model_that_is_larger_than_the_space_for_models_is_refused_before_it_is_loaded(
    hub: Hub, host, monkeypatch: pytest.MonkeyPatch, checkpoint: Callable[[str], Path]
):
    hub.directory = checkpoint("bert")
    host(max_model_megabytes=1)
    monkeypatch.setattr(catalogue, "weights_bytes", lambda _directory: 1_000_001)
    monkeypatch.setattr(catalogue, "load_directory", lambda *_: pytest.fail("it was loaded"))
    assert why_not("bert-base-uncased") == TOO_LARGE_FOR_MEMORY.format(
        title=catalogue.card("bert-base-uncased").title, megabytes=1, limit=1
    )
    assert not catalogue._arriving


def test_models_stay_in_memory_by_their_bytes_and_the_one_unused_for_longest_goes(
    hub: Hub, host, monkeypatch: pytest.MonkeyPatch, checkpoint: Callable[[str], Path]
):
    hub.directory = checkpoint("bert")
    size = weights_bytes(hub.directory)
    host(max_model_megabytes=1)
    monkeypatch.setattr(catalogue, "weights_bytes", lambda _directory: 1_000_000 - 2 * size)
    first, second = (catalogue.load(name) for name in ("bert-base-uncased", "bert-base-cased"))
    assert first.runner.nbytes <= size
    assert catalogue.load("bert-base-uncased") is first
    monkeypatch.setattr(catalogue, "weights_bytes", lambda _directory: 1_000_000 - size)
    catalogue.load("bert-base-multilingual-cased")
    assert second not in catalogue._engines.values() and len(catalogue._engines) == 2


def test_memory_that_another_model_is_being_loaded_into_is_not_given_twice(
    hub: Hub, host, monkeypatch: pytest.MonkeyPatch, checkpoint: Callable[[str], Path]
):
    hub.directory = checkpoint("bert")
    host(max_model_megabytes=1)
    monkeypatch.setattr(catalogue, "weights_bytes", lambda _directory: 600_000)
    monkeypatch.setitem(catalogue._arriving, "another", 600_000)
    monkeypatch.setitem(catalogue._engines, "loaded", SimpleNamespace(runner=SimpleNamespace(nbytes=1)))
    with pytest.raises(Busy):
        catalogue.load("bert-base-uncased")
    assert "loaded" in catalogue._engines  # nothing is dropped for a model that has no space all the same
    monkeypatch.delitem(catalogue._arriving, "another")
    assert catalogue.load("bert-base-uncased").name == "bert-base-uncased"
