"""A training that only counts, a clock that tests set, and the wait for what a thread does."""

import threading
import time

from tx_core.training.background import Registry


class Counting:
    """A training that takes its next step only when it is let."""

    def __init__(self, steps: int = 1000):
        self.allowed, self.total, self.done, self.closed = threading.Semaphore(0), steps, 0, False

    def steps(self):
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
    end = time.monotonic() + 60
    while not reached():
        assert time.monotonic() < end, "it did not happen within a minute"
        time.sleep(0.002)


def ended(registry: Registry, visitor: str, kind: str = "copy"):
    until(lambda: not registry.snapshot(visitor, kind).running)
    return registry.snapshot(visitor, kind)
