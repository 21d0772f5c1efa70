"""Training behind the page: one run a visitor, a few on the host, each stoppable, none outliving its visitor."""

import threading
import time
from collections.abc import Callable, Generator
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, runtime_checkable

from tx_core.errors import Busy, ExplorerError

State = Literal["running", "stopping", "stopped", "finished", "failed"]


@runtime_checkable
class Trainable(Protocol):
    """What can run in the background: it yields one frozen record a step; a training goes on where it was stopped."""

    def steps(self) -> Generator[Any, None, None]: ...


@dataclass(frozen=True)
class Snapshot:
    """A look at a job: what it has reported so far, and how it stands.

    result: the training itself, once nothing changes it any more; None while it runs.
    problem: a sentence for the reader where it failed.
    """

    kind: str
    state: State
    records: tuple[Any, ...]
    result: Any
    problem: str

    @property
    def running(self) -> bool:
        """Whether the training still computes."""
        return self.state in ("running", "stopping")


@dataclass
class _Job:
    """A run and its thread. Only the registry touches it, under its lock."""

    kind: str
    training: Trainable
    seen: float
    records: list[Any] = field(default_factory=list)
    state: State = "running"
    problem: str = ""
    stop: threading.Event = field(default_factory=threading.Event)
    thread: threading.Thread | None = None


class Registry:
    """All trainings of one process, by visitor and kind.

    limit: how many may run at once on the host. seconds: how long a visitor may be away, not asking for a
    snapshot, before what is theirs is stopped and forgotten. kept: how many runs are remembered at the most,
    running ones included; beyond that, the one unseen for longest goes first. pause: seconds that every run rests
    after a step, so that pages stay quick beside it; a run with threads of its own (`several_at_once`) is bounded there.
    """

    def __init__(self, *, limit: int, seconds: float = 300.0, kept: int = 32, pause: float = 0.0,
                 clock: Callable[[], float] = time.monotonic):  # fmt: skip
        self._limit, self._seconds, self._kept, self._pause, self._clock = limit, seconds, kept, pause, clock
        self._jobs: dict[tuple[str, str], _Job] = {}
        # Threads told to stop that still finish their step: they count as running until they have.
        self._leaving: list[threading.Thread] = []
        self._lock = threading.Lock()

    def start(self, visitor: str, kind: str, training: Trainable) -> Snapshot:
        """Start a training, in place of the visitor's earlier one of this kind.

        Raises Busy when the visitor has one running, or the host as many as it can bear.
        """
        with self._lock:
            self._check_room(visitor)
            return self._run(visitor, _Job(kind, training, seen=self._clock()))

    def go_on(self, visitor: str, kind: str) -> Snapshot | None:
        """Train a stopped training on from where it stands, its records kept; None where none was stopped.

        Raises Busy as `start` does.
        """
        with self._lock:
            self._check_room(visitor)
            job = self._jobs.get((visitor, kind))
            if job is None or job.state != "stopped":
                return None
            return self._run(visitor, _Job(kind, job.training, seen=self._clock(), records=job.records))

    def check_room(self, visitor: str) -> None:
        """Raise Busy where `start` would: ask before fetching what a training needs."""
        with self._lock:
            self._check_room(visitor)

    def snapshot(self, visitor: str, kind: str) -> Snapshot | None:
        """Look at a visitor's training without touching it; None where there is none. Shows that the visitor is there."""
        with self._lock:
            job = self._jobs.get((visitor, kind))
            if job is not None:
                job.seen = self._clock()
            self._reap()
            return None if job is None else _look(job)

    def stop(self, visitor: str, kind: str) -> None:
        """Ask a training to stop after its current step; what it has learned stays."""
        with self._lock:
            job = self._jobs.get((visitor, kind))
            if job is not None and job.state == "running":
                job.state = "stopping"
                job.stop.set()

    def keep(self, visitor: str, kind: str, training: Trainable, records: tuple[Any, ...] = ()) -> Snapshot:
        """Put a training in place that was loaded from a file, as one that was stopped.

        Raises Busy while the visitor's training of this kind still runs.
        """
        with self._lock:
            self._reap()
            job = self._jobs.get((visitor, kind))
            if job is not None and job.state in ("running", "stopping"):
                raise Busy("Your training is still running. Stop it first.")
            job = _Job(kind, training, seen=self._clock(), records=list(records), state="stopped")
            self._jobs[visitor, kind] = job
            self._forget_oldest()
            return _look(job)

    def forget(self, visitor: str) -> None:
        """Stop and drop all that a visitor has."""
        with self._lock:
            for key in [key for key in self._jobs if key[0] == visitor]:
                self._drop(key)

    @property
    def running(self) -> int:
        """How many trainings compute at this moment."""
        with self._lock:
            self._reap()
            return self._running()

    def _check_room(self, visitor: str) -> None:
        self._reap()
        if any(owner == visitor and job.state in ("running", "stopping") for (owner, _), job in self._jobs.items()):
            raise Busy("You already have a training running, or a reading of many sentences. Stop it, or wait until it is done.")
        if self._running() >= self._limit:
            raise Busy("This server is training for other visitors, or reading for them, at its limit. Try again in a minute.")

    def _run(self, visitor: str, job: _Job) -> Snapshot:
        job.thread = threading.Thread(target=self._work, args=(job,), name=f"training-{job.kind}", daemon=True)
        self._jobs[visitor, job.kind] = job
        self._forget_oldest()
        job.thread.start()
        return _look(job)

    def _work(self, job: _Job) -> None:
        from tx_core.device import use_one_core  # imports torch: a page that only looks does not wait for it

        use_one_core()
        outcome, problem = "failed", "This broke off. Start it again; if that happens twice, choose other sizes or fewer texts."
        steps = job.training.steps()
        try:
            for record in steps:
                with self._lock:
                    job.records.append(record)
                if job.stop.wait(self._pause):
                    break
            outcome, problem = ("stopped" if job.stop.is_set() else "finished"), ""
        except ExplorerError as told:
            problem = str(told)
        finally:
            steps.close()
            with self._lock:
                job.state, job.problem = outcome, problem

    def _running(self) -> int:
        self._leaving = [thread for thread in self._leaving if thread.is_alive()]
        return len(self._leaving) + sum(job.state in ("running", "stopping") for job in self._jobs.values())

    def _reap(self) -> None:
        away = self._clock() - self._seconds
        for key in [key for key, job in self._jobs.items() if job.seen < away]:
            self._drop(key)

    def _forget_oldest(self) -> None:
        while len(self._jobs) > self._kept:
            self._drop(min(self._jobs, key=lambda key: self._jobs[key].seen))

    def _drop(self, key: tuple[str, str]) -> None:
        job = self._jobs.pop(key)
        job.stop.set()
        if job.thread is not None and job.thread.is_alive():
            self._leaving.append(job.thread)


def _look(job: _Job) -> Snapshot:
    over = job.state not in ("running", "stopping")
    return Snapshot(job.kind, job.state, tuple(job.records), job.training if over else None, job.problem)
