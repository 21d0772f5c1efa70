"""Compute slots: how many computations run at once on this host, for pages and in the background. Imports no torch."""

from collections.abc import Iterator
from contextlib import contextmanager
from threading import BoundedSemaphore, Lock, local

from tx_core.errors import Busy
from tx_core.settings import host_settings

BACKGROUND_TIMEOUT_SECONDS = 0.5
"""How long a background thread waits for a slot: whoever stops it waits as long."""
BUSY = "Many people are computing here right now. Wait a few seconds and try again."

_page_slots = BoundedSemaphore(host_settings().compute_slots)
_background_slots = BoundedSemaphore(host_settings().background_slots)
_thread = local()
_counts = {"waiting": 0, "computing": 0}
"""Computations for pages, those in the background not counted."""
_counts_lock = Lock()


@contextmanager
def compute_slot(timeout: float | None = None) -> Iterator[None]:
    """Hold one of the host's compute slots, waiting for it first.

    Background threads (`use_background_slots`) have slots of their own, so that a page finds one whatever they do.

    timeout: seconds to wait; by default what the host sets, or what `slot_timeout` or `use_background_slots` gives the thread.
    Raises Busy when no slot becomes free in time.
    """
    usual, background = patience()
    slots = _background_slots if background else _page_slots
    timeout = usual if timeout is None else timeout
    with _counted("waiting", not background):
        found = slots.acquire(timeout=timeout)
    if not found:
        raise Busy(BUSY)
    try:
        with _counted("computing", not background):
            yield
    finally:
        slots.release()


def patience() -> tuple[float, bool]:
    """Say how many seconds the current thread waits for a slot, and whether it computes in the background."""
    background = getattr(_thread, "background", False)
    usual = BACKGROUND_TIMEOUT_SECONDS if background else host_settings().slot_timeout_seconds
    return min(usual, getattr(_thread, "timeout", usual)), background


@contextmanager
def _counted(state: str, for_page: bool) -> Iterator[None]:
    """Count a computation in `_counts` for as long as the block runs."""
    with _counts_lock:
        _counts[state] += for_page
    try:
        yield
    finally:
        with _counts_lock:
            _counts[state] -= for_page


def page_slots_in_use() -> int:
    """Count the computations that pages run now."""
    return _counts["computing"]


def pages_waiting() -> int:
    """Count the pages that wait for a compute slot."""
    return _counts["waiting"]


@contextmanager
def slot_timeout(seconds: float) -> Iterator[None]:
    """Limit how long the current thread waits for a compute slot: a late result would be of no use."""
    outer = getattr(_thread, "timeout", None)
    _thread.timeout = seconds if outer is None else min(seconds, outer)
    try:
        yield
    finally:
        if outer is None:
            del _thread.timeout
        else:
            _thread.timeout = outer


def use_background_slots() -> None:
    """Make the current thread compute in background slots from now on."""
    _thread.background = True
