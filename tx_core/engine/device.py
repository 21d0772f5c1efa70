"""Where to compute: the device, or the CPU when its memory is full."""

import copy
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from threading import Lock
from typing import Generic, TypeVar

import torch
from torch import nn

from tx_core.engine.batching import SharedRuns
from tx_core.engine.threads import compute_slot
from tx_core.errors import ModelUnavailable
from tx_core.settings import allowed, host_settings

Result = TypeVar("Result")
FALLBACK_NOTICE = "The graphics card is out of memory: this was computed on the CPU instead."


def best_device() -> str:
    """Name the device to compute on.

    Raises ModelUnavailable when TX_DEVICE names one that this machine lacks.
    """
    if wanted := host_settings().device:
        return _check_device(wanted)
    if torch.cuda.is_available():
        return "cuda"
    return "mps" if torch.backends.mps.is_available() else "cpu"


def _check_device(wanted: str) -> str:
    try:
        torch.zeros(1, device=wanted)
    except (RuntimeError, AssertionError) as absent:
        raise ModelUnavailable(
            f"TX_DEVICE asks for {wanted!r}, which this machine does not have: set it to {allowed('device')}, or unset it."
        ) from absent
    return wanted


def computes_bfloat16(device: str) -> bool:
    """Return whether the hardware computes bfloat16 itself; emulated, it is far slower than single precision."""
    if device.startswith("cuda"):
        with torch.cuda.device(device):  # torch asks the current one, which may be another
            return torch.cuda.is_bf16_supported(including_emulation=False)
    able = torch.cpu.get_capabilities() if device == "cpu" else {}
    return bool(able.get("avx512_bf16") or able.get("amx_bf16"))


@dataclass(frozen=True)
class DeviceResult(Generic[Result]):
    """What a run on a device returned.

    Attributes:
        value: The result.
        device: The device that computed it.
        notice: A sentence for the reader where that is not the device of the runner, else "".
    """

    value: Result
    device: str
    notice: str


class DeviceRunner:
    """A module on its device, with a copy on the CPU for when the device's memory is full.

    A module that does not fit onto the device at all stays on the CPU, and every run says so.

    Attributes:
        shared: The runs of this module that share batches, whichever engine asks for them.
    """

    def __init__(self, model: nn.Module, device: str):
        self.device, self._model, self._notice = device, model, ""
        self.shared = SharedRuns()
        self._bfloat16: DeviceRunner | None = None
        self._copying = Lock()
        try:
            model.to(device)
            return
        except RuntimeError as problem:
            if device == "cpu" or not _out_of_memory(problem):
                raise
        self.device, self._model, self._notice = "cpu", model.to("cpu"), FALLBACK_NOTICE
        _free_device_memory()

    @property
    def nbytes(self) -> int:
        """Memory of the weights in bytes, of a copy in bfloat16 and of one on the CPU included."""
        weights = [*self._model.parameters(), *self._model.buffers()]
        copies = [self._bfloat16.nbytes] if self._bfloat16 else []
        own = sum(weight.nbytes for weight in weights)
        return own * (2 if "_on_cpu" in vars(self) else 1) + sum(copies)

    @property
    def bfloat16(self) -> bool:
        """Whether the device computes bfloat16 itself."""
        return computes_bfloat16(self.device)

    def in_precision(self, half: bool) -> "DeviceRunner":
        """Return a runner in single precision, or, if `half`, in bfloat16.

        The copy in bfloat16 is made once and takes half as much memory again; where the device has no room for it, this
        runner is returned. bfloat16 has eight significant bits: attention weights are right to about 1 %, which is enough for
        averages, where the hardware computes it (`device.computes_bfloat16`).
        """
        if not half:
            return self
        with self._copying:
            try:
                self._bfloat16 = self._bfloat16 or DeviceRunner(self._copy_to(self.device, torch.bfloat16), self.device)
            except RuntimeError as problem:
                if self.device == "cpu" or not _out_of_memory(problem):
                    raise
                _free_device_memory()
                return self
            return self._bfloat16

    @cached_property
    def _on_cpu(self) -> nn.Module:
        return self._copy_to("cpu")

    def _copy_to(self, device: str, floating: torch.dtype | None = None) -> nn.Module:
        """Copy the module, weight by weight: the device may have no room for two.

        floating: The type of the copied parameters; buffers, such as rotary angles, keep theirs.
        """
        with torch.inference_mode(False):  # else no gradient could ever be asked of the copy
            copied = {id(buffer): buffer.detach().to(device, copy=True) for buffer in self._model.buffers()}
            for weight in self._model.parameters():
                kind = floating if weight.is_floating_point() else None
                moved = weight.detach().to(device, kind, copy=True, memory_format=torch.contiguous_format)
                copied[id(weight)] = nn.Parameter(moved, weight.requires_grad)
            return copy.deepcopy(self._model, copied)

    def run(self, compute: Callable[[nn.Module, str], Result], *, gradients: bool = False) -> DeviceResult[Result]:
        """Call `compute` with the module and its device, in a compute slot.

        A call that runs out of memory is repeated on the CPU; the module itself stays where it is, for other callers.
        gradients: Whether `compute` differentiates.
        """
        with compute_slot(), torch.inference_mode(not gradients), torch.set_grad_enabled(gradients):
            try:
                return DeviceResult(compute(self._model, self.device), self.device, self._notice)
            except RuntimeError as problem:
                if self.device == "cpu" or not _out_of_memory(problem):
                    raise
            _free_device_memory()
            return DeviceResult(compute(self._on_cpu, "cpu"), "cpu", FALLBACK_NOTICE)


def _out_of_memory(problem: RuntimeError) -> bool:
    """Return whether an error says that the device's memory is full; MPS has no error class of its own for it."""
    return isinstance(problem, torch.OutOfMemoryError) or "out of memory" in str(problem)


def _free_device_memory() -> None:
    torch.cuda.empty_cache()
    if torch.backends.mps.is_available():
        torch.mps.empty_cache()
