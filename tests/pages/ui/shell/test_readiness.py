"""The default model waits for a first visitor's page, for a bounded time, and pages show the stored run meanwhile."""

import threading

import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

from pages.ui.shell import readiness, start_page
from pages.ui.shell.readiness import FirstVisit, Status, Warmup


def test_loading_begins_when_the_first_page_is_there_and_not_before(monkeypatch: pytest.MonkeyPatch):
    for name, value in (("VISITOR", 60), ("PAGE", 60), ("PICTURE", 0)):
        monkeypatch.setattr(readiness, f"{name}_SECONDS", value)
    visit, begun = FirstVisit(), threading.Event()

    def load() -> Status:
        begun.set()
        return Status("ready", "A model", "cpu")

    thread = Warmup(load).start(visit.wait)
    visit.begun.set()
    assert not begun.wait(0.2)
    visit.shown.set()
    thread.join(120)
    assert begun.is_set() and not thread.is_alive()


def test_a_visit_begins_with_the_start_page_and_is_over_once_a_page_was_run(open_app, monkeypatch: pytest.MonkeyPatch):
    visit = FirstVisit()
    monkeypatch.setattr(start_page, "first_visit", visit)
    monkeypatch.setattr(readiness, "first_visit", visit)
    TestClient(Starlette(routes=start_page.routes(lambda _: ()))).get("/")
    assert visit.begun.is_set() and not visit.shown.is_set()
    open_app("learn")
    assert visit.shown.is_set()


@pytest.mark.parametrize("state", ["asleep", "warming up", "ready", "failed"])
def test_the_model_is_awaited_only_while_it_is_loaded_into_this_process(host, state: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(readiness.default_engine, "status", Status(state))
    assert readiness.is_awaited() == (state == "warming up")
    host(engine="ray")
    assert not readiness.is_awaited()
