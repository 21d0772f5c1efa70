"""Runs of one model that are asked for at the same time share a batch: whoever computes next computes for those who wait.

Nobody waits for company: a run that finds no other one computes alone and at once. Only while others compute, the next run
collects, for COLLECT_SECONDS at most, so the busier a host is, the larger its batches are.
"""

import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from threading import Condition
from typing import Generic, TypeVar

from tx_core.engine.slots import BUSY, patience
from tx_core.errors import Busy, ExplorerError
from tx_core.settings import host_settings

Row = TypeVar("Row")
Outcome = TypeVar("Outcome")
Compute = Callable[[Sequence[Row]], Sequence[Outcome]]
MAX_ROWS = 8
"""Runs in one batch: more make the first of them wait without gaining anything."""
COLLECT_SECONDS = 0.004
FAILURES = (ExplorerError, RuntimeError, MemoryError, ValueError, TypeError, LookupError, ArithmeticError)
"""What a row may fail with, a mistake of ours included: the other rows of its batch are computed all the same."""


@dataclass(eq=False)
class _Call(Generic[Row, Outcome]):
    """A run that is asked for, and its outcome once somebody has computed it."""

    row: Row
    outcome: Future[Outcome] = field(default_factory=Future)


class SharedRuns(Generic[Row, Outcome]):
    """The runs of one model that are asked for at the same time.

    It holds nothing of the model: who runs a row says how a batch is computed.
    """

    def __init__(self) -> None:
        self._waiting: list[_Call[Row, Outcome]] = []
        self._batches = 0
        self._changed = Condition()

    def run(self, row: Row, compute: Compute, fits: Callable[[Sequence[Row], Row], bool]) -> Outcome:
        """Give the outcome of a row, computed alone or together with others.

        Background threads compute alone: a page would wait for their slots.

        Args:
            row: What is run.
            compute: Gives the outcomes of the rows of a batch, in order; holds a compute slot meanwhile.
            fits: Tells whether one more row may join those of a batch.

        Raises Busy when the host stays busy for too long, and what `compute` raises for this row alone.
        """
        seconds, background = patience()
        if background:
            return compute([row])[0]
        call, end = _Call[Row, Outcome](row), time.monotonic() + seconds
        with self._changed:
            self._waiting.append(call)
            self._changed.notify_all()
        while batch := self._next_batch(call, end, fits):
            self._settle(batch, compute)
        return call.outcome.result()

    def _next_batch(
        self, call: _Call[Row, Outcome], end: float, fits: Callable[[Sequence[Row], Row], bool]
    ) -> list[_Call[Row, Outcome]]:
        """Begin the batch of those who have waited longest, once there is room for one; none where the call is in one."""
        with self._changed:
            if not self._changed.wait_for(lambda: self._may_begin(call), max(0.0, end - time.monotonic())):
                self._waiting.remove(call)
                raise Busy(BUSY)
            return self._collect(fits) if call in self._waiting else []

    def _may_begin(self, call: _Call[Row, Outcome]) -> bool:
        """Tell whether a call need not wait any more: it may be computed, or is in somebody's batch."""
        return call not in self._waiting or self._batches < host_settings().compute_slots

    def _collect(self, fits: Callable[[Sequence[Row], Row], bool]) -> list[_Call[Row, Outcome]]:
        """Take a batch out of the queue; where others compute, wait a moment for more to come."""
        batch = [self._waiting.pop(0)]
        self._batches += 1
        if self._batches > 1 or self._waiting:
            self._changed.wait_for(lambda: len(self._waiting) >= MAX_ROWS - 1, COLLECT_SECONDS)
        for other in list(self._waiting):
            if len(batch) < MAX_ROWS and fits([one.row for one in batch], other.row):
                batch.append(other)
                self._waiting.remove(other)
        self._changed.notify_all()
        return batch

    def _settle(self, batch: Sequence[_Call[Row, Outcome]], compute: Compute) -> None:
        """Compute a batch, and let the next one begin."""
        try:
            compute_together(batch, compute)
        finally:
            for call in batch:
                call.outcome.cancel()  # where there is no outcome, nobody waits for one
            with self._changed:
                self._batches -= 1
                self._changed.notify_all()


def compute_together(batch: Sequence[_Call], compute: Compute) -> None:
    """Compute a batch; where it fails, compute each of its rows alone, so that one visitor's failure is nobody else's."""
    try:
        outcomes = compute([call.row for call in batch])
    except Busy as problem:
        for call in batch:
            call.outcome.set_exception(Busy(str(problem)))
    except FAILURES as problem:
        if len(batch) == 1:
            batch[0].outcome.set_exception(problem)
        else:
            for call in batch:
                compute_together([call], compute)
    else:
        for call, outcome in zip(batch, outcomes, strict=True):
            call.outcome.set_result(outcome)
