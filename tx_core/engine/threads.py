"""Compute slots, which limit concurrent computations; cores per thread; and a parallel map. Imports no torch."""

import os
import sys
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from importlib import import_module
from threading import BoundedSemaphore, Lock, local
from typing import TypeVar

from tx_core.errors import Busy
from tx_core.settings import host_settings

BACKGROUND_TIMEOUT_SECONDS = 0.5
"""How long a background thread waits for a slot, and so how long stopping it can take."""
BUSY = "Many people are computing here right now. Wait a few seconds and try again."

_page_slots = BoundedSemaphore(host_settings().compute_slots)
_background_slots = BoundedSemaphore(host_settings().background_slots)
_thread = local()
_counts = {"waiting": 0, "computing": 0}
"""Computations for pages, those in the background not counted."""
_counts_lock = Lock()
_thread_count = Lock()
_other_thread = ThreadPoolExecutor(1, "thread-count")
"""The thread that `use_one_core` needs, reused because starting one costs more than the rest of that function."""
Item = TypeVar("Item")
Result = TypeVar("Result")


@contextmanager
def compute_slot(timeout: float | None = None) -> Iterator[None]:
    """Wait for one of the host's compute slots and hold it within the block.

    Background threads (`use_background_slots`) have separate slots, so that they never block a page.

    timeout: seconds to wait; by default the thread's (`slot_timeout`, `use_background_slots`), else the host's setting.
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
    """Return how many seconds the current thread waits for a slot, and whether it computes in the background."""
    background = getattr(_thread, "background", False)
    own = getattr(_thread, "patience", None) or BACKGROUND_TIMEOUT_SECONDS
    usual = own if background else host_settings().slot_timeout_seconds
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
    """Return the number of computations that pages run now."""
    return _counts["computing"]


def pages_waiting() -> int:
    """Return the number of pages that wait for a compute slot."""
    return _counts["waiting"]


@contextmanager
def slot_timeout(seconds: float) -> Iterator[None]:
    """Limit how long the current thread waits for a compute slot within the block."""
    outer = getattr(_thread, "timeout", None)
    _thread.timeout = seconds if outer is None else min(seconds, outer)
    try:
        yield
    finally:
        if outer is None:
            del _thread.timeout
        else:
            _thread.timeout = outer


def use_background_slots(seconds: float | None = None) -> None:
    """Make this thread compute in background slots from now on. seconds: how long it waits for one, a moment by default."""
    _thread.background, _thread.patience = True, seconds


def use_one_core() -> None:
    """Make torch compute on one core in the current thread only.

    Small matrices gain nothing from a second core, and on a busy host the threads of one operation wait for each other.
    torch.set_num_threads sets the count of the calling thread and also the default of threads started later, so a second
    thread restores the default. A thread that starts to compute in between, less than a millisecond, gets one core, too: its
    results are the same, only slower on large matrices. Without torch, or while another thread imports it, this does nothing.
    """
    torch = sys.modules.get("torch")
    if not hasattr(torch, "set_num_threads") or getattr(_thread, "one_core", False):
        return
    _thread.one_core = True
    with _thread_count:  # else a concurrent call could read the 1 as the default, and restore that
        usual = _thread.usual = torch.get_num_threads()
        torch.set_num_threads(1)
        _other_thread.submit(torch.set_num_threads, usual).result()


def use_all_cores() -> None:
    """Undo `use_one_core` in the current thread, if it was called there."""
    if getattr(_thread, "one_core", False):
        _thread.one_core = False
        import_module("torch").set_num_threads(_thread.usual)


def core_count() -> int:
    """Return on how many cores torch computes in the current thread."""
    torch = sys.modules.get("torch")
    return torch.get_num_threads() if hasattr(torch, "get_num_threads") else os.cpu_count() or 1


@contextmanager
def one_core() -> Iterator[None]:
    """Compute on one core within the block."""
    before = getattr(_thread, "one_core", False)
    use_one_core()
    try:
        yield
    finally:
        if not before:
            use_all_cores()


def worker_count(device: str) -> int:
    """Return the number of batches to compute at once: one per background slot on the CPU, one on a graphics card."""
    return host_settings().background_slots if device == "cpu" else 1


def parallel_map(
    work: Callable[[Item], Result | None], items: Iterable[Item], workers: int
) -> Generator[tuple[Item, Result | None], None, None]:
    """Yield every item with its result, in order; at most one item is read ahead while all workers are busy.

    A result of None means that the host was busy: it is yielded, and the item is tried again. Two threads with one core each
    are faster than one with two cores, because every small operation would synchronise both. Workers use background slots,
    which bound all calls together and never block pages. They continue while the caller is suspended.
    """
    pool = ThreadPoolExecutor(workers, "batches", _start_worker, (workers > 1,))
    waiting: deque[tuple[Item, Future[Result | None]]] = deque()
    try:
        for item in items:
            waiting.append((item, pool.submit(work, item)))
            if len(waiting) > workers:
                yield from _results(pool, work, *waiting.popleft())
        while waiting:
            yield from _results(pool, work, *waiting.popleft())
    finally:
        pool.shutdown(cancel_futures=True)


def _start_worker(one_core: bool) -> None:
    use_background_slots()
    if one_core:
        use_one_core()


def _results(
    pool: ThreadPoolExecutor, work: Callable[[Item], Result | None], item: Item, future: Future[Result | None]
) -> Generator[tuple[Item, Result | None], None, None]:
    while (result := future.result()) is None:
        yield item, None
        future = pool.submit(work, item)
    yield item, result
