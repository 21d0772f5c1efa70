"""Garbage is collected by a timer, not after every run."""

import gc
import time
import tomllib
import weakref

import pytest

from pages.ui.shell import garbage
from tests.support.serving import ROOT


class Knot:
    def __init__(self):
        self.itself = self


def test_streamlit_does_not_collect_after_every_run():
    config = tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text(encoding="utf-8"))
    assert config["runner"]["postScriptGC"] is False


def test_what_runs_leave_behind_is_collected_until_the_thread_is_stopped(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(garbage, "SECONDS_BETWEEN", 0.01)
    gc.disable()
    try:
        knot, stop = weakref.ref(Knot()), garbage.start_collecting()
        end = time.monotonic() + 20
        while knot() is not None and time.monotonic() < end:
            time.sleep(0.01)
        stop.set()
    finally:
        gc.enable()
    assert knot() is None
