"""Dynamic batching: concurrent requests for runs of one model share a forward pass.

A request on an idle host is computed alone and at once. Only while others compute, the next batch waits for more rows, for
COLLECT_SECONDS at most, so batches grow with the load.
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
"""Rows in one batch: more would delay the first ones without raising the throughput."""
COLLECT_SECONDS = 0.004


@dataclass(eq=False)
class _Call(Generic[Row, Outcome]):
    """A requested row, and the future of its outcome."""

    row: Row
    outcome: Future[Outcome] = field(default_factory=Future)


class SharedRuns(Generic[Row, Outcome]):
    """The queue of concurrent requests for runs of one model.

    It holds no model: each request brings the function that computes a batch.
    """

    def __init__(self) -> None:
        self._waiting: list[_Call[Row, Outcome]] = []
        self._batches = 0
        self._changed = Condition()

    def run(self, row: Row, compute: Compute, fits: Callable[[Sequence[Row], Row], bool]) -> Outcome:
        """Return the outcome of a row, computed alone or in a batch with others.

        Background threads compute alone: in a shared batch, a page would wait for a background slot.

        Args:
            row: The input of the run.
            compute: Returns the outcomes of the rows of a batch, in order; takes a compute slot for it.
            fits: Returns whether one more row may join those of a batch.

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
                if not outcome.cancelled():  # computing the row raised it
                    raise

    def _next_batch(
        self, call: _Call[Row, Outcome], end: float, fits: Callable[[Sequence[Row], Row], bool]
    ) -> tuple[list[_Call[Row, Outcome]], Future[Outcome]]:
        """Wait until a batch may start, and return it, the longest-waiting call first; empty if the call is in another batch.

        The future is that of the call; it is cancelled if the call has to wait again.
        """
        with self._changed:
            if not self._changed.wait_for(lambda: self._may_proceed(call), max(0.0, end - time.monotonic())):
                raise Busy(BUSY)
            return self._collect(fits) if call in self._waiting else [], call.outcome

    def _may_proceed(self, call: _Call[Row, Outcome]) -> bool:
        """Return whether a call can stop waiting: it is in a batch already, or a new batch may start."""
        return call not in self._waiting or self._batches < host_settings().compute_slots

    def _collect(self, fits: Callable[[Sequence[Row], Row], bool]) -> list[_Call[Row, Outcome]]:
        """Remove a batch from the queue; if others compute, first wait COLLECT_SECONDS for more rows."""
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

    def _settle(self, batch: Sequence[_Call[Row, Outcome]], leader: _Call[Row, Outcome], compute: Compute, end: float) -> None:
        """Compute a batch, led by the thread of one of its calls, and allow the next one.

        If the leader times out or is interrupted, its followers return to the head of the queue, and one of them leads next.
        """
        try:
            with slot_timeout(max(0.0, end - time.monotonic())):
                compute_together(batch, compute)
        except Busy:
            if not leader.outcome.done():
                raise
        finally:
            with self._changed:
                again = [call for call in batch if call is not leader and not call.outcome.done()]
                self._waiting[:0] = again
                for call in again:
                    earlier, call.outcome = call.outcome, Future()
                    earlier.cancel()
                self._batches -= 1
                self._changed.notify_all()


def compute_together(batch: Sequence[_Call], compute: Compute) -> None:
    """Compute a batch; if that fails, compute each row alone, so that one visitor's error does not reach another.

    Raises Busy if no slot became free in time; rows then have no outcome, as after an interrupt.
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
