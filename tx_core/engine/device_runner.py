"""Run a model on its device, and on the CPU when the device's memory is full."""

import copy
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from threading import Lock
from typing import Generic, TypeVar

import torch
from torch import nn

from tx_core.engine.slots import compute_slot

Result = TypeVar("Result")
FALLBACK_NOTICE = "The graphics card is out of memory: this was computed on the CPU instead."


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
    """

    def __init__(self, model: nn.Module, device: str):
        self.device, self._model, self._notice = device, model, ""
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
                moved = weight.detach().to(device, floating if weight.is_floating_point() else None, copy=True)
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
