"""Training runs in the background: one per visitor and kind, a few at once, the others in a queue.

Waiting runs start round-robin over the addresses of their visitors, first come, first served within one address. A visitor's runs
are dropped a while after the visitor's connection ended, unless the visitor comes back.
"""

import threading
import time
from collections import Counter
from collections.abc import Callable, Generator
from dataclasses import dataclass, field
from math import inf
from typing import Any, Literal, Protocol

from tx_core.engine.threads import use_background_slots, use_one_core
from tx_core.errors import Busy, ExplorerError
from tx_core.settings import host_settings

REST_SECONDS = 0.01
"""Pause after every update of a run, so that pages stay responsive."""
SLOT_PATIENCE_SECONDS = 600.0
"""How long a run waits for a background slot, unlike a page, before it fails."""

ALREADY_RUNNING = "You already have a run in the background. Stop it, or wait until it is done."
QUEUE_FULL = "The queue of this server is full. Try again in a minute."
SHARE_TAKEN = "Visitors from your address have {most} runs in the background, as many as one address may. Try again in a minute."
SHARE_OF_ADDRESS = 0.8
"""The share of all places that one address, such as a school's, may take."""
UNEXPECTED_END = "This run ended unexpectedly. Start it again; if it happens twice, choose smaller sizes or fewer texts."

TrainingState = Literal["waiting", "running", "stopping", "stopped", "finished", "failed"]


class Trainable(Protocol):
    """Protocol of a background run: `updates` yields one frozen record after each."""

    def updates(self) -> Generator[Any, None, None]: ...


@dataclass(frozen=True)
class Snapshot:
    """The state of a run at one moment.

    records: one per update so far. result: the run itself once it is finished or stopped. problem: a sentence for the reader
    where it failed. ahead: number of runs that start before it, while it waits.
    """

    kind: str
    state: TrainingState
    records: tuple[Any, ...]
    result: Any
    problem: str
    ahead: int = 0

    @property
    def running(self) -> bool:
        """Whether the run computes, or waits for its turn to."""
        return self.state in ("waiting", "running", "stopping")


@dataclass(eq=False)
class _Job:
    """A run and its thread; touched only under the lock of its registry.

    address: of its visitor, for the share. before: the visitor's earlier job, restored if this one leaves the queue. dropped_at,
    asked_at: when it is dropped because its visitor left, and when it was last asked for, by the registry's clock.
    """

    training: Trainable
    address: str = ""
    state: TrainingState = "waiting"
    before: "_Job | None" = None
    dropped_at: float = inf
    asked_at: float = 0.0
    records: list[Any] = field(default_factory=list)
    problem: str = ""
    stop: threading.Event = field(default_factory=threading.Event)

    @property
    def active(self) -> bool:
        return self.state in ("waiting", "running", "stopping")


