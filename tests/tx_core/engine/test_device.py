"""Where a model computes: on its device, or on the CPU where its memory is full."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
import torch
from torch import nn

from tx_core.engine import device
from tx_core.engine.device import FALLBACK_NOTICE, UNUSED_CARD, WRONG_NUMBERS, DeviceRunner, best_device, sole_use, unused_card
from tx_core.errors import ModelUnavailable, memory_checked


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
