"""The provenance of a model, for its manifest: texts with hashes, code version, hardware."""

import platform
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch

from tx_core.engine.device import computes_bfloat16
from tx_core.training.pretraining.corpus import SOURCES, CorpusFile


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
        "device": torch.cuda.get_device_name() if is_gpu else f"{platform.processor() or platform.machine()} {device}",
        "threads": torch.get_num_threads(),
        "precision": "bf16" if half else "fp32",
        "torch": str(torch.__version__),
        "python": platform.python_version(),
    }


def choose_device(wanted: str) -> str:
    """Return the device asked for, or the fastest available."""
    if wanted != "auto":
        return wanted
    if torch.cuda.is_available():
        return "cuda"
    return "mps" if torch.backends.mps.is_available() else "cpu"


def in_half(precision: str, device: str) -> bool:
    """Return whether to train in bfloat16: as asked for, or where the hardware supports it."""
    return computes_bfloat16(device) if precision == "auto" else precision == "bf16"
