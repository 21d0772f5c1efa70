"""Where a model computes: on its device or on the CPU, on one core or all, one batch after another or several at once."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from threading import Thread

import pytest
import torch
from torch import nn

from tx_core.engine import catalogue, slots
from tx_core.engine.device import FALLBACK_NOTICE, DeviceRunner, parallel_map, use_all_cores, use_one_core, worker_count
from tx_core.engine.hub import load as hub
from tx_core.errors import Busy
from tx_core.fill_mask.predictions import predict
from tx_core.settings import host_settings


class FullGraphicsCard(nn.Linear):
    """A module whose own device has no memory left, as a crowded graphics card's."""

    def forward(self, x=None, *rest, **options):
        if not getattr(self, "copied", False):
            raise torch.OutOfMemoryError("out of memory")
        return super().forward(x)

    def __deepcopy__(self, memo):
        twin = FullGraphicsCard(2, 2)
        twin.copied = True
        return twin


def test_out_of_memory_on_the_card_is_computed_on_the_cpu_with_a_notice():
    runner = DeviceRunner(FullGraphicsCard(2, 2), "cpu")
    runner.device = "cuda"
    result = runner.run(lambda model, where: model(torch.ones(1, 2)))
    assert (result.device, result.notice, result.value.shape) == ("cpu", FALLBACK_NOTICE, (1, 2))


class CardTooSmall(nn.Linear):
    """A module that does not fit onto its device, as MPS and CUDA say it, or does not get there for another reason."""

    def __init__(self, problem: RuntimeError):
        super().__init__(2, 2)
        self.problem = problem

    def to(self, device: str) -> nn.Module:
        """Move to the CPU only."""
        if device != "cpu":
            raise self.problem
        return super().to(device)


OUT_OF_MEMORY = [torch.OutOfMemoryError("CUDA: nothing left"), RuntimeError("MPS backend out of memory (9.1 GB)")]


@pytest.mark.parametrize("problem", OUT_OF_MEMORY)
def test_a_model_that_does_not_fit_on_the_card_stays_on_the_cpu_and_every_run_says_so(problem: RuntimeError):
    runner = DeviceRunner(CardTooSmall(problem), "cuda")
    assert runner.device == "cpu"
    for _ in range(2):
        result = runner.run(lambda model, where: model(torch.ones(1, 2, device=where)))
        assert (result.device, result.notice, result.value.shape) == ("cpu", FALLBACK_NOTICE, (1, 2))


@pytest.mark.parametrize("problem", OUT_OF_MEMORY)
def test_a_run_that_does_not_fit_on_the_card_is_repeated_on_the_cpu(problem: RuntimeError):
    runner = DeviceRunner(nn.Linear(2, 2), "cpu")
    runner.device = "mps"

    def compute(model: nn.Module, where: str) -> torch.Tensor:
        if where == "mps":
            raise problem
        return model(torch.ones(1, 2))

    result = runner.run(compute)
    assert (result.device, result.notice) == ("cpu", FALLBACK_NOTICE)


def test_what_else_goes_wrong_on_the_card_is_not_taken_for_a_lack_of_memory():
    with pytest.raises(RuntimeError, match="shapes cannot be multiplied"):
        DeviceRunner(CardTooSmall(RuntimeError("shapes cannot be multiplied")), "cuda")
    runner = DeviceRunner(nn.Linear(2, 2), "cpu")
    runner.device = "cuda"
    with pytest.raises(RuntimeError, match="shapes cannot be multiplied"):
        runner.run(lambda model, where: model(torch.ones(1, 3)))


class OnFullCard(nn.Parameter):
    """A parameter that cannot be copied where it is."""

    def __deepcopy__(self, memo):
        raise torch.OutOfMemoryError("no room for two")


def test_the_copy_on_the_cpu_takes_no_memory_on_the_card_and_keeps_tied_weights_tied():
    model = nn.Sequential(nn.Linear(2, 2, bias=False), nn.BatchNorm1d(2), nn.Linear(2, 2, bias=False)).eval()
    model[0].weight = model[2].weight = OnFullCard(torch.tensor([[1.0, 2], [3, 4]]))
    runner = DeviceRunner(model, "cpu")
    runner.device = "cuda"
    used = []

    def compute(model: nn.Module, where: str) -> torch.Tensor:
        used.append(model)
        if where == "cuda":
            raise torch.OutOfMemoryError("no room")
        return model(torch.ones(1, 2))

    result, expected = runner.run(compute), model(torch.ones(1, 2))
    assert result.device == "cpu"
    torch.testing.assert_close(result.value, expected)
    copied = used[1]
    assert copied is not model
    assert copied[0].weight is copied[2].weight
    assert copied[0].weight.data_ptr() != model[0].weight.data_ptr()


@pytest.mark.parametrize("family", ["bert", "roberta"])
def test_blanks_scored_on_the_cpu_because_the_card_is_full_say_so(checkpoint, family: str):
    load = catalogue.load_bert_engine if family == "bert" else hub.load_engine
    engine = load(checkpoint(family), family, family.title())
    expected = predict(engine, "The ___ sleeps.")
    assert (expected.device, expected.notice) == ("cpu", "")
    engine.runner._on_cpu = engine.runner._model
    engine.runner._model = FullGraphicsCard(2, 2)
    engine.runner.device = "meta"  # a device that every machine has
    found = predict(engine, "The ___ sleeps.")
    assert (found.device, found.notice) == ("cpu", FALLBACK_NOTICE)
    assert found.blanks == expected.blanks


def test_out_of_memory_on_the_cpu_itself_is_not_hidden():
    with pytest.raises(torch.OutOfMemoryError):
        DeviceRunner(FullGraphicsCard(2, 2), "cpu").run(lambda model, where: model(torch.ones(1, 2)))


