"""Runs the Python that a page offers, as a reader would: in a process of its own, in the root folder, without a network."""

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from tests.support.serving import ROOT

KEEP = "\nimport numpy\nnumpy.save({!r}, numpy.asarray({}))\n"


def computed(snippets: Sequence[tuple[str, Sequence[str]]], folder: Path, **settings: str) -> list[list[np.ndarray]]:
    """Run pieces of code one after the other as they stand; give what the expressions named with each are in its end."""
    files = [
        [(expression, folder / f"{number}-{place}.npy") for place, expression in enumerate(expressions)]
        for number, (_, expressions) in enumerate(snippets)
    ]
    code = "\n".join(
        snippet + "".join(KEEP.format(str(file), expression) for expression, file in kept)
        for (snippet, _), kept in zip(snippets, files, strict=True)
    )
    own = {name: value for name, value in os.environ.items() if not name.startswith(("HF_", "TX_"))}
    run = subprocess.run(
        [sys.executable, "-"],
        input=code,
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=200,
        encoding="utf-8",
        env=own | {"HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1", "PYTHONUTF8": "1"} | settings,
    )
    assert run.returncode == 0, run.stderr
    return [[np.load(file) for _, file in kept] for kept in files]
