"""Records of a run: its saved state, and its provenance for the manifest (texts with hashes, code version, hardware).

The state is written atomically, so that a kill at any moment loses minutes at most.
"""

import os
import pickle
import platform
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch

from tx_core.engine.device import best_device, computes_bfloat16
from tx_core.training.pretraining.corpus import SOURCES, CorpusFile, CorpusProblem

STATE = "state.pt"


@dataclass
class RunProgress:
    """The progress of a run over all its sittings.

    Attributes:
        step: Updates made.
        batches: Batches read.
        tokens: Tokens read.
        seconds: Time spent training.
        sittings: How often the run was started or resumed.
        curve: The training loss over time.
        held_out: The measurements on held-out text.
    """

    step: int = 0
    batches: int = 0
    tokens: int = 0
    seconds: float = 0.0
    sittings: int = 1
    curve: list[dict[str, Any]] = field(default_factory=list)
    held_out: list[dict[str, Any]] = field(default_factory=list)


def save_state(folder: Path, state: dict[str, Any]) -> None:
    """Write a temporary file, flush it, and move it over the old state."""
    folder.mkdir(parents=True, exist_ok=True)
    unfinished = folder / f"{STATE}.{os.getpid()}"
    with unfinished.open("wb") as out:
        torch.save(state, out)
        out.flush()
        os.fsync(out.fileno())
    os.replace(unfinished, folder / STATE)


def load_state(folder: Path) -> dict[str, Any] | None:
    """Load the saved state of a run, or None without one; only numbers and tensors, never code.

    Raises:
        CorpusProblem: If the file is damaged.
    """
    if not (folder / STATE).exists():
        return None
    try:
        return torch.load(folder / STATE, map_location="cpu", weights_only=True)
    except (RuntimeError, EOFError, pickle.UnpicklingError) as broken:
        raise CorpusProblem(f"{folder / STATE} is damaged: delete it to start the run anew.") from broken


def check_same_run(saved: dict[str, Any], asked: dict[str, Any]) -> None:
    """Raise CorpusProblem if the run to resume was started with other settings or texts."""
    changed = [name for name in asked if saved.get(name) != asked[name]]
    if changed:
        told = "; ".join(_changed(name, saved.get(name), asked[name]) for name in changed[:3])
        raise CorpusProblem(f"This folder holds a run that cannot be resumed with other settings: {told}. Choose another --out.")


def _changed(name: str, saved: Any, asked: Any) -> str:
    """Describe the difference; of a record, in the first field that differs."""
    if isinstance(saved, dict) and isinstance(asked, dict):
        field = next(field for field in saved | asked if saved.get(field) != asked.get(field))
        return _changed(f"{name}, {field}", saved.get(field), asked.get(field))
    return f"{name} was {repr(saved)[:150]}, now {repr(asked)[:150]}"


def describe_data(sources: Sequence[CorpusFile]) -> list[dict[str, Any]]:
    """List the texts with their hashes, sizes and weights."""
    return [
        {
            "name": source.name,
            "sha256": source.sha256,
            "lines": source.lines,
            "bytes": source.file.stat().st_size,
            "weight": source.weight,
        }
        for source in sources
    ]


def read_licences(corpus: Path) -> str:
    """Return the text about sources and licences beside the corpus, "" without one."""
    file = corpus / SOURCES
    return file.read_text(encoding="utf-8") if file.exists() else ""


def code_version() -> str:
    """Return the commit of this code, with a plus sign if files differ from it; "unknown" outside a repository."""
    here = Path(__file__).parent
    commit = _git(here, "rev-parse", "HEAD")
    if commit is None:
        return "unknown"
    return commit + ("+" if _git(here, "status", "--porcelain", "--untracked-files=no") else "")


def _git(folder: Path, *words: str) -> str | None:
    try:
        done = subprocess.run(["git", *words], cwd=folder, capture_output=True, text=True, timeout=20, check=True)
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip()


def describe_hardware(device: str, half: bool) -> dict[str, Any]:
    """Describe the hardware and the versions."""
    is_gpu = device.startswith("cuda")
    return {
        "device": torch.cuda.get_device_name(device) if is_gpu else f"{platform.processor() or platform.machine()} {device}",
        "threads": torch.get_num_threads(),
        "precision": "bf16" if half else "fp32",
        "torch": str(torch.__version__),
        "python": platform.python_version(),
    }


def choose_device(wanted: str) -> str:
    """Return the requested device; for "auto", that of `best_device`."""
    return best_device() if wanted == "auto" else wanted


def in_half(precision: str, device: str) -> bool:
    """Return whether to train in bfloat16: as requested, or for "auto" if the hardware supports it."""
    return computes_bfloat16(device) if precision == "auto" else precision == "bf16"
