"""Where to compute: CUDA, then MPS, then the CPU; TX_DEVICE overrides. And how many at once."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from threading import BoundedSemaphore, Lock, Thread

import torch

from tx_core.errors import Busy, ModelUnavailable

PATIENCE_SECONDS = 20.0
_slots = BoundedSemaphore(max(2, (os.cpu_count() or 2)))
_counting = Lock()


def best_device() -> str:
    """Name the device to compute on.

    Raises ModelUnavailable when TX_DEVICE names one that this machine lacks.
    """
    wanted = os.environ.get("TX_DEVICE", "").strip().lower()
    if wanted:
        return _check_device(wanted)
    if torch.cuda.is_available():
        return "cuda"
    return "mps" if torch.backends.mps.is_available() else "cpu"


def _check_device(wanted: str) -> str:
    try:
        torch.zeros(1, device=wanted)
    except (RuntimeError, AssertionError) as absent:
        raise ModelUnavailable(
            f"TX_DEVICE asks for {wanted!r}, which this machine does not have: set it to cpu, cuda or mps, or unset it."
        ) from absent
    return wanted


@contextmanager
def computing_slot(patience: float = PATIENCE_SECONDS) -> Iterator[None]:
    """Wait for one of the host's few places to compute in.

    Raises Busy when none becomes free in `patience` seconds.
    """
    if not _slots.acquire(timeout=patience):
        raise Busy("Many people are computing here right now. Wait a few seconds and try again.")
    try:
        yield
    finally:
        _slots.release()


def use_one_core() -> None:
    """Let the current thread compute on one core; all other threads keep what they have.

    Small matrices gain nothing from a second core, and on a busy host threads that wait for one another stand still.
    torch.set_num_threads binds the thread that calls it, and is what threads born later begin with: so one of those
    puts the second part back.
    """
    with _counting:  # else another thread might take the 1 for the usual number, and put that back
        usual = torch.get_num_threads()
        torch.set_num_threads(1)
        restore = Thread(target=torch.set_num_threads, args=(usual,))
        restore.start()
        restore.join()
