"""The few errors that a page is meant to show: each message says what to do."""


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


class SettingsProblem(ExplorerError):
    """An environment variable of the host has a value that is not allowed."""


class LessonProblem(ExplorerError):
    """A lesson cannot be read, or asks for what its text or model does not have; says where and what to do."""
