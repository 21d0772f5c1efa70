"""How far long work is: the one record that trainings, readings of sentences and scans of heads yield."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Progress:
    """How far a run in the background is.

    done, total: batches of a training, sentences of a reading, runs of the model of a scan. values: what was measured of a batch,
    by name, such as its loss in nats. probe: what the model makes of the probe of a training, at the moments that are kept. test:
    the score on test texts, at the end of an epoch.
    """

    done: int
    total: int
    seconds: float
    values: Mapping[str, float] = field(default_factory=dict)
    probe: Any = None
    test: Any = None
