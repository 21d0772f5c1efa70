"""A training in the background, and a look at it."""

import threading
from collections.abc import Generator
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, runtime_checkable

State = Literal["waiting", "running", "stopping", "stopped", "finished", "failed"]


@runtime_checkable
class Trainable(Protocol):
    """What can run in the background: it yields one frozen record a step; a training goes on where it was stopped."""

    def steps(self) -> Generator[Any, None, None]: ...


@dataclass(frozen=True)
class Snapshot:
    """A look at a job: what it has reported so far, and how it stands.

    result: the training itself, once nothing changes it any more; None while it runs or waits.
    problem: a sentence for the reader where it failed. before: how many others begin first, while it waits.
    """

    kind: str
    state: State
    records: tuple[Any, ...]
    result: Any
    problem: str
    before: int = 0

    @property
    def running(self) -> bool:
        """Whether the training still computes, or waits for its turn to."""
        return self.state in ("waiting", "running", "stopping")


@dataclass
class Job:
    """A run and its thread. Only the registry of `background` touches it, under its lock."""

    kind: str
    training: Trainable
    seen: float
    records: list[Any] = field(default_factory=list)
    state: State = "running"
    problem: str = ""
    stop: threading.Event = field(default_factory=threading.Event)
    thread: threading.Thread | None = None

    def look(self) -> Snapshot:
        """Give what its visitor may see of it."""
        result = None if self.state in ("running", "stopping") else self.training
        return Snapshot(self.kind, self.state, tuple(self.records), result, self.problem)
