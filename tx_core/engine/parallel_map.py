"""Several batches at once, a core each, and their results in the order in which the batches came."""

from collections import deque
from collections.abc import Callable, Generator, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

from tx_core.engine.device import places_behind, work_behind

Item = TypeVar("Item")
Result = TypeVar("Result")


def at_once(device: str) -> int:
    """Tell how many batches to compute at once: one a core on the CPU; a card is filled by one already."""
    return places_behind() if device == "cpu" else 1


def results_in_order(
    work: Callable[[Item], Result | None], items: Iterable[Item], workers: int
) -> Generator[tuple[Item, Result | None], None, None]:
    """Give every item with its result, and no more than one item waiting while all workers are busy.

    A result of None says that the item could not be worked on for now: it is given so, and then tried again. Two threads
    of one core each do more than one of two cores: each of the many small steps of a model would wait for both cores.
    They compute in places behind the pages (`device.places_behind`), a batch at a time: those of all calls together are
    no more than of one, and a page never waits for them to find its place. They do not rest while the caller does.
    """
    pool = ThreadPoolExecutor(workers, "batches", work_behind, (workers > 1,))
    waiting: deque[tuple[Item, Future[Result | None]]] = deque()
    try:
        for item in items:
            waiting.append((item, pool.submit(work, item)))
            if len(waiting) > workers:
                yield from _settled(pool, work, *waiting.popleft())
        while waiting:
            yield from _settled(pool, work, *waiting.popleft())
    finally:
        pool.shutdown(cancel_futures=True)


def _settled(
    pool: ThreadPoolExecutor, work: Callable[[Item], Result | None], item: Item, future: Future[Result | None]
) -> Generator[tuple[Item, Result | None], None, None]:
    while (result := future.result()) is None:
        yield item, None
        future = pool.submit(work, item)
    yield item, result
