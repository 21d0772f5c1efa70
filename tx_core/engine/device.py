"""The choice of the device, and running models on it, with the CPU as fallback when its memory is full."""

import copy
import logging
import math
import re
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from functools import cache, cached_property
from threading import Lock, RLock
from typing import Generic, NamedTuple, TypeVar

import torch
from torch import Tensor, nn

from tx_core.engine.notices import add_notice
from tx_core.engine.threads import compute_slot
from tx_core.errors import ModelUnavailable, names_memory
from tx_core.settings import allowed, host_settings

Result = TypeVar("Result")
FALLBACK_NOTICE = "The graphics card is out of memory: this was computed on the CPU instead."
NO_DEVICE = (
    "TX_DEVICE asks for {device!r}, which this machine does not have, or cannot compute with ({problem}): "
    "set it to {allowed}, or unset it."
)
UNUSED_CARD = "The graphics card cannot compute ({problem}), so the CPU does: set TX_DEVICE=cpu to leave the card alone."
WRONG_NUMBERS = "its results differ from the CPU's"
torch.backends.cudnn.allow_tf32 = False
"""Convolutions on a card in single precision, as matrix products are: TF32, torch's default there, differs by up to 7e-3."""
ONE_THREAD = ("mps",)
"""Kinds of devices that two threads cannot share: on MPS they can end the whole process (pytorch issue 197805)."""
_alone = RLock()


def sole_use(device: str) -> AbstractContextManager[object]:
    """Return a context that excludes other threads from the device, if it is of ONE_THREAD.

    Every computation on a device, and every copy to or from it, must be within.
    """
    return _alone if device.startswith(ONE_THREAD) else nullcontext()


def best_device() -> str:
    """Return the device to compute on: TX_DEVICE if set, else a CUDA card whose results agree with the CPU's, else the CPU.

    Apple's GPU is used only if TX_DEVICE names it: for models as small as the embedded one, the CPU is as fast.

    Raises ModelUnavailable when TX_DEVICE names a device that this machine lacks, or cannot compute with.
    """
    if wanted := host_settings().device:
        if problem := device_problem(wanted):
            raise ModelUnavailable(NO_DEVICE.format(device=wanted, problem=problem, allowed=allowed("device")))
        return wanted
    if notice := unused_card():
        _log_once(notice)
    return "cuda" if torch.cuda.is_available() and not notice else "cpu"


def unused_card() -> str:
    """Return a sentence on why a graphics card is not used; "" if it is, if there is none, or if TX_DEVICE is set."""
    if host_settings().device or not torch.cuda.is_available() or not (problem := device_problem("cuda")):
        return ""
    return UNUSED_CARD.format(problem=problem)


@cache
def device_problem(device: str) -> str:
    """Return why a device cannot be used, "" if it can; tested once per process.

    `torch.cuda.is_available` is True also for a card without kernels in this build of torch: only a computation shows it.
    """
    try:
        found = _small_attention(device)
    except (RuntimeError, AssertionError) as problem:
        return _plain_line(problem)
    return "" if torch.allclose(found, _small_attention("cpu"), atol=0.01) else WRONG_NUMBERS


def _small_attention(device: str) -> Tensor:
    with sole_use(device):
        numbers = torch.linspace(-1, 1, 12).view(3, 4).to(device)
        return ((numbers @ numbers.T).softmax(dim=-1) @ numbers).cpu()


def _plain_line(problem: Exception) -> str:
    """Return the first line of an error's message, without characters that could be markup on a page."""
    return re.sub(r"[^\w ,.:()'/-]", " ", f"{problem}".partition("\n")[0]).strip(" .")[:150] or type(problem).__name__


@cache
def _log_once(notice: str) -> None:
    logging.getLogger(__name__).warning(notice)


def computes_bfloat16(device: str) -> bool:
    """Return whether the hardware computes bfloat16 itself; emulated, it is far slower than single precision."""
    if device.startswith("cuda"):
        with torch.cuda.device(device):  # torch tests the current device, which may be another
            return torch.cuda.is_bf16_supported(including_emulation=False)
    able = torch.cpu.get_capabilities() if device == "cpu" else {}
    return bool(able.get("avx512_bf16") or able.get("amx_bf16"))


class DeviceResult(NamedTuple, Generic[Result]):
    """The result of a run, and a sentence for the reader where another device than the runner's computed it, else ""."""

    value: Result
    notice: str


