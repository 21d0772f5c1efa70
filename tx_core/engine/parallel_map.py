"""A map over batches in several threads, one core each, with results in the order of the batches."""

from collections import deque
from collections.abc import Callable, Generator, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

from tx_core.engine.device import use_one_core
from tx_core.engine.slots import use_background_slots
from tx_core.settings import host_settings

Item = TypeVar("Item")
Result = TypeVar("Result")


def worker_count(device: str) -> int:
    """Return how many batches to compute at once: one per background slot on the CPU; one fills a graphics card."""
    return host_settings().background_slots if device == "cpu" else 1


def parallel_map(
    work: Callable[[Item], Result | None], items: Iterable[Item], workers: int
) -> Generator[tuple[Item, Result | None], None, None]:
    """Yield every item with its result, in order; at most one item waits while all workers are busy.

    A result of None means that the item could not be computed now: it is yielded so, and tried again. Two threads of one
    core each do more than one of two cores, since every small step of a model would wait for both. Workers compute in
    background slots: those of all calls together are bounded, and pages never wait for them. They go on while the caller rests.
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
