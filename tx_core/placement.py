"""Where a model computes: on its device, and on the CPU when the device's memory is full."""

import copy
from collections.abc import Callable
from functools import cached_property
from typing import TypeVar

import torch
from torch import Tensor, nn

from tx_core.device import computing_slot

Result = TypeVar("Result")
FALLBACK_NOTICE = "The graphics card is out of memory: this was computed on the CPU instead."


class Placement:
    """A module on its device, with a copy on the CPU for when the device's memory is full.

    A module that does not fit onto the device at all stays on the CPU, and every run says so.
    """

    def __init__(self, model: nn.Module, device: str):
        self.device, self._model, self._notice = device, model, ""
        try:
            model.to(device)
            return
        except RuntimeError as problem:
            if device == "cpu" or not _is_full(problem):
                raise
        self.device, self._model, self._notice = "cpu", model.to("cpu"), FALLBACK_NOTICE
        _give_memory_back()

    @cached_property
    def halved(self) -> "Placement":
        """The same module in bfloat16, kept beside it: half of its memory again.

        Eight bits of a number are kept: weights of attention come out right to about a hundredth of themselves. Worth it
        for averages, where the hardware computes it (`device.computes_half`).
        """
        return Placement(self._copied(self.device, torch.bfloat16), self.device)

    def in_precision(self, half: bool) -> "Placement":
        """This one, or the one in bfloat16."""
        return self.halved if half else self

    @cached_property
    def _on_cpu(self) -> nn.Module:
        return self._copied("cpu")

    def _copied(self, device: str, floating: torch.dtype | None = None) -> nn.Module:
        """Copy the module, weight by weight: the device may have no room for two. floating: the kind of its broken numbers."""

        def moved(weight: Tensor) -> Tensor:
            return weight.detach().to(device, floating if weight.is_floating_point() else None, copy=True)

        with torch.inference_mode(False):  # else no gradient could ever be asked of the copy
            copied = {id(weight): moved(weight) for weight in (*self._model.parameters(), *self._model.buffers())}
            copied |= {
                id(weight): nn.Parameter(copied[id(weight)], weight.requires_grad) for weight in self._model.parameters()
            }
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
