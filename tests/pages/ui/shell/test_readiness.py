"""The default model is awaited while it is being loaded into this process."""

import pytest

from pages.ui.shell import readiness
from pages.ui.shell.readiness import Status


@pytest.mark.parametrize("state", ["asleep", "warming up", "ready", "failed"])
def test_the_model_is_awaited_only_while_it_is_loaded_into_this_process(host, state: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(readiness.default_engine, "status", Status(state))
    assert readiness.is_awaited() == (state == "warming up")
    host(engine="ray")
    assert not readiness.is_awaited()
