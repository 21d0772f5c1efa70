"""The Python that pages offer, run as their reader would run it: each time in a new process.

The process is a fork of one that has imported torch and transformers, and nothing of this project beside this module.
"""

import atexit
import functools
import os
import runpy
import subprocess
import sys
import traceback
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NoReturn

import numpy as np

from tests.support.serving import ROOT

KEEP = "\nimport numpy\nnumpy.save({!r}, numpy.asarray({}))\n"


@functools.cache
def hub_home() -> Path:
    """The folder in which the pieces of code find models of the hub, and the hub's library keeps them."""
    folder = TemporaryDirectory(prefix="hub-")
    atexit.register(folder.cleanup)
    return Path(folder.name)


def computed(snippets: Sequence[tuple[str, Sequence[str]]], folder: Path) -> list[list[np.ndarray]]:
    """Run pieces of code one after the other as they stand; give what the expressions named with each are in its end.

    They run in a process of their own, in the root folder, without a network.
    """
    files = [
        [(expression, folder / f"{number}-{place}.npy") for place, expression in enumerate(expressions)]
        for number, (_, expressions) in enumerate(snippets)
    ]
    code = "\n".join(
        snippet + "".join(KEEP.format(str(file), expression) for expression, file in kept)
        for (snippet, _), kept in zip(snippets, files, strict=True)
    )
    (folder / "snippet.py").write_text(code, encoding="utf-8")
    assert run_in_a_fork(folder / "snippet.py", folder / "said.txt") == "0\n", (folder / "said.txt").read_text("utf-8")
    return [[np.load(file) for _, file in kept] for kept in files]


@functools.cache
def forking_process() -> subprocess.Popen:
    """Start the process that forks, which ends when this one does."""
    own = {name: value for name, value in os.environ.items() if not name.startswith(("HF_", "TX_"))}
    environment = own | {"HF_HOME": str(hub_home()), "HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1", "PYTHONUTF8": "1"}
    command = [sys.executable, "-m", "tests.support.snippets"]
    process = subprocess.Popen(
        command, cwd=ROOT, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, encoding="utf-8"
    )
    atexit.register(process.communicate)
    return process


def run_in_a_fork(code: Path, said: Path) -> str:
    """Run a file in a fork, its output in another file; give the line with its exit code."""
    process = forking_process()
    process.stdin.write(f"{code}\n{said}\n")
    process.stdin.flush()
    return process.stdout.readline()


def run_as_main(code: Path, said: Path) -> NoReturn:
    """Run a file as the main program, and end the process as an interpreter would."""
    for stream in (1, 2):
        os.dup2(os.open(said, os.O_WRONLY | os.O_CREAT | os.O_APPEND), stream)
    failed = 1
    try:
        runpy.run_path(str(code), run_name="__main__")
        failed = 0
    finally:
        if failed:
            traceback.print_exc()
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(failed)


def main() -> None:
    """Fork for each two lines of the input, a file of code and one for what it says, and write how it ended."""
    import torch  # noqa: F401
    from transformers import AutoModelForMaskedLM, AutoTokenizer, BertForMaskedLM  # noqa: F401

    lines = (Path(line.strip()) for line in sys.stdin)
    for code in lines:
        said = next(lines)
        if (child := os.fork()) == 0:
            run_as_main(code, said)
        _, status = os.waitpid(child, 0)
        print(os.waitstatus_to_exitcode(status), flush=True)


if __name__ == "__main__":
    main()
