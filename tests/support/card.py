"""A simulated graphics card, "card": its tensors hold CPU tensors and refuse what a real card or a Mac refuses.

A wrapper tensor claims the device and raises where devices mix, where float64 is made, and where `.numpy()` is called.
It raises, too, where something is computed outside of the lock that `one_thread_at_a_time` sets, and where its memory is
`full_at` an operation. Importing this renames a backend of torch for the whole process: `tests/tx_core/test_simulated_card.py`
starts one of its own.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from threading import RLock
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils._pytree import tree_leaves, tree_map
from torch.utils.backend_registration import _DummyBackendModule, _setup_privateuseone_for_python_backend

CARD = "card"
TAKES_BOTH = ("copy_", "_to_copy", "index", "index_put_", "_index_put_impl_")
"""Operations that copy between devices, or take indices from the CPU."""

_full_at: set[str] = set()
_lock: "list[CountedLock]" = []


class CountedLock:
    """A lock that a thread may take several times, and that says how often it is held: the backward pass has its own thread."""

    def __init__(self) -> None:
        self._lock, self.holders = RLock(), 0

    def __enter__(self) -> None:
        self._lock.acquire()
        self.holders += 1

    def __exit__(self, *_problem: object) -> None:
        self.holders -= 1
        self._lock.release()


class CardModule(_DummyBackendModule):
    """What torch asks of `torch.card`."""

    def get_amp_supported_dtype(self) -> list[torch.dtype]:
        """Return the types that autocast may use."""
        return [torch.bfloat16]


class CardTensor(Tensor):
    """A tensor on the card."""

    @staticmethod
    def __new__(cls, data: Tensor, requires_grad: bool = False) -> "CardTensor":
        if data.dtype in (torch.float64, torch.complex128):
            raise TypeError(f"the card has no {data.dtype}, as MPS has none")
        layout = {"strides": data.stride(), "storage_offset": data.storage_offset(), "dtype": data.dtype}
        made = Tensor._make_wrapper_subclass(cls, data.shape, device=f"{CARD}:0", requires_grad=requires_grad, **layout)
        made.data_on_card = data
        return made

    def __init__(self, *_arguments: object, **_named: object) -> None:
        """Leave everything to `__new__`."""

    def tolist(self) -> Any:
        """Copy the numbers to the processor first, as a real card does."""
        return self.cpu().tolist()

    @classmethod
    def __torch_dispatch__(cls, function: Any, types: Any, arguments: tuple = (), named: dict | None = None) -> Any:
        named = dict(named or {})
        if (made := function.decompose(*arguments, **named)) is not NotImplemented:  # inference mode leaves that to us
            return made
        name = function._schema.name.removeprefix("aten::")
        _check_lock(name)
        _check_memory(name)
        _check_devices(name, (arguments, named))
        # In inference mode, what views a weight would be an inference tensor, and refused; what follows inference mode records.
        with torch.inference_mode(False), torch.no_grad():
            return _compute(function, arguments, named)


def _check_lock(name: str) -> None:
    if _lock and not _lock[0].holders:
        raise RuntimeError(f"{name}: another thread could be computing on the card")


def _check_memory(name: str) -> None:
    if name in _full_at:
        raise torch.OutOfMemoryError("card out of memory")


def _check_devices(name: str, arguments: object) -> None:
    strangers = [leaf for leaf in tree_leaves(arguments) if isinstance(leaf, Tensor) and not isinstance(leaf, CardTensor)]
    if name not in TAKES_BOTH and any(leaf.dim() for leaf in strangers):
        raise RuntimeError(f"{name}: expected all tensors to be on the same device, got card:0 and cpu")


def _goes_to_cpu(named: dict) -> bool:
    return named.get("device") is not None and torch.device(named["device"]).type == "cpu"


def _compute(function: Any, arguments: tuple, named: dict) -> Any:
    """Compute on the CPU; wrap results, unless the processor asked for them, and give what is changed in place as it is."""
    to_cpu = _goes_to_cpu(named)
    on_card = {id(leaf.data_on_card): leaf for leaf in tree_leaves((arguments, named)) if isinstance(leaf, CardTensor)}
    if named.get("device") is not None:
        named["device"] = "cpu"
    computed = function(*tree_map(_data, arguments), **tree_map(_data, named))

    def wrap(result: object) -> object:
        if not isinstance(result, Tensor) or to_cpu:
            return result
        return on_card.get(id(result)) if id(result) in on_card else CardTensor(result)

    if function._schema.name == "aten::copy_" and not isinstance(arguments[0], CardTensor):
        return arguments[0]
    return tree_map(wrap, computed)


def _data(value: object) -> object:
    return value.data_on_card if isinstance(value, CardTensor) else value


def _empty(size: list[int], *_stride: list[int], dtype: torch.dtype | None = None, **_options: object) -> Tensor:
    return CardTensor(torch.empty(size, dtype=dtype, device="cpu"))


def _arange(*ends: float, dtype: torch.dtype | None = None, **_options: object) -> Tensor:
    """Make the numbers at once: torch itself makes an empty tensor larger, and a wrapper keeps its first size."""
    return CardTensor(torch.arange(*ends, dtype=dtype, device="cpu"))


for _overload in ("arange", "arange.start", "arange.start_step"):
    torch.library.impl(f"aten::{_overload}", "PrivateUse1")(_arange)
for _overload in ("empty.memory_format", "empty_strided"):
    torch.library.impl(f"aten::{_overload}", "PrivateUse1")(_empty)


@torch.library.impl("aten::_copy_from", "PrivateUse1")
def _copy_from(source: Tensor, target: Tensor, non_blocking: bool = False) -> Tensor:
    """Copy to or from the card where torch dispatches past the wrapper, as in torch.tensor(numbers, device=CARD)."""
    _data(target).copy_(_data(source))
    return target


_setup_privateuseone_for_python_backend(CARD, backend_module=CardModule())
_apply = nn.Module._apply


def _apply_in_place(module: nn.Module, *arguments: Any, **named: Any) -> nn.Module:
    """Move a module and keep its tied weights one, as torch does on a real card: a wrapper is a new parameter."""
    before = torch.__future__.get_swap_module_params_on_conversion()
    torch.__future__.set_swap_module_params_on_conversion(True)
    try:
        return _apply(module, *arguments, **named)
    finally:
        torch.__future__.set_swap_module_params_on_conversion(before)


nn.Module._apply = _apply_in_place


@contextmanager
def one_thread_at_a_time() -> Iterator[CountedLock]:
    """Refuse what is computed on the card within the block while nobody holds the lock."""
    _lock.append(CountedLock())
    yield _lock[0]
    _lock.clear()


@contextmanager
def full_at(*operations: str) -> Iterator[None]:
    """Fill the card's memory whenever one of these operations runs within the block."""
    _full_at.update(operations)
    try:
        yield
    finally:
        _full_at.clear()
