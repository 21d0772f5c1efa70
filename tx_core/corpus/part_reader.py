"""Parts of a corpus read in processes of this machine, one core each; reports are yielded in order."""

import os
import signal
from collections import deque
from collections.abc import Generator, Iterable
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context, parent_process
from threading import Thread

import torch

from tx_core.corpus.scan_file import only_named
from tx_core.corpus.sentence_stream import CorpusPart
from tx_core.corpus.statistics import HeadReport, Reading
from tx_core.engine.catalogue import load
from tx_core.engine.device import best_device
from tx_core.errors import OutOfMemory

WORKER_ENDED = (
    "A worker process was ended, which happens when memory runs out. What was read is kept: start the same command again, "
    "with fewer --workers."
)


def default_workers() -> int:
    """Return the default number of processes: the available cores, or 1 if a graphics card computes."""
    if best_device() != "cpu":
        return 1
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def read_part(model: str, half: bool, part: CorpusPart) -> HeadReport:
    """Read the sentences of a part, in one thread; the model stays loaded for the next one."""
    reading = Reading(load(model), part.sentences, half=half)
    for _ in reading.updates(threads=1):
        pass
    return only_named(reading.result())


def read_in_processes(model: str, half: bool, parts: Iterable[CorpusPart], workers: int) -> Generator[HeadReport, None, None]:
    """Yield the report of each part, in order. At most two parts per worker are in memory.

    Raises OutOfMemory when a worker process dies.
    """
    pool = ProcessPoolExecutor(workers, get_context("spawn"), start_worker)
    waiting: deque[Future[HeadReport]] = deque()
    try:
        for part in parts:
            waiting.append(pool.submit(read_part, model, half, part))
            if len(waiting) >= 2 * workers:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    except BrokenProcessPool as ended:
        raise OutOfMemory(WORKER_ENDED) from ended
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
