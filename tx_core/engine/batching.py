"""Runs of one model that are asked for at the same time share a batch: whoever computes next computes for those who wait.

Nobody waits for company: a run that finds no other one computes alone and at once. Only while others compute, the next run
collects, for COLLECT_SECONDS at most, so the busier a host is, the larger its batches are.
"""

import time
from collections.abc import Callable, Sequence
from concurrent.futures import CancelledError, Future
from dataclasses import dataclass, field
from threading import Condition
from typing import Generic, TypeVar

from tx_core.engine.threads import BUSY, patience, slot_timeout
from tx_core.errors import Attempt, Busy
from tx_core.settings import host_settings

Row = TypeVar("Row")
Outcome = TypeVar("Outcome")
Compute = Callable[[Sequence[Row]], Sequence[Outcome]]
MAX_ROWS = 8
"""Runs in one batch: more make the first of them wait without gaining anything."""
COLLECT_SECONDS = 0.004


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
        try:
            return self._outcome(call, compute, fits, end)
        finally:
            with self._changed:
                if call in self._waiting:
                    self._waiting.remove(call)

    def _outcome(
        self, call: _Call[Row, Outcome], compute: Compute, fits: Callable[[Sequence[Row], Row], bool], end: float
    ) -> Outcome:
        """Compute batches, or wait while others do, until the call has its outcome."""
        while True:
            batch, outcome = self._next_batch(call, end, fits)
            if batch:
                self._settle(batch, call, compute, end)
                continue
            try:
                return outcome.result()
            except CancelledError:
                if not outcome.cancelled():  # it is what the row failed with
                    raise

    def _next_batch(
        self, call: _Call[Row, Outcome], end: float, fits: Callable[[Sequence[Row], Row], bool]
    ) -> tuple[list[_Call[Row, Outcome]], Future[Outcome]]:
        """Begin the batch of those who have waited longest, once there is room for one; none where the call is in one.

        The future is of the call: cancelled where it has to wait again.
        """
        with self._changed:
            if not self._changed.wait_for(lambda: self._may_begin(call), max(0.0, end - time.monotonic())):
                raise Busy(BUSY)
            return self._collect(fits) if call in self._waiting else [], call.outcome

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

    def _settle(self, batch: Sequence[_Call[Row, Outcome]], own: _Call[Row, Outcome], compute: Compute, end: float) -> None:
        """Compute a batch, and let the next one begin.

        Where its leader has waited for too long, or is interrupted, the others wait on in front, and one of them leads.
        """
        try:
            with slot_timeout(max(0.0, end - time.monotonic())):
                compute_together(batch, compute)
        except Busy:
            if not own.outcome.done():
                raise
        finally:
            with self._changed:
                again = [call for call in batch if call is not own and not call.outcome.done()]
                self._waiting[:0] = again
                for call in again:
                    earlier, call.outcome = call.outcome, Future()
                    earlier.cancel()
                self._batches -= 1
                self._changed.notify_all()


def compute_together(batch: Sequence[_Call], compute: Compute) -> None:
    """Compute a batch; where it fails, compute each of its rows alone, so that one visitor's failure is nobody else's.

    Raises Busy where no slot was found in time, and whatever interrupts the thread: rows are without an outcome then.
    """
    attempt = Attempt(but=Busy)
    with attempt:
        outcomes = compute([call.row for call in batch])
    if attempt.problem is None:
        for call, outcome in zip(batch, outcomes, strict=True):
            call.outcome.set_result(outcome)
    elif len(batch) == 1:
        batch[0].outcome.set_exception(attempt.problem)
    else:
        for call in batch:
            compute_together([call], compute)
