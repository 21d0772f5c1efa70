"""Garbage goes in quiet moments, and what was frozen goes once nobody is there."""

import gc
import platform
import subprocess
import sys
import threading
import time
import tomllib
import weakref
from collections.abc import Iterator

import pytest

from pages.ui.shell import garbage
from tests.support.serving import ROOT


class Knot:
    """Something that only the garbage collector frees."""

    def __init__(self):
        self.itself = self


def dropped_knot() -> weakref.ref[Knot]:
    """Make a knot, drop it, and tell whether it is still there."""
    return weakref.ref(Knot())


@pytest.fixture
def no_automatic_collection() -> Iterator[None]:
    gc.disable()
    yield
    gc.unfreeze()
    gc.enable()


def test_streamlit_does_not_collect_after_every_run():
    config = tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text(encoding="utf-8"))
    assert config["runner"]["postScriptGC"] is False


@pytest.mark.usefixtures("no_automatic_collection")
def test_what_a_run_leaves_behind_is_collected_while_visitors_are_there():
    knot = dropped_knot()
    assert knot() is not None
    garbage.collect_garbage(nobody_is_here=False)
    assert knot() is None


@pytest.mark.usefixtures("no_automatic_collection")
def test_what_was_frozen_with_a_session_goes_once_nobody_is_there():
    session = Knot()
    garbage.freeze()
    knot = weakref.ref(session)
    del session
    garbage.collect_garbage(nobody_is_here=False)
    assert knot() is not None
    garbage.collect_garbage(nobody_is_here=True)
    assert knot() is None


def test_a_busy_process_is_waited_for_and_not_for_ever(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(garbage, "MAX_QUIET_WAIT_SECONDS", 0.5)
    used = iter(range(1000))
    monkeypatch.setattr(garbage.time, "process_time", lambda: float(next(used)))
    begun = time.monotonic()
    garbage.wait_for_quiet(threading.Event())
    assert 0.5 <= time.monotonic() - begun < 120


def test_an_idle_process_is_not_waited_for(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(garbage, "MAX_QUIET_WAIT_SECONDS", 200.0)
    monkeypatch.setattr(garbage.time, "process_time", lambda: 1.0)
    begun = time.monotonic()
    garbage.wait_for_quiet(threading.Event())
    assert time.monotonic() - begun < garbage.MAX_QUIET_WAIT_SECONDS / 2


@pytest.mark.usefixtures("no_automatic_collection")
def test_the_thread_collects_until_it_is_stopped(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(garbage, "SECONDS_BETWEEN", 0.01)
    monkeypatch.setattr(garbage, "QUIET_SECONDS", 0.01)
    stop, knot = threading.Event(), dropped_knot()
    thread = threading.Thread(target=garbage.collect_regularly, args=[stop, lambda: False])
    thread.start()
    end = time.monotonic() + 120
    while knot() is not None and time.monotonic() < end:
        time.sleep(0.01)
    stop.set()
    thread.join(120)
    assert (knot(), thread.is_alive()) == (None, False)


@pytest.mark.skipif(sys.platform != "linux" or platform.libc_ver()[0] != "glibc", reason="only glibc can be asked")
def test_memory_that_is_free_goes_back_to_the_system():
    script = (
        "import psutil; from pages.ui.shell.garbage import return_memory\n"
        "megabytes = lambda: psutil.Process().memory_info().rss / 1e6\n"
        "blocks = [bytearray(b'x' * 50_000) for _ in range(2000)]\n"
        "kept = blocks[::100]; del blocks; before = megabytes(); return_memory(); print(before - megabytes() > 50)"
    )
    assert subprocess.check_output([sys.executable, "-c", script], cwd=ROOT, text=True).strip() == "True"


def test_memory_is_returned_with_every_collection(monkeypatch: pytest.MonkeyPatch):
    stop, returned = threading.Event(), []
    monkeypatch.setattr(garbage, "SECONDS_BETWEEN", 0.01)
    monkeypatch.setattr(garbage, "collect_garbage", lambda nobody_is_here: None)
    monkeypatch.setattr(garbage, "return_memory", lambda: (returned.append(True), stop.set()))
    garbage.collect_regularly(stop, lambda: False)
    assert returned == [True]