class DeviceRunner:
    """A module on its device, with a copy on the CPU for when the device's memory is full.

    A module that does not fit into the device's memory stays on the CPU, and the notice of every run says so.
    """

    def __init__(self, model: nn.Module, device: str):
        self.device, self.model, self._notice = device, model, ""
        self._bfloat16: DeviceRunner | None = None
        self._copying = Lock()
        with sole_use(device):
            try:
                model.to(device)
                return
            except RuntimeError as problem:
                if device == "cpu" or not names_memory(problem):
                    raise
            self.device, self.model, self._notice = "cpu", model.to("cpu"), FALLBACK_NOTICE
            free_device_memory()

    @property
    def nbytes(self) -> int:
        """Memory of the weights in bytes, of a copy in bfloat16 and of one on the CPU included."""
        weights = [*self.model.parameters(), *self.model.buffers()]
        copies = [self._bfloat16.nbytes] if self._bfloat16 else []
        own = sum(weight.nbytes for weight in weights)
        return own * (2 if "_on_cpu" in vars(self) else 1) + sum(copies)

    @property
    def bfloat16(self) -> bool:
        return computes_bfloat16(self.device)

    def in_precision(self, half: bool) -> "DeviceRunner":
        """Return a runner in single precision, or, if `half`, in bfloat16.

        The copy in bfloat16 is made once and needs half as much memory again; if the device lacks it, this runner is
        returned. bfloat16 has eight significant bits: attention weights are accurate to about 1 %, enough for averages. It is
        faster only with hardware support (`device.computes_bfloat16`).
        """
        if not half:
            return self
        with self._copying, sole_use(self.device):
            try:
                self._bfloat16 = self._bfloat16 or DeviceRunner(self._copy_to(self.device, torch.bfloat16), self.device)
            except RuntimeError as problem:
                if self.device == "cpu" or not names_memory(problem):
                    raise
                free_device_memory()
                return self
            return self._bfloat16

    @cached_property
    def _on_cpu(self) -> nn.Module:
        return self._copy_to("cpu")

    def _copy_to(self, device: str, floating: torch.dtype | None = None) -> nn.Module:
        """Copy the module weight by weight: the device may lack memory for a second full copy.

        floating: The type of the copied parameters; buffers, such as rotary angles, keep theirs.
        """
        with torch.inference_mode(False), sole_use(self.device):  # tensors made in inference mode cannot have gradients
            copied = {id(buffer): buffer.detach().to(device, copy=True) for buffer in self.model.buffers()}
            for weight in self.model.parameters():
                kind = floating if weight.is_floating_point() else None
                moved = weight.detach().to(device, kind, copy=True, memory_format=torch.contiguous_format)
                copied[id(weight)] = nn.Parameter(moved, weight.requires_grad)
            return copy.deepcopy(self.model, copied)

    def run(self, compute: Callable[[nn.Module, str], Result], *, gradients: bool = False) -> DeviceResult[Result]:
        """Call `compute` with the module and its device, in a compute slot.

        A call that runs out of device memory is repeated on the CPU; the module stays on the device for other callers.
        gradients: Whether `compute` differentiates.
        """
        with compute_slot(), torch.inference_mode(not gradients), torch.set_grad_enabled(gradients):
            try:
                with sole_use(self.device):
                    found = DeviceResult(compute(self.model, self.device), self._notice)
            except RuntimeError as problem:
                if self.device == "cpu" or not names_memory(problem):
                    raise
            else:
                add_notice(found.notice)
                return found
            with sole_use(self.device):
                free_device_memory()
            add_notice(FALLBACK_NOTICE)
            return DeviceResult(compute(self._on_cpu, "cpu"), FALLBACK_NOTICE)

    @property
    def free_bytes(self) -> float:
        """The memory of a CUDA card that is free, with what torch holds there and does not use; infinite on another device."""
        if not self.device.startswith("cuda"):
            return math.inf
        free, _ = torch.cuda.mem_get_info(self.device)
        return free + torch.cuda.memory_reserved(self.device) - torch.cuda.memory_allocated(self.device)


def free_device_memory() -> None:
    """Release what torch holds of the memory of cards and does not use."""
    torch.cuda.empty_cache()
    if torch.backends.mps.is_available():
        torch.mps.empty_cache()
