"""Where a model computes: on its device, or on the CPU where its memory is full."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
import torch
from torch import nn

from tx_core.engine import device
from tx_core.engine.device import FALLBACK_NOTICE, UNUSED_CARD, WRONG_NUMBERS, DeviceRunner, best_device, sole_use, unused_card
from tx_core.engine.notices import collected_notices
from tx_core.errors import ModelUnavailable, OutOfMemory, memory_checked


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


OUT_OF_MEMORY = [
    torch.OutOfMemoryError("CUDA: nothing left"),
    RuntimeError("MPS backend out of memory (9.1 GB)"),
    RuntimeError("CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`"),
    RuntimeError("CUDA error: CUBLAS_STATUS_NOT_INITIALIZED when calling `cublasCreate(handle)`"),
    RuntimeError("cuDNN error: CUDNN_STATUS_ALLOC_FAILED"),
    RuntimeError("cuDNN error: CUDNN_STATUS_INTERNAL_ERROR_DEVICE_ALLOCATION_FAILED"),
]


@pytest.mark.parametrize("problem", OUT_OF_MEMORY)
def test_a_model_that_does_not_fit_on_the_card_stays_on_the_cpu_and_every_run_says_so(problem: RuntimeError):
    runner = DeviceRunner(CardTooSmall(problem), "cuda")
    assert runner.device == "cpu"
    for _ in range(2):
        result = runner.run(lambda model, where: model(torch.ones(1, 2, device=where)))
        assert (result.notice, result.value.shape) == (FALLBACK_NOTICE, (1, 2))


@pytest.mark.parametrize("problem", OUT_OF_MEMORY)
def test_a_run_that_does_not_fit_on_the_card_is_repeated_on_the_cpu(problem: RuntimeError):
    runner = DeviceRunner(nn.Linear(2, 2), "cpu")
    runner.device = "mps"

    def compute(model: nn.Module, where: str) -> torch.Tensor:
        if where == "mps":
            raise problem
        return model(torch.ones(1, 2))

    own = runner.nbytes
    result = runner.run(compute)
    assert result.notice == FALLBACK_NOTICE
    assert runner.nbytes == 2 * own == 2 * 4 * 6, "the copy is not counted"


@pytest.mark.parametrize("problem", OUT_OF_MEMORY)
def test_a_full_card_is_explained_where_nothing_falls_back(problem: RuntimeError):
    with pytest.raises(OutOfMemory), memory_checked():
        raise problem


def test_every_run_on_the_cpu_in_place_of_a_full_card_is_noted_and_noted_once():
    runner = DeviceRunner(CardTooSmall(OUT_OF_MEMORY[0]), "cuda")
    with collected_notices() as outer, collected_notices() as notices:
        for _ in range(2):
            runner.run(lambda model, where: None)
    assert notices == outer == [FALLBACK_NOTICE]
    runner.run(lambda model, where: None)
    assert notices == [FALLBACK_NOTICE]


def test_texts_run_together_on_a_card_as_far_as_its_free_memory_goes(engine, monkeypatch):
    one = engine.trace("time flies").nbytes
    sizes, forward = [], type(engine).forward
    monkeypatch.setattr(type(engine), "forward", lambda own, model, where, batch: (
        sizes.append(len(batch.rows)), forward(own, model, "cpu", batch))[1])  # fmt: skip
    monkeypatch.setattr(engine.runner, "device", "cuda:0")
    monkeypatch.setattr(torch.cuda, "mem_get_info", lambda where: (2.5 * one, 80e9))
    monkeypatch.setattr(torch.cuda, "memory_reserved", lambda where: 5 * one)
    monkeypatch.setattr(torch.cuda, "memory_allocated", lambda where: 3 * one)
    assert engine.runner.free_bytes == 4.5 * one
    found = engine.traces(["time flies", "fruit flies", "birds fly", "a cat"])
    assert sizes == [2, 2] and len(found) == 4
    sizes.clear()
    monkeypatch.setattr(torch.cuda, "mem_get_info", lambda where: (0, 80e9))
    assert len(engine.traces(["time flies", "fruit flies"])) == 2 and sizes == [1, 1]  # a run that does not fit falls back
    monkeypatch.undo()
    assert engine.runner.free_bytes == float("inf")


def test_convolutions_on_a_card_compute_in_single_precision():
    assert not torch.backends.cudnn.allow_tf32 and not torch.backends.cuda.matmul.allow_tf32


def test_another_error_is_no_lack_of_memory():
    with pytest.raises(RuntimeError, match="shapes"):
        DeviceRunner(CardTooSmall(RuntimeError("shapes")), "cuda")
    runner = DeviceRunner(nn.Linear(2, 2), "cpu")
    runner.device = "cuda"
    with pytest.raises(RuntimeError, match="shapes"), memory_checked():
        runner.run(lambda model, where: model(torch.ones(1, 3)))


class OnFullCard(nn.Parameter):
    """A parameter that cannot be copied where it is."""

    def __deepcopy__(self, memo):
        raise torch.OutOfMemoryError("no space for two")


def test_the_copy_on_the_cpu_takes_no_memory_on_the_card_and_keeps_tied_weights_tied():
    model = nn.Sequential(nn.Linear(2, 2, bias=False), nn.BatchNorm1d(2), nn.Linear(2, 2, bias=False)).eval()
    model[0].weight = model[2].weight = OnFullCard(torch.tensor([[1.0, 2], [3, 4]]))
    runner = DeviceRunner(model, "cpu")
    runner.device = "cuda"
    used = []

    def compute(model: nn.Module, where: str) -> torch.Tensor:
        used.append(model)
        if where == "cuda":
            raise torch.OutOfMemoryError("no space")
        return model(torch.ones(1, 2))

    result, expected = runner.run(compute), model(torch.ones(1, 2))
    assert used[0] is model
    torch.testing.assert_close(result.value, expected)
    copied = used[1]
    assert copied is not model
    assert copied[0].weight is copied[2].weight
    assert copied[0].weight.data_ptr() != model[0].weight.data_ptr()


NO_KERNEL = RuntimeError(
    "CUDA error: no kernel image is available for execution on the device\nCompile with `TORCH_USE_CUDA_DSA`."
)


@pytest.fixture
def card(host, monkeypatch) -> Iterator[Callable[[torch.Tensor | RuntimeError | None], None]]:
    """Simulate a card: `card(None)` computes, `card(problem)` fails, `card(numbers)` computes these."""
    compute = device._small_attention

    def put_in(outcome: torch.Tensor | RuntimeError | None) -> None:
        def computed(place: str) -> torch.Tensor:
            if place == "cpu" or outcome is None:
                return compute("cpu")
            if isinstance(outcome, RuntimeError):
                raise outcome
            return outcome

        monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
        monkeypatch.setattr(device, "_small_attention", computed)

    host(device="")
    for found in (device.device_problem, device._log_once):
        found.cache_clear()
    yield put_in
    for found in (device.device_problem, device._log_once):
        found.cache_clear()


def test_a_card_that_computes_is_used_and_one_that_does_not_leaves_it_to_the_cpu_and_says_why_once(card, caplog, host):
    card(None)
    assert (best_device(), unused_card()) == ("cuda", "")
    device.device_problem.cache_clear()
    card(torch.ones(3, 4))
    assert (best_device(), unused_card()) == ("cpu", UNUSED_CARD.format(problem=WRONG_NUMBERS))
    device.device_problem.cache_clear()
    caplog.clear()
    card(NO_KERNEL)
    sentence = UNUSED_CARD.format(problem="CUDA error: no kernel image is available for execution on the device")
    assert [best_device(), best_device(), unused_card()] == ["cpu", "cpu", sentence]
    assert caplog.messages == [sentence]
    host(device="cuda")
    assert unused_card() == ""
    with pytest.raises(ModelUnavailable, match="TX_DEVICE asks for 'cuda', .*no kernel image"):
        best_device()


def test_one_thread_at_a_time_computes_on_mps_and_any_number_on_other_devices():
    def may_enter() -> bool:
        entered = device._alone.acquire(blocking=False)
        if entered:
            device._alone.release()
        return entered

    with ThreadPoolExecutor(1) as other:
        with sole_use("mps"), sole_use("mps:0"):
            assert not other.submit(may_enter).result()
        with sole_use("cpu"), sole_use("cuda:1"):
            assert other.submit(may_enter).result()
