"""The loop of every training on a page: batch by batch, with a record after each."""

import time
from collections.abc import Callable, Generator
from typing import Any, Protocol

import torch
from torch import nn

from tx_core.engine.device import free_device_memory, sole_use
from tx_core.engine.device_limits import device_limits
from tx_core.engine.progress import Progress
from tx_core.errors import TextProblem, names_memory


class BatchTraining(Protocol):
    """What the loop needs of a training.

    model, optimiser: of one that may compute on a card. batches: batches of the whole run. done: how many of them the model has
    been trained on.
    """

    model: nn.Module
    optimiser: torch.optim.Optimizer
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


def move_to_cpu(training: BatchTraining) -> None:
    """Go on with a training on the CPU: its model, and what its optimiser has gathered."""
    training.optimiser.zero_grad()
    training.model.to("cpu")
    training.optimiser.load_state_dict(training.optimiser.state_dict())  # moves what it gathered to where the weights are
    training.device = "cpu"
    free_device_memory()


def train(training: BatchTraining, train_batch: Callable[[Any], dict[str, float]]) -> Generator[Progress, None, None]:
    """Train batch by batch, yielding a record after each, until all are done.

    train_batch: trains on the next batch and returns what was measured of it. Where a card is full, the batch is repeated on the
    CPU, and so are those that follow.
    """
    began = time.monotonic()
    while training.done < training.batches:
        with sole_use(training.device):
            try:
                values = train_batch(training)
            except RuntimeError as problem:
                if training.device == "cpu" or not names_memory(problem):
                    raise
                move_to_cpu(training)
                continue
            training.done += 1
            probe, test = training.probe_and_test()
        yield Progress(training.done, training.batches, time.monotonic() - began, values, probe, test)
