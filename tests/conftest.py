"""What every test may use: axis words checked at each call of the core, and one running app for all."""

import functools
import gc
import importlib
import inspect
import os
import shutil
import sys
import threading
from collections import Counter
from collections.abc import Callable, Generator, Iterator
from dataclasses import is_dataclass
from pathlib import Path

# One core for each process of the tests: threads that wait for one another take most of a busy machine. Read by torch at import.
os.environ.setdefault("OMP_NUM_THREADS", "1")

import hypothesis
import jaxtyping
import pytest
from jaxtyping import install_import_hook
from streamlit.components.v2 import manifest_scanner
from streamlit.testing.v1 import AppTest
from streamlit.util import calc_hash
from xdist.plugin import pytest_xdist_auto_num_workers as number_of_cores

ROOT = Path(__file__).parents[1]
# Only modules that name axes: a check costs a hundred times what a small function does.
NAMING_AXES = [file for file in (ROOT / "tx_core").rglob("*.py") if "jaxtyping" in file.read_text("utf-8")]
install_import_hook([".".join(file.relative_to(ROOT).with_suffix("").parts) for file in NAMING_AXES], "beartype.beartype")
check_axes = jaxtyping.jaxtyped
CHECKED_CALLS = 4
"""Of a function, in each test: the first differ as much as the thousandth, and unchecked ones take two thirds of the time."""
calls: Counter[Callable] = Counter()


def check_types(*, typechecker: Callable) -> Callable:
    """Check the axes of records and of functions that name some; of other functions only the types, for a tenth of the time."""

    def decorate(thing: Callable) -> Callable:
        if isinstance(thing, type):
            if is_dataclass(thing):
                thing.__init__ = decorate(thing.__init__)
            return thing
        annotations = inspect.get_annotations(thing).values()
        named = any(isinstance(one, str) or "jaxtyping" in repr(one) for one in annotations)
        checked = functools.cache(lambda: check_axes(thing, typechecker=typechecker) if named else typechecker(thing))

        @functools.wraps(thing)
        def check_first_calls(*arguments: object, **options: object) -> object:
            calls[thing] += 1
            return (checked() if calls[thing] <= CHECKED_CALLS else thing)(*arguments, **options)

        return check_first_calls

    return decorate


jaxtyping.jaxtyped = check_types  # which is what the hook decorates with


def pytest_xdist_auto_num_workers(config: pytest.Config) -> int:
    """One process more than there are cores: tests also wait, for browsers, servers and databases."""
    return number_of_cores(config) + 1


# How long an example takes is the machine's business: these tests hold what is true, the bench what is fast.
hypothesis.settings.register_profile("patient", deadline=None)
hypothesis.settings.load_profile("patient")

# Streamlit looks through every installed package for components whenever a test opens a page: nine tenths of the wait.
# What is installed stays as it is while tests run.
manifest_scanner.scan_component_manifests = functools.cache(manifest_scanner.scan_component_manifests)

from pages.contents import HOME, page, page_address  # noqa: E402
from tests.support.serving import fetch, serving, wait_until  # noqa: E402
from tx_core.settings import host_settings, variable  # noqa: E402


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Collect no garbage while modules are imported, all of which stays: a quarter of the time that it takes."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


OF_A_MODULE = {"attacked", "cluster", "served", "whole"}
"""Servers, clusters and scans that all tests of a module use."""


DEFAULT_FAMILIES = {"bert", "roberta"}
"""Of a test of every family of models; those of the other families run in CI only."""


@pytest.hookimpl(tryfirst=True)  # before pytest selects by marker
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what runs in CI only, and run the modules with a server of their own first, so that it is started once.

    Where several processes run the tests, one that is done takes tests from the end of another's list. A module that was divided
    would start its server twice, and the test that reads its log at the end would read another one. Next come the tests that
    share an app, so that few processes start it.
    """
    for item in items:
        family = item.callspec.params.get("family", "bert") if hasattr(item, "callspec") else "bert"
        in_browser = item.path.is_relative_to(ROOT / "tests" / "browser")
        if family not in DEFAULT_FAMILIES or (in_browser and "journeys" not in item.path.parts):
            item.add_marker(pytest.mark.ci)
        if in_browser:  # a busy machine can starve a browser; a fault fails twice
            item.add_marker(pytest.mark.flaky(reruns=1))
    first = {item.path for item in items if OF_A_MODULE.intersection(item.fixturenames)}
    items.sort(key=lambda item: (item.path not in first, "server" not in item.fixturenames))


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of one running app for all tests, its default model loaded."""
    log = tmp_path_factory.mktemp("server") / "log.txt"
    with serving(ROOT, log) as url:

        def ready() -> bool:
            status, _, body = fetch(f"{url}/api/ready")
            if b'"failed"' in body:
                pytest.fail(f"the default model did not load:\n{log.read_text(encoding='utf-8')}")
            return status == 200

        wait_until(ready, 120, "the default model's first answer")
        yield url


