"""Where a model computes: on its device, and on the CPU when the device's memory is full."""

import copy
from collections.abc import Callable
from functools import cached_property
from threading import Lock
from typing import TypeVar

import torch
from torch import nn

from tx_core.engine.device import computing_slot

Result = TypeVar("Result")
FALLBACK_NOTICE = "The graphics card is out of memory: this was computed on the CPU instead."


class Placement:
    """A module on its device, with a copy on the CPU for when the device's memory is full.

    A module that does not fit onto the device at all stays on the CPU, and every run says so.
    """

    def __init__(self, model: nn.Module, device: str):
        self.device, self._model, self._notice = device, model, ""
        self._halved: Placement | None = None
        self._halving = Lock()
        try:
            model.to(device)
            return
        except RuntimeError as problem:
            if device == "cpu" or not _is_full(problem):
                raise
        self.device, self._model, self._notice = "cpu", model.to("cpu"), FALLBACK_NOTICE
        _give_memory_back()

    def in_precision(self, half: bool) -> "Placement":
        """Give this one; half: the same module in bfloat16, made once and kept beside it, which takes half of its memory again.

        Eight bits of a number are kept: weights of attention come out right to about a hundredth of themselves. Worth it
        for averages, where the hardware computes it (`device.computes_half`). Where the device has no room for it: this one.
        """
        if not half:
            return self
        with self._halving:
            try:
                self._halved = self._halved or Placement(self._copied(self.device, torch.bfloat16), self.device)
            except RuntimeError as problem:
                if self.device == "cpu" or not _is_full(problem):
                    raise
                _give_memory_back()
                return self
            return self._halved

    @cached_property
    def _on_cpu(self) -> nn.Module:
        return self._copied("cpu")

    def _copied(self, device: str, floating: torch.dtype | None = None) -> nn.Module:
        """Copy the module, weight by weight: the device may have no room for two.

        floating: the kind of number that parameters become; what a module computed by itself, such as angles, keeps its own.
        """
        with torch.inference_mode(False):  # else no gradient could ever be asked of the copy
            copied = {id(buffer): buffer.detach().to(device, copy=True) for buffer in self._model.buffers()}
            for weight in self._model.parameters():
                moved = weight.detach().to(device, floating if weight.is_floating_point() else None, copy=True)
                copied[id(weight)] = nn.Parameter(moved, weight.requires_grad)
            return copy.deepcopy(self._model, copied)

    def run(self, compute: Callable[[nn.Module, str], Result], *, gradients: bool = False) -> tuple[Result, str, str]:
        """Compute with the module; return the result, the device used and a notice for the reader.

        gradients: whether `compute` may ask for them. The call that runs out of memory is repeated on the CPU; the
        module itself stays where it is, for others.
        """
        with computing_slot(), torch.inference_mode(not gradients), torch.set_grad_enabled(gradients):
            try:
                return compute(self._model, self.device), self.device, self._notice
            except RuntimeError as problem:
                if self.device == "cpu" or not _is_full(problem):
                    raise
            _give_memory_back()
            return compute(self._on_cpu, "cpu"), "cpu", FALLBACK_NOTICE


def _is_full(problem: RuntimeError) -> bool:
    """Tell a device without memory from any other problem; MPS has no error class of its own for it."""
    return isinstance(problem, torch.OutOfMemoryError) or "out of memory" in str(problem)


def _give_memory_back() -> None:
    torch.cuda.empty_cache()
    if torch.backends.mps.is_available():
        torch.mps.empty_cache()
