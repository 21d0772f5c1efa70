"""Training behind the page: one run a visitor, a few on the host, the next ones in a queue; none outlives its visitor."""

import threading
import time
from collections.abc import Callable
from typing import Any

from tx_core.errors import Busy, ExplorerError
from tx_core.training.job import Job, Snapshot, Trainable


class Registry:
    """All trainings of one process, by visitor and kind.

    limit: how many may run at once on the host. seconds: how long a visitor may be away, not asking for a
    snapshot, before what is theirs is stopped and forgotten. kept: how many runs are remembered at the most,
    running ones included; beyond that, the one unseen for longest goes first. pause: seconds that every run rests
    after a step, so that pages stay quick beside it; a run with threads of its own (`several_at_once`) is bounded there.
    queue: how many more may wait for their turn; they begin by themselves, first come, first served. patience: how many
    seconds one of them may be away, not asking, before the place is given up; what the visitor had before is still there.
    """

    def __init__(
        self,
        *,
        limit: int,
        seconds: float = 300.0,
        kept: int = 32,
        pause: float = 0.0,
        queue: int = 0,
        patience: float = 20.0,
        clock: Callable[[], float] = time.monotonic,
    ):
        self._limit, self._seconds, self._kept, self._pause, self._clock = limit, seconds, kept, pause, clock
        self._queue, self._patience = queue, patience
        self._jobs: dict[tuple[str, str], Job] = {}
        self._waiting: dict[tuple[str, str], Job] = {}  # first come, first served; what a visitor had stays in _jobs meanwhile
        self._given_up: dict[tuple[str, str], float] = {}  # when a place was lost by being away, until it is told
        # Threads told to stop that still finish their step: they count as running until they have.
        self._leaving: list[threading.Thread] = []
        self._lock = threading.Lock()

    def start(self, visitor: str, kind: str, training: Trainable) -> Snapshot:
        """Start a training, or let it wait for its turn, in place of the visitor's earlier one of this kind.

        Raises Busy when the visitor has one running or waiting, or the queue is full.
        """
        with self._lock:
            self._check_room(visitor)
            return self._admit(visitor, Job(kind, training, seen=self._clock()))

    def go_on(self, visitor: str, kind: str) -> Snapshot | None:
        """Train a stopped training on from where it stands, its records kept; None where none was stopped.

        Raises Busy as `start` does.
        """
        with self._lock:
            self._check_room(visitor)
            job = self._jobs.get((visitor, kind))
            if job is None or job.state != "stopped":
                return None
            return self._admit(visitor, Job(kind, job.training, seen=self._clock(), records=job.records))

    def check_room(self, visitor: str) -> None:
        """Raise Busy where `start` would: ask before fetching what a training needs."""
        with self._lock:
            self._check_room(visitor)

    def snapshot(self, visitor: str, kind: str) -> Snapshot | None:
        """Look at a visitor's training without touching it; None where there is none. Shows that the visitor is there."""
        with self._lock:
            for job in (self._jobs.get((visitor, kind)), self._waiting.get((visitor, kind))):
                if job is not None:
                    job.seen = self._clock()
            self._reap()
            return self._look(visitor, kind)

    def stop(self, visitor: str, kind: str) -> None:
        """Ask a training to stop after its current step, what it has learned stays; one that waits leaves the queue."""
        with self._lock:
            self._waiting.pop((visitor, kind), None)
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
            found = self._look(visitor, kind)
            if found is not None and found.running:
                raise Busy("Your training is still running. Stop it first.")
            job = Job(kind, training, seen=self._clock(), records=list(records), state="stopped")
            self._jobs[visitor, kind] = job
            self._forget_oldest()
            return job.look()

    def forget(self, visitor: str) -> None:
        """Stop and drop all that a visitor has."""
        with self._lock:
            for places in (self._waiting, self._given_up):
                for key in [key for key in places if key[0] == visitor]:
                    del places[key]
            for key in [key for key in self._jobs if key[0] == visitor]:
                self._drop(key)
            self._begin_waiting()

    def gave_up(self, visitor: str, kind: str) -> bool:
        """Tell, once, whether a visitor's training lost its place in the queue because the visitor was away."""
        with self._lock:
            self._reap()
            return self._given_up.pop((visitor, kind), None) is not None

    @property
    def running(self) -> int:
        """How many trainings compute at this moment; those that wait are not counted."""
        with self._lock:
            self._reap()
            return self._running()

    def _check_room(self, visitor: str) -> None:
        self._reap()
        if any(owner == visitor and self._look(owner, kind).running for owner, kind in (*self._jobs, *self._waiting)):
            raise Busy("You already have a training running, or a reading of many sentences. Stop it, or wait until it is done.")
        if self._running() >= self._limit and len(self._waiting) >= self._queue:
            raise Busy("This server is training for other visitors, or reading for them, at its limit. Try again in a minute.")

    def _admit(self, visitor: str, job: Job) -> Snapshot:
        self._given_up.pop((visitor, job.kind), None)
        if self._running() < self._limit:
            return self._run(visitor, job)
        self._waiting[visitor, job.kind] = job
        return self._look(visitor, job.kind)

    def _begin_waiting(self) -> None:
        while self._waiting and self._running() < self._limit:
            key = next(iter(self._waiting))
            self._run(key[0], self._waiting.pop(key))

    def _look(self, visitor: str, kind: str) -> Snapshot | None:
        key = visitor, kind
        if key in self._waiting:
            return Snapshot(kind, "waiting", tuple(self._waiting[key].records), None, "", list(self._waiting).index(key))
        return self._jobs[key].look() if key in self._jobs else None

    def _run(self, visitor: str, job: Job) -> Snapshot:
        job.seen = self._clock()
        job.thread = threading.Thread(target=self._work, args=(job,), name=f"training-{job.kind}", daemon=True)
        self._jobs[visitor, job.kind] = job
        self._forget_oldest()
        job.thread.start()
        return job.look()

    def _work(self, job: Job) -> None:
        from tx_core.engine.device import use_one_core  # imports torch: a page that only looks does not wait for it

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
                self._leaving = [thread for thread in self._leaving if thread is not job.thread]
                self._reap()

    def _running(self) -> int:
        self._leaving = [thread for thread in self._leaving if thread.is_alive()]
        return len(self._leaving) + sum(job.state in ("running", "stopping") for job in self._jobs.values())

    def _reap(self) -> None:
        now = self._clock()
        for key in [key for key, job in self._waiting.items() if job.seen < now - self._patience]:
            del self._waiting[key]
            self._given_up[key] = now
        for key in [key for key, told in self._given_up.items() if told < now - self._seconds]:
            del self._given_up[key]
        for key in [key for key, job in self._jobs.items() if job.seen < now - self._seconds]:
            self._drop(key)
        self._begin_waiting()

    def _forget_oldest(self) -> None:
        while len(self._jobs) > self._kept:
            self._drop(min(self._jobs, key=lambda key: self._jobs[key].seen))

    def _drop(self, key: tuple[str, str]) -> None:
        job = self._jobs.pop(key)
        job.stop.set()
        if job.thread is not None and job.thread.is_alive():
            self._leaving.append(job.thread)
