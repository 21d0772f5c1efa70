"""A server for one test's own trainings, a training that only counts, a clock that tests set, and the waits for what they do."""

import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from streamlit.testing.v1 import AppTest

from pages.ui.stage import background_runs
from pages.ui.stage.texts import TRAINING_PROGRESS
from tests.support.serving import wait_until
from tx_core.training import background
from tx_core.training.background import Registry, Snapshot

PRESS_WHILE_TYPING = """async (button, text) => {
  const box = document.activeElement
  Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value').set.call(box, text)
  box.dispatchEvent(new Event('input', { bubbles: true }))
  await new Promise(later => setTimeout(later, 50))
  box.blur()
  for (let turn = 0; turn < 9; turn += 1) await null
  button.click()
}"""
"""Types into the box that has the focus, leaves it and presses a button before the browser has told of the text, as on a busy
machine: it sends both in one message."""


@contextmanager
def own_server(monkeypatch: pytest.MonkeyPatch, *, limit: int, pause: float) -> Iterator[Registry]:
    """Run a block with places for so many trainings and as many that wait; each rests for `pause` seconds after a batch."""
    registry = Registry(limit, max_runs=2 * limit)
    monkeypatch.setattr(background_runs, "TRAININGS", registry)
    monkeypatch.setattr(background, "REST_SECONDS", pause)
    yield registry
    for visitor, _ in list(registry._jobs):
        registry.leave(visitor, 0)


def progress(state: str, batches: int | None = None) -> re.Pattern[str]:
    """Match what stands beside the bar of a training in a state; batches: after its last batch, of so many."""
    text = TRAINING_PROGRESS[state]
    if batches is None:
        return re.compile(re.escape(text.partition("{")[0]))
    return re.compile(re.escape(text.partition(", {seconds")[0].format(done=batches, total=batches)))


def name_of(app: AppTest) -> str:
    """Return the name by which the server knows the page's visitor."""
    return app.session_state["training_visitor"]


def until_still(app: AppTest, registry: Registry, kind: str) -> Snapshot:
    """Wait for the end of a visitor's training, and draw the page as it then is; give what the training came to."""
    snapshot = ended(registry, name_of(app), kind)
    app.run()
    return snapshot


class Counting:
    """A training that takes its next step only when it is let."""

    def __init__(self, steps: int = 1000):
        self.allowed, self.total, self.done, self.closed = threading.Semaphore(0), steps, 0, False

    def updates(self):
        try:
            while self.done < self.total:
                self.allowed.acquire()
                self.done += 1
                yield self.done
        finally:
            self.closed = True

    def let(self, steps: int) -> None:
        self.allowed.release(steps)


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def until(reached) -> None:
    wait_until(reached, 120, "what is waited for")


def ended(registry: Registry, visitor: str, kind: str = "copy") -> Snapshot:
    until(lambda: not registry.snapshot(visitor, kind).running)
    return registry.snapshot(visitor, kind)
