"""Where to compute: CUDA, then MPS, then the CPU, or the device that the host sets. And on how many cores."""

from threading import Lock, Thread, local

import torch

from tx_core.errors import ModelUnavailable
from tx_core.settings import allowed, host_settings

_thread = local()
_thread_count = Lock()


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
        return torch.cuda.is_bf16_supported(including_emulation=False)
    able = torch.cpu.get_capabilities() if device == "cpu" else {}
    return bool(able.get("avx512_bf16") or able.get("amx_bf16"))


def use_one_core() -> None:
    """Compute on one core in the current thread; all other threads keep what they have.

    Small matrices gain nothing from a second core, and on a busy host threads that wait for one another stand still.
    torch.set_num_threads sets the count of the calling thread and the default of threads born later, so one of those
    restores the default. A thread that begins to compute in between, less than a millisecond, starts with one core, too:
    its results are the same, only slower on large matrices.
    """
    if getattr(_thread, "one_core", False):
        return
    _thread.one_core = True
    with _thread_count:  # else a concurrent call could take the 1 for the usual count, and restore that
        usual = _thread.usual = torch.get_num_threads()
        torch.set_num_threads(1)
        restore = Thread(target=torch.set_num_threads, args=(usual,))
        restore.start()
        restore.join()


def use_all_cores() -> None:
    """Undo `use_one_core` in the current thread, if it was called there."""
    if getattr(_thread, "one_core", False):
        _thread.one_core = False
        torch.set_num_threads(_thread.usual)