def test_in_half_precision_a_module_computes_beside_itself_and_what_it_computed_stays_exact():
    module = nn.Linear(2, 2)
    module.register_buffer("angles", torch.tensor([0.1234567]))
    runner = DeviceRunner(module, "cpu")
    with ThreadPoolExecutor(4) as workers:
        (halved,) = set(workers.map(runner.in_precision, [True] * 8))
    assert halved.run(lambda model, _: (model.weight.dtype, model.angles.dtype)).value == (torch.bfloat16, torch.float32)
    assert runner.in_precision(False) is runner
    assert runner.run(lambda model, _: model.weight.dtype).value == torch.float32


@pytest.mark.parametrize("problem", OUT_OF_MEMORY)
def test_where_the_card_has_no_room_for_a_copy_the_module_itself_computes(problem: RuntimeError, monkeypatch):
    runner = DeviceRunner(nn.Linear(2, 2), "cpu")
    runner.device = "mps"
    monkeypatch.setattr(runner, "_copy_to", lambda *_: (_ for _ in ()).throw(problem))
    assert runner.in_precision(True) is runner


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


def test_results_come_in_the_order_of_the_items_whichever_is_ready_first():
    second_is_done = threading.Event()

    def work(item: int) -> int:
        if item == 0:
            assert second_is_done.wait(30)
        if item == 1:
            second_is_done.set()
        return item * item

    assert list(parallel_map(work, range(7), 2)) == [(item, item * item) for item in range(7)]


@pytest.mark.parametrize("workers", [1, 2, 3])
def test_no_more_is_taken_than_is_worked_on_and_one_that_waits(workers: int):
    taken = []

    def items():
        for item in range(20):
            taken.append(item)
            yield item

    for given, _ in enumerate(parallel_map(lambda item: item, items(), workers), 1):
        assert len(taken) <= given + workers


def test_what_could_not_be_done_for_now_is_told_and_tried_again():
    refusals = iter([None, None])

    def work(item: str) -> str | None:
        return next(refusals, item.upper()) if item == "a" else item.upper()

    assert list(parallel_map(work, "ab", 1)) == [("a", None), ("a", None), ("a", "A"), ("b", "B")]


def test_a_problem_reaches_the_caller_and_no_worker_stays():
    def work(item: int) -> int:
        if item == 2:
            raise ValueError("item 2")
        return item

    found = []
    with pytest.raises(ValueError, match="item 2"):
        found.extend(result for result in parallel_map(work, range(9), 2))
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("batches")]


def test_whoever_stops_early_leaves_no_worker_behind():
    worked = []
    with closing(parallel_map(lambda item: worked.append(item) or item + 1, range(100), 2)) as results:
        assert next(results) == (0, 1)
    assert len(worked) <= 3
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("batches")]


def test_two_workers_compute_on_a_core_each_and_others_keep_what_they_have():
    both = threading.Barrier(2)
    usual = torch.get_num_threads()

    def work(_: int) -> int:
        both.wait(30)
        return torch.get_num_threads()

    torch.set_num_threads(3)
    try:
        assert [threads for _, threads in parallel_map(work, range(4), 2)] == [1, 1, 1, 1]
        after = []
        later = threading.Thread(target=lambda: after.append(torch.get_num_threads()))
        later.start()
        later.join()
        assert after == [torch.get_num_threads()] == [3]
    finally:
        torch.set_num_threads(usual)


def test_on_the_cpu_there_is_a_worker_for_every_background_slot_and_on_a_card_one(host):
    host(background_slots=5)
    assert worker_count("cpu") == 5
    assert worker_count("cuda") == worker_count("mps") == 1


def compute(_: int) -> bool | None:
    """Compute in a place of the host; None where there is none for now, as readers of sentences do."""
    try:
        with slots.compute_slot():
            return True
    except Busy:
        return None


def test_a_click_finds_its_place_at_once_while_batches_fill_all_of_theirs(monkeypatch):
    filled, let = threading.Barrier(3), threading.Event()
    monkeypatch.setattr(slots, "_page_slots", threading.BoundedSemaphore(2))
    monkeypatch.setattr(slots, "_background_slots", threading.BoundedSemaphore(2))

    def work(item: int) -> int:
        with slots.compute_slot():
            filled.wait(30)
            assert let.wait(30)
        return item

    with closing(parallel_map(work, range(2), 2)) as results:
        reader = threading.Thread(target=lambda: list(results))
        reader.start()
        filled.wait(30)
        with slots.compute_slot(timeout=0.0), slots.compute_slot(timeout=0.0):
            let.set()
        reader.join()


def test_all_readings_together_get_no_more_places_than_one_and_soon_give_way_to_whoever_stops_them(monkeypatch):
    monkeypatch.setattr(slots, "_background_slots", only := threading.BoundedSemaphore(1))
    monkeypatch.setattr(slots, "BACKGROUND_TIMEOUT_SECONDS", 0.01)
    assert only.acquire()  # another reading computes
    with closing(parallel_map(compute, range(3), 2)) as results:
        assert [next(results), next(results)] == [(0, None), (0, None)]
        only.release()
        assert (0, True) in results
    with slots.compute_slot(timeout=0.0):
        pass


def test_a_batch_that_finds_no_place_gives_up_long_before_a_visitor_would(monkeypatch):
    monkeypatch.setattr(slots, "_background_slots", only := threading.BoundedSemaphore(1))
    assert only.acquire()
    began = time.monotonic()
    with ThreadPoolExecutor(1, initializer=slots.use_background_slots) as pool:
        assert pool.submit(compute, 0).result() is None
    assert time.monotonic() - began < host_settings().slot_timeout_seconds / 2