class Registry:
    """All background runs of one process, by visitor and kind.

    limit: number of runs that compute at once. max_runs: number of runs held at most; None for what the host sets. A new one
    takes the place of a finished one: of who left first, else of the one that nobody has asked for the longest. Where none is
    finished, it is refused. clock: seconds, monotonic.
    """

    def __init__(self, limit: int, *, max_runs: int | None = None, clock: Callable[[], float] = time.monotonic):
        self._limit, self._clock = limit, clock
        self._max_runs = host_settings().max_background_runs if max_runs is None else max_runs
        self._jobs: dict[tuple[str, str], _Job] = {}  # in order of arrival
        self._computing = 0  # threads; a stopping one counts until its update is done
        self._lock = threading.RLock()

    @property
    def running(self) -> int:
        """Number of runs that compute now, stopping ones included."""
        with self._lock:
            self._advance()
            return self._computing

    def check_capacity(self, visitor: str, address: str = "") -> None:
        """Raise Busy if `start` would; call it before fetching the data of a run."""
        with self._lock:
            self._advance()
            active = {key: job for key, job in self._jobs.items() if job.active}
            if any(owner == visitor for owner, _ in active):
                raise Busy(ALREADY_RUNNING)
            if len(active) >= self._max_runs:
                raise Busy(QUEUE_FULL)
            most = max(1, int(SHARE_OF_ADDRESS * self._max_runs))
            if address and sum(job.address == address for job in active.values()) >= most:
                raise Busy(SHARE_TAKEN.format(most=most))

    def start(self, visitor: str, kind: str, training: Trainable, address: str = "") -> Snapshot:
        """Start a run or put it in the queue, in place of the visitor's earlier one of this kind.

        address: The visitor's network address, for the share; "" if unknown.

        Raises Busy where the visitor has one computing or waiting, the address has its share of them, or the queue is full.
        """
        with self._lock:
            self.check_capacity(visitor, address)
            job = _Job(training, address, before=self._jobs.pop((visitor, kind), None), asked_at=self._clock())
            done = [key for key, other in self._jobs.items() if not other.active]
            done.sort(key=lambda key: (self._jobs[key].dropped_at, self._jobs[key].asked_at))
            for key in done[: max(0, len(self._jobs) + 1 - self._max_runs)]:
                self._drop(key)
            self._jobs[visitor, kind] = job
            self._advance()
            return self._snapshot(visitor, kind)

    def snapshot(self, visitor: str, kind: str) -> Snapshot | None:
        """Return the state of a visitor's run, None without one."""
        with self._lock:
            if job := self._jobs.get((visitor, kind)):
                job.asked_at = self._clock()
            self._advance()
            return self._snapshot(visitor, kind)

    def stop(self, visitor: str, kind: str) -> None:
        """Request that a run stops after its current update and keeps its result; remove a waiting one from the queue."""
        with self._lock:
            job = self._jobs.get((visitor, kind))
            if job is not None and job.state == "waiting":
                del self._jobs[visitor, kind]
                if job.before:
                    self._jobs[visitor, kind] = job.before
            elif job is not None and job.state == "running":
                job.state = "stopping"
                job.stop.set()

    def leave(self, visitor: str, seconds: float) -> None:
        """Drop all runs of a visitor after so many seconds, unless `stay` is called before."""
        with self._lock:
            for (owner, _), job in self._jobs.items():
                if owner == visitor:
                    job.dropped_at = self._clock() + seconds
            self._advance()

    def stay(self, visitor: str) -> None:
        """Keep all runs of a visitor who is back."""
        self.leave(visitor, inf)

    def _waiting(self) -> list[tuple[str, str]]:
        """List waiting runs in their order of start: the first of each address, then the second of each, and so on."""
        runs, turns = Counter[str](), {}
        for key, job in self._jobs.items():
            turns[key] = runs[job.address]
            runs[job.address] += job.active
        return sorted((key for key, job in self._jobs.items() if job.state == "waiting"), key=turns.__getitem__)

    def _snapshot(self, visitor: str, kind: str) -> Snapshot | None:
        job = self._jobs.get((visitor, kind))
        if job is None:
            return None
        ahead = self._waiting().index((visitor, kind)) if job.state == "waiting" else 0
        return Snapshot(kind, job.state, tuple(job.records), None if job.active else job.training, job.problem, ahead)

    def _drop(self, key: tuple[str, str]) -> None:
        self._jobs.pop(key).stop.set()

    def _advance(self) -> None:
        """Drop the runs of visitors who left, and start waiting ones while slots are free."""
        now = self._clock()
        for key in [key for key, job in self._jobs.items() if job.dropped_at <= now]:
            self._drop(key)
        for key in self._waiting()[: max(0, self._limit - self._computing)]:
            job = self._jobs[key]
            job.state, job.before = "running", None
            self._computing += 1
            threading.Thread(target=self._work, args=(job,), name="background-run", daemon=True).start()

    def _work(self, job: _Job) -> None:
        outcome, problem = "failed", UNEXPECTED_END
        try:
            use_one_core()
            use_background_slots(SLOT_PATIENCE_SECONDS)
            stopped = self._take_updates(job)
            outcome, problem = ("stopped" if stopped else "finished"), ""
        except ExplorerError as error:
            problem = str(error)
        finally:
            with self._lock:
                job.state, job.problem = outcome, problem
                self._computing -= 1
                self._advance()

    def _take_updates(self, job: _Job) -> bool:
        """Run to the end or until stopped; return whether it was stopped."""
        updates = job.training.updates()
        try:
            for record in updates:
                with self._lock:
                    job.records.append(record)
                    self._advance()
                if job.stop.wait(REST_SECONDS):
                    break
        finally:
            updates.close()
        return job.stop.is_set()
