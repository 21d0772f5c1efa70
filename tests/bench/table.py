"""One line of the table of measured numbers."""

from typing import NamedTuple


class Row(NamedTuple):
    """What was measured, what came out, what the design allows, and whether that was kept."""

    what: str
    measured: str
    at_most: str
    kept: bool
