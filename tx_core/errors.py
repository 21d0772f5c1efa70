"""The few errors that a page is meant to show: each message says what to do."""

from collections.abc import Hashable, Iterator
from contextlib import contextmanager
from types import TracebackType

NO_MEMORY = "The server has too little memory for this now. Try a shorter text or a smaller model, or try again in a minute."
NO_MEMORY_OF_TORCH = ("can't allocate memory", "out of memory", "_ALLOC_FAILED", "ALLOCATION_FAILED", "calling `cublasCreate(")
"""Parts of torch's messages: it has an error class for the memory of CUDA only. The last three are of cuBLAS and cuDNN, whose
handle cannot be created where the card is full.
"""


class ExplorerError(Exception):
    """The base of all errors with a message for the reader: one sentence that says what to do."""


class TextProblem(ExplorerError):
    """The text cannot be used as it stands: empty, too long, no blank, …"""


class TextMissing(TextProblem):
    """A second text is not written yet, which is no mistake: the message says what to write."""


class TakesLong(TextProblem):
    """What is asked may take long, and is computed only once it is asked for again.

    Attributes:
        asked: What it is, to be asked for; None where it takes too long.
        seconds: How long it may take.
    """

    def __init__(self, message: str, asked: Hashable, seconds: float) -> None:
        super().__init__(message)
        self.asked, self.seconds = asked, seconds


class CheckpointProblem(ExplorerError):
    """A checkpoint on disk is missing, truncated, altered or of another shape."""


class ModelUnavailable(ExplorerError):
    """A model is unavailable now: unknown, not reachable, or not allowed here."""


class ChangeProblem(ExplorerError):
    """An intervention asks for a layer, head or token that this run does not have."""


class Busy(ExplorerError):
    """All compute slots of the host are taken; a later attempt can succeed."""


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
    """A room is unavailable or full, or rejects what was sent."""


class RoomGone(RoomProblem):
    """The room or its member does not exist, or no longer."""


def names_memory(problem: RuntimeError) -> bool:
    """Return whether the class or the message of an error of torch says that memory is full."""
    return type(problem).__name__ == "OutOfMemoryError" or any(words in str(problem) for words in NO_MEMORY_OF_TORCH)


@contextmanager
def memory_checked() -> Iterator[None]:
    """Raise OutOfMemory if Python, numpy or torch fails to allocate memory within the block."""
    try:
        yield
    except MemoryError as problem:
        raise OutOfMemory(NO_MEMORY) from problem
    except RuntimeError as problem:
        if names_memory(problem):
            raise OutOfMemory(NO_MEMORY) from problem
        raise


class Attempt:
    """A context manager that stores any `Exception` of its block in `problem`, for callers that pass it on or retry.

    Interrupts such as KeyboardInterrupt pass through.
    """

    def __init__(self) -> None:
        self.problem: Exception | None = None

    def __enter__(self) -> None:
        self.problem = None

    def __exit__(self, _kind: type | None, problem: BaseException | None, _frames: TracebackType | None) -> bool:
        handed_over = isinstance(problem, Exception)
        self.problem = problem if handed_over else None
        return handed_over
