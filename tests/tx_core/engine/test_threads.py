"""How threads compute: on one core or all, one batch after another or several at once."""

import threading
from contextlib import closing
from threading import Thread

import pytest
import torch

from tx_core.engine import threads
from tx_core.engine.threads import parallel_map, use_all_cores, use_one_core
from tx_core.errors import Busy


def test_a_thread_takes_one_core_and_then_all_of_its_own_again():
    usual, seen = torch.get_num_threads(), []

    def work() -> None:
        for take in (use_all_cores, use_one_core, use_one_core, use_all_cores, use_one_core):
            take()
            seen.append(torch.get_num_threads())

    torch.set_num_threads(3)
    try:
        worker = Thread(target=work)
        worker.start()
        worker.join()
        assert seen == [3, 1, 1, 3, 1]
        assert torch.get_num_threads() == 3
    finally:
        torch.set_num_threads(usual)


def test_no_more_is_taken_than_is_worked_on_and_one_that_waits():
    taken, workers = [], 2
    items = (taken.append(item) or item for item in range(20))
    for given, _ in enumerate(parallel_map(lambda item: item, items, workers), 1):
        assert len(taken) <= given + workers


def test_a_problem_reaches_the_caller_and_no_worker_stays():
    def work(item: int) -> int:
        if item == 2:
            raise ValueError("item 2")
        return item

    found = []
    with pytest.raises(ValueError, match="item 2"):
        found.extend(result for result in parallel_map(work, range(9), 2))
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("batches")]


def compute(_: int) -> bool | None:
    """Compute in a place of the host; None where there is none for now, as readers of sentences do."""
    try:
        with threads.compute_slot():
            return True
    except Busy:
        return None


def test_a_click_finds_its_place_at_once_while_batches_fill_all_of_theirs(monkeypatch):
    filled, let = threading.Barrier(3), threading.Event()
    monkeypatch.setattr(threads, "_page_slots", threading.BoundedSemaphore(2))
    monkeypatch.setattr(threads, "_background_slots", threading.BoundedSemaphore(2))

    def work(item: int) -> int:
        with threads.compute_slot():
            filled.wait(120)
            assert let.wait(120)
        return item

    with closing(parallel_map(work, range(2), 2)) as results:
        reader = threading.Thread(target=lambda: list(results))
        reader.start()
        filled.wait(120)
        with threads.compute_slot(timeout=0.0), threads.compute_slot(timeout=0.0):
            let.set()
        reader.join()


def test_all_readings_together_get_no_more_places_than_one_and_soon_give_way_to_whoever_stops_them(monkeypatch):
    monkeypatch.setattr(threads, "_background_slots", only := threading.BoundedSemaphore(1))
    monkeypatch.setattr(threads, "BACKGROUND_TIMEOUT_SECONDS", 0.01)
    assert only.acquire()  # another reading computes
    with closing(parallel_map(compute, range(3), 2)) as results:
        assert [next(results), next(results)] == [(0, None), (0, None)]
        only.release()
        assert (0, True) in results
    with threads.compute_slot(timeout=0.0):
        pass
