"""Parts of a corpus read in processes of this machine, one core each, or by actors on a Ray cluster; reports come in order."""

import os
import signal
from collections import deque
from collections.abc import Callable, Generator, Iterable
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context, parent_process
from threading import Thread

import torch

from tx_core.corpus.scan_file import only_named
from tx_core.corpus.sentence_file import Sentences
from tx_core.corpus.statistics import HeadReport, Reading
from tx_core.engine.catalogue import load
from tx_core.engine.device import best_device
from tx_core.errors import OutOfMemory
from tx_core.settings import CORES


def default_workers() -> int:
    """Return the default number of processes: the available cores, or 1 if a graphics card computes."""
    return CORES if best_device() == "cpu" else 1


def read_part(model: str, half: bool, part: Sentences) -> HeadReport:
    """Read the sentences of a part, in one thread; the model stays loaded for the next one."""
    reading = Reading(load(model), part, half=half, words=False)
    for _ in reading.updates(threads=1):
        pass
    return only_named(reading.result())


def in_order(
    submit: Callable[[Sentences], Callable[[], HeadReport]], parts: Iterable[Sentences], workers: int
) -> Generator[HeadReport, None, None]:
    """Yield the report of each part, in order. At most two parts per worker are in memory.

    submit: begins to read a part, and returns what waits for its report.
    """
    waiting: deque[Callable[[], HeadReport]] = deque()
    for part in parts:
        waiting.append(submit(part))
        if len(waiting) >= 2 * workers:
            yield waiting.popleft()()
    while waiting:
        yield waiting.popleft()()


def read_in_processes(model: str, half: bool, parts: Iterable[Sentences], workers: int) -> Generator[HeadReport, None, None]:
    """Yield the report of each part, in order. Raises OutOfMemory when a worker process dies."""
    pool = ProcessPoolExecutor(workers, get_context("spawn"), start_worker)
    try:
        yield from in_order(lambda part: pool.submit(read_part, model, half, part).result, parts, workers)
    except BrokenProcessPool as ended:
        raise OutOfMemory(
            "A worker process was ended, which happens when memory runs out. What was read is kept: start the same command "
            "again, with fewer --workers."
        ) from ended
    finally:
        pool.shutdown(cancel_futures=True)


def start_worker() -> None:
    """Restrict a worker to one core, and make it exit when its parent process dies for any reason."""
    torch.set_num_threads(1)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent_process().join()
    os._exit(1)