@pytest.fixture(autouse=True)
def nothing_remembered() -> Iterator[None]:
    """What a test found of the hub's models, loaded, run or out of reach, and what it set, the next one does not know.

    It does know what the built-in model found in the built-in sentences, in this process: that takes half a second each time.
    A library that it began to load in the background is loaded before the next one begins: while transformers builds a model, it
    replaces methods of its own and functions of torch, and a checkpoint that is written meanwhile is another one.
    """
    calls.clear()
    yield
    for thread in threading.enumerate():
        if thread.name == "warmup":
            thread.join()
    host_settings.cache_clear()
    models, cache = (sys.modules.get(name) for name in ("tx_core.engine.catalogue", "pages.ui.shell.cache"))
    if models:
        with models._guard:
            models._engines.clear()
            models._failures.clear()
        models._local_models.cache_clear()
    if cache:
        with cache._guard:
            for key in [key for key in cache._entries if key[0] != "many_sentences" or key[1][0] != "embedded"]:
                del cache._entries[key]
            cache._in_use.clear()


@pytest.fixture
def host(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Set what a host may set, for one test: `host(any_model=1)`."""

    def set_variables(**values: object) -> None:
        for name, value in values.items():
            monkeypatch.setenv(variable(name), str(value))
        host_settings.cache_clear()

    return set_variables


@pytest.fixture
def open_app() -> Callable[..., AppTest]:
    """Run a page without a browser, as its link opens it: open_app("fill_mask", text="A bird")."""

    def open_page(key: str = "attention", **parameters: str | list[str]) -> AppTest:
        app = AppTest.from_file(ROOT / "pages" / "main.py", default_timeout=240)
        if key != HOME:  # before a first run AppTest knows a page by the name of its file only, which is page.py for all
            app._page_hash = calc_hash(page_address(page(key)))
        for name, value in parameters.items():
            app.query_params[name] = value
        app.run()
        if key != HOME:  # now its address is known, which need not be its key
            app.switch_page(f"{key}/page.py")
        return app

    return open_page


@pytest.fixture(scope="session")
def checkpoint(tmp_path_factory: pytest.TempPathFactory):
    """Return the directory of a family's tiny random checkpoint, written once a session: `checkpoint("roberta")`."""
    written: dict[str, Path] = {}

    def of_family(family: str) -> Path:
        if family not in written:
            # A page may be importing transformers in a thread, which replaces its module half-way: wait where the app does.
            importlib.import_module("tx_core.engine.hub.load")
            from tests.support.checkpoints import write_family

            written[family] = write_family(family, tmp_path_factory.mktemp(family))
        return written[family]

    return of_family


@pytest.fixture
def offer(host, checkpoint, tmp_path: Path) -> Callable[..., str]:
    """Put the checkpoint of a family into the host's directory of models; return the model's name: `offer("gpt2")`."""

    def offered(family: str, folder: str = "own") -> str:
        shutil.copytree(checkpoint(family), tmp_path / "models" / folder)
        host(models_dir=tmp_path / "models")
        return f"local:{folder}"

    return offered


@pytest.fixture(scope="session")
def hub_engine(checkpoint):
    """Return the engine of a family's tiny random checkpoint, once a session, BERT in our own layers: `hub_engine("gpt2")`."""
    from tx_core.engine.bert_engine import load_own_engine
    from tx_core.engine.hub.load import load_engine

    @functools.cache
    def of_family(family: str):
        return (load_own_engine if family == "bert" else load_engine)(checkpoint(family), family, family.title())

    return of_family


@pytest.fixture(scope="session")
def reference(checkpoint):
    """Return the model of a family's checkpoint as the library runs it, with its own eager attention: `reference("roberta")`."""
    torch, transformers = map(importlib.import_module, ("torch", "transformers"))
    kinds = {"gpt2": transformers.AutoModelForCausalLM, "t5": transformers.AutoModel}

    @functools.cache
    def of_family(family: str):
        kind = kinds.get(family, transformers.AutoModelForMaskedLM)
        return kind.from_pretrained(checkpoint(family), attn_implementation="eager", dtype=torch.float32).eval()

    return of_family


@pytest.fixture(scope="session")
def engine():
    """The embedded model that fills blanks."""
    from tx_core.engine import catalogue

    return catalogue.load(catalogue.DEFAULT)


@pytest.fixture(scope="session")
def writer():
    """The embedded model that writes."""
    from tx_core.engine import catalogue

    return catalogue.load(catalogue.WRITER)


@pytest.fixture
def runs(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest):
    """The runs in the background of a server of one's own, with space for one, which rests as long as the test asks."""
    from tests.support.trainings import own_server

    with own_server(monkeypatch, limit=1, pause=getattr(request, "param", 0.001)) as registry:
        yield registry


@pytest.fixture(scope="session")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small corpus to pre-train on, with its licences."""
    from tests.support.small_training import write_corpus

    folder = write_corpus(tmp_path_factory.mktemp("corpus"))
    (folder / "SOURCES.md").write_text("| short | CC0 |\n", encoding="utf-8")
    return folder


@pytest.fixture(scope="session")
def trained(corpus: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The model of a short pre-training on it."""
    from tests.support.small_training import train

    return train(corpus, tmp_path_factory.mktemp("trained"), "--steps", "24")
