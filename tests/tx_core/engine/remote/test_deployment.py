"""Models in a Ray cluster of this machine answer as they do in this process, and a replica that dies is not noticed."""

import importlib.util
import os
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import psutil
import pytest
from streamlit.proto.Alert_pb2 import Alert

from pages.contents import HOME, PAGES, SECTIONS
from pages.summaries.parts import PARTS
from pages.ui.shell import cache
from tests.support.apart import run_apart
from tests.support.ray_cluster import REPLICAS, Cluster, serving_models
from tests.support.same import assert_same
from tests.support.serving import fetch, free_port, running, streamlit_command, wait_until
from tests.support.stream_client import visit
from tx_core.analysis.attribution import attribute
from tx_core.analysis.logit_lens import logit_lens
from tx_core.analysis.value_weighted import value_weighted
from tx_core.corpus.batches import label_batch
from tx_core.engine import catalogue
from tx_core.engine.engine import Engine
from tx_core.engine.remote import client
from tx_core.engine.remote.client import FAILED, RemoteEngine, ask, remote_engine
from tx_core.transformer.interventions import Intervention
from tx_core.transformer.trace import ALL_PARTS

pytestmark = pytest.mark.ci
TEXT, PAIR, BLANKS = "The old cat sat on the mat", "and slept all day", "The ___ sat on a ___ in the house."
CHANGES = (Intervention("off", 1, 2), Intervention("temperature", 2, value=2.0), Intervention("cut", 3, 0, positions=(1, 4)))
PAGES_WITHOUT_TORCH = [page for page in PAGES if page not in SECTIONS["Build"] and page.key != "bertviz_page"]
"""All that only ask a model: those of Build compute with its weights, and the package bertviz needs torch itself."""
PATIENCE = "120"
"""Seconds that a call waits for its turn: on a machine that does much else, too."""
needs_ray = pytest.mark.skipif(importlib.util.find_spec("ray") is None, reason="requirements-ray.txt is not installed")


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    settings = {"TX_COMPUTE_SLOTS": "1", "TX_BACKGROUND_SLOTS": "1", "TX_SLOT_TIMEOUT_SECONDS": PATIENCE}
    with serving_models(**settings) as found:
        yield found


@pytest.fixture
def asks_ray(host: Callable[..., None], cluster: Cluster) -> Iterator[None]:
    host(engine="ray", ray_address=cluster.address, slot_timeout_seconds=PATIENCE)
    remote_engine.cache.clear()
    cache._entries.clear()
    yield
    remote_engine.cache.clear()
    cache._entries.clear()


@pytest.fixture
def both(asks_ray: None) -> tuple[Engine, Engine]:
    there, here = catalogue.load(catalogue.DEFAULT), catalogue.load(catalogue.DEFAULT, weights=True)
    assert isinstance(there, RemoteEngine) and not isinstance(here, RemoteEngine)
    return there, here


@needs_ray
def test_a_run_elsewhere_is_the_run_here(both: tuple[Engine, Engine]):
    assert_same(*(engine.trace(TEXT, PAIR, keep=ALL_PARTS, interventions=CHANGES) for engine in both))


@needs_ray
@pytest.mark.parametrize(
    "answer",
    [
        lambda engine: attribute(engine, engine.encode(BLANKS), engine.encode(BLANKS).blanks[0], 2000),
        lambda engine: logit_lens(engine, engine.trace(BLANKS, keep=("hidden",)), 2),
        lambda engine: value_weighted(engine, engine.trace(TEXT, keep=("weights", "value")).attention, 3),
        lambda engine: engine.blank_logits([engine.encode(BLANKS), engine.encode("A ___.")], interventions=[CHANGES, ()]),
        lambda engine: engine.embed((5, 6, 7)),
    ],
    ids=["attribution", "logit lens", "value-weighted", "rows with interventions", "word vectors"],
)
def test_what_is_computed_from_runs_elsewhere_is_what_runs_here_give(both: tuple[Engine, Engine], answer: Callable):
    assert_same(answer(both[0]), answer(both[1]))


@needs_ray
def test_an_unexpected_error_is_named_by_its_kind_and_its_words_are_in_no_log(asks_ray: None, cluster: Cluster):
    with pytest.raises(RuntimeError) as raised:
        ask(catalogue.DEFAULT, "trace", text=TEXT, sillysecret="words of a visitor")
    assert str(raised.value) == FAILED.format(kind="TypeError")
    logs = [
        path.read_text("utf-8", "replace")
        for path in (cluster.folder / "session_latest").resolve().rglob("*.*")
        if path.is_file()
    ]
    assert any('"kind": "TypeError"' in log for log in logs)
    assert [log for log in logs if "sillysecret" in log or "words of a visitor" in log] == []


def long_call(engine: Engine) -> np.ndarray:
    rows = [engine.encode(f"{number} " + "tea and milk " * 30) for number in range(40)]
    return engine.over_weights(rows, label_batch(rows)).entropy


@needs_ray
def test_the_process_that_served_the_pages_that_ask_a_model_has_not_loaded_torch(cluster: Cluster, tmp_path: Path):
    port = free_port()
    url, settings = f"http://127.0.0.1:{port}", {"TX_ENGINE": "ray", "TX_RAY_ADDRESS": cluster.address}
    with running(streamlit_command(port), f"{url}/_stcore/health", tmp_path / "log.txt", **settings) as app:
        wait_until(lambda: fetch(f"{url}/api/ready")[0] == 200, 120, "models that answer")
        process = psutil.Process(app.pid)
        assert process.memory_info().rss < 200e6
        for page in PAGES_WITHOUT_TORCH:
            for part in PARTS if page.key == "summaries" else ("",):
                run_apart(see(url, "" if page.key == HOME else page.address or page.key, f"part={part}" if part else ""))
        assert torch_files(process) == []
    assert torch_files(psutil.Process())  # of these tests: torch would be seen


async def see(url: str, page: str, query: str) -> None:
    async with visit(url, page, query) as visitor:
        kinds = [(one.WhichOneof("type"), one) for one in visitor.elements.values()]
        assert [one.alert.body for kind, one in kinds if kind == "alert" and one.alert.format == Alert.ERROR] == []
        assert "exception" not in [kind for kind, _ in kinds]


def torch_files(process: psutil.Process) -> list[str]:
    return [one.path for one in process.memory_maps() if f"{os.sep}torch{os.sep}" in one.path]


@needs_ray
def test_a_replica_that_is_killed_in_mid_call_costs_a_retry_and_no_error(both, cluster, monkeypatch):
    posts, post = Counter(), client._post

    def counted(*arguments: object) -> object:
        posts["sent"] += 1
        return post(*arguments)

    monkeypatch.setattr(client, "_post", counted)
    expected, calls = long_call(both[1]), 6
    wait_until(lambda: len(cluster.replicas()) == REPLICAS, 120, "all replicas")
    victim = cluster.replicas()[0]
    before = sum(victim.cpu_times()[:2])
    with ThreadPoolExecutor(calls) as visitors:
        answers = [visitors.submit(long_call, both[0]) for _ in range(calls)]
        wait_until(lambda: posts["sent"] == calls, 120, "all calls sent")
        # Replicas compute one call at a time: once one has begun, others are in its queue.
        wait_until(lambda: sum(victim.cpu_times()[:2]) > before + 0.2, 120, "a replica that computes")
        victim.kill()
        for answer in answers:
            np.testing.assert_allclose(answer.result(), expected, atol=1e-5)
    wait_until(lambda: victim not in cluster.replicas(), 120, "the end of the killed one")
    assert posts["sent"] > calls
