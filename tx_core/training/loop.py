"""The loop of every training on a page: batch by batch, with a record after each."""

import time
from collections.abc import Callable, Generator
from typing import Any, Protocol

from tx_core.engine.device import sole_use
from tx_core.engine.device_limits import device_limits
from tx_core.engine.progress import Progress
from tx_core.errors import TextProblem


class BatchTraining(Protocol):
    """What the loop needs of a training.

    batches: batches of the whole run. done: how many of them the model has been trained on.
    """

    device: str
    batches: int
    done: int

    def probe_and_test(self) -> tuple[Any, Any]:
        """Return probe and test of the batch that is done, None where it has none."""


def check_work(work: float, device: str) -> None:
    """Raise TextProblem where a run of so many multiply-adds would take too long on a device."""
    if work > (limit := device_limits(device).multiply_adds):
        raise TextProblem(
            f"This run is {work / limit:.1f} times as long as this server allows. Choose fewer batches or epochs, shorter or "
            "fewer texts, or a smaller model."
        )


def train(training: BatchTraining, train_batch: Callable[[Any], dict[str, float]]) -> Generator[Progress, None, None]:
    """Train batch by batch, yielding a record after each, until all are done.

    train_batch: trains on the next batch and returns what was measured of it.
    """
    began = time.monotonic()
    while training.done < training.batches:
        with sole_use(training.device):
            values = train_batch(training)
            training.done += 1
            probe, test = training.probe_and_test()
        yield Progress(training.done, training.batches, time.monotonic() - began, values, probe, test)
