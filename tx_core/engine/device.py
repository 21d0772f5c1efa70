"""Where to compute: CUDA, then MPS, then the CPU; the host may set another. And how many at once."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from threading import BoundedSemaphore, Lock, Thread, local

import torch

from tx_core.errors import Busy, ModelUnavailable
from tx_core.settings import allowed, host_settings

PATIENCE_SECONDS = 20.0
PATIENCE_BEHIND = 0.5
"""Seconds that a batch behind the pages waits for its place: whoever stops such work waits as long."""
MAX_BACKGROUND_SLOTS = 2
"""Batches behind the pages, of all visitors together: more would leave nothing of a small host for the pages."""


def places_behind() -> int:
    """Tell how many batches may be computed behind the pages at a time, on the whole host: one a core, few."""
    return min(MAX_BACKGROUND_SLOTS, os.cpu_count() or 1)


_slots = BoundedSemaphore(max(2, (os.cpu_count() or 2)))
_slots_behind = BoundedSemaphore(places_behind())
_thread = local()
_counting = Lock()


def best_device() -> str:
    """Name the device to compute on.

    Raises ModelUnavailable when TX_DEVICE names one that this machine lacks.
    """
    if wanted := host_settings().device:
        return _check_device(wanted)
    if torch.cuda.is_available():
        return "cuda"
    return "mps" if torch.backends.mps.is_available() else "cpu"


def _check_device(wanted: str) -> str:
    try:
        torch.zeros(1, device=wanted)
    except (RuntimeError, AssertionError) as absent:
        raise ModelUnavailable(
            f"TX_DEVICE asks for {wanted!r}, which this machine does not have: set it to {allowed('device')}, or unset it."
        ) from absent
    return wanted


def computes_half(device: str) -> bool:
    """Tell whether the hardware computes bfloat16 itself: where it does not, that is far slower than single precision."""
    if device.startswith("cuda"):
        return torch.cuda.is_bf16_supported(including_emulation=False)
    able = torch.cpu.get_capabilities() if device == "cpu" else {}
    return bool(able.get("avx512_bf16") or able.get("amx_bf16"))


@contextmanager
def computing_slot(patience: float = PATIENCE_SECONDS) -> Iterator[None]:
    """Wait for one of the host's few places to compute in.

    Threads that work behind the pages have places of their own, so that a click finds its place whatever they do.
    Raises Busy when none becomes free in `patience` seconds, in PATIENCE_BEHIND for such threads, or sooner `in_haste`.
    """
    behind = getattr(_thread, "behind", False)
    slots, seconds = (_slots_behind, PATIENCE_BEHIND) if behind else (_slots, patience)
    if not slots.acquire(timeout=min(seconds, getattr(_thread, "haste", seconds))):
        raise Busy("Many people are computing here right now. Wait a few seconds and try again.")
    try:
        yield
    finally:
        slots.release()


@contextmanager
def in_haste(seconds: float) -> Iterator[None]:
    """Let the current thread wait no longer than so many seconds for a place to compute in: what comes later is of no use."""
    _thread.haste = seconds
    try:
        yield
    finally:
        del _thread.haste


def work_behind(cores_shared: bool) -> None:
    """Make the current thread one that works behind the pages; where it shares the cores with its like, it takes one."""
    _thread.behind = True
    if cores_shared:
        use_one_core()


def use_one_core() -> None:
    """Let the current thread compute on one core; all other threads that are there keep what they have.

    Small matrices gain nothing from a second core, and on a busy host threads that wait for one another stand still.
    torch.set_num_threads binds the thread that calls it, and is what threads born later begin with: so one of those
    puts the second part back. A thread that begins to compute in the moment between, less than a millisecond at each
    click on a page that asks for this, begins with one core, too: its sums are the same, only slower on large matrices.
    """
    if getattr(_thread, "one_core", False):
        return
    _thread.one_core = True
    with _counting:  # else another call of this might take the 1 for the usual number, and put that back
        usual = _thread.usual = torch.get_num_threads()
        torch.set_num_threads(1)
        restore = Thread(target=torch.set_num_threads, args=(usual,))
        restore.start()
        restore.join()


def use_all_cores() -> None:
    """Take back `use_one_core` in the current thread, if it was asked for there."""
    if getattr(_thread, "one_core", False):
        _thread.one_core = False
        torch.set_num_threads(_thread.usual)
