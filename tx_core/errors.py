"""The few errors that a page is meant to show: each message says what to do."""

from collections.abc import Iterator
from contextlib import contextmanager
from types import TracebackType

NO_MEMORY = "The server has too little memory for this now. Try a shorter text or a smaller model, or try again in a minute."
NO_MEMORY_OF_TORCH = ("can't allocate memory", "out of memory")
"""In torch's messages: it has an error class for the memory of CUDA only."""


class ExplorerError(Exception):
    """Anything that the reader can be told in one sentence and can act upon."""


class TextProblem(ExplorerError):
    """The text cannot be used as it stands: empty, too long, no blank, …"""


class CheckpointProblem(ExplorerError):
    """A checkpoint on disk is missing, truncated, altered or of another shape."""


class ModelUnavailable(ExplorerError):
    """A model cannot be had now: unknown, not reachable, not allowed here."""


class ChangeProblem(ExplorerError):
    """An intervention asks for a layer, head or token that this run does not have."""


class Busy(ExplorerError):
    """The host computes for others at its limit; asking again will work."""


class OutOfMemory(ExplorerError):
    """The host has too little memory for what was asked."""


class SettingsProblem(ExplorerError):
    """An environment variable of the host has a value that is not allowed."""


class LessonProblem(ExplorerError):
    """A lesson cannot be read, or asks for what its text or model does not have; says where and what to do.

    Attributes:
        field: The field of a measure that asks for what is not there; "" for other problems.
    """

    def __init__(self, message: str, field: str = "") -> None:
        super().__init__(message)
        self.field = field


class RoomProblem(ExplorerError):
    """A room of a class cannot be had, is full, or does not take what was sent."""


class RoomGone(RoomProblem):
    """There is no such room, or no such member of it, or not any more."""


@contextmanager
def memory_checked() -> Iterator[None]:
    """Raise OutOfMemory where Python, numpy or torch could not allocate what is asked for within."""
    try:
        yield
    except MemoryError as problem:
        raise OutOfMemory(NO_MEMORY) from problem
    except RuntimeError as problem:
        if any(words in str(problem) for words in NO_MEMORY_OF_TORCH):
            raise OutOfMemory(NO_MEMORY) from problem
        raise


class Attempt:
    """A block that may fail with any error, for whoever hands the error over or tries again: `problem` is what it failed with.

    What interrupts the thread goes through, as everywhere, and so does an error of the class `but`.
    """

    def __init__(self, but: type[Exception] | tuple[()] = ()) -> None:
        self.but = but
        self.problem: Exception | None = None

    def __enter__(self) -> None:
        self.problem = None

    def __exit__(self, _kind: type | None, problem: BaseException | None, _frames: TracebackType | None) -> bool:
        handed_over = isinstance(problem, Exception) and not isinstance(problem, self.but)
        self.problem = problem if handed_over else None
        return handed_over
