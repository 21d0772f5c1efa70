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
from typing import NoReturn

import numpy as np

from tests.support.serving import ROOT

KEEP = "\nimport numpy\nnumpy.save({!r}, numpy.asarray({}))\n"
SECONDS = 200


def computed(snippets: Sequence[tuple[str, Sequence[str]]], folder: Path, **settings: str) -> list[list[np.ndarray]]:
    """Run pieces of code one after the other as they stand; give what the expressions named with each are in its end.

    They run in a process of their own, in the root folder, without a network. settings: of its environment.
    """
    files = [
        [(expression, folder / f"{number}-{place}.npy") for place, expression in enumerate(expressions)]
        for number, (_, expressions) in enumerate(snippets)
    ]
    code = "\n".join(
        snippet + "".join(KEEP.format(str(file), expression) for expression, file in kept)
        for (snippet, _), kept in zip(snippets, files, strict=True)
    )
    if settings:  # the libraries read some of them at their import
        run = subprocess.run([sys.executable, "-"], input=code, timeout=SECONDS, capture_output=True, **process_of(settings))
        assert run.returncode == 0, run.stderr
    else:
        (folder / "snippet.py").write_text(code, encoding="utf-8")
        assert run_in_a_fork(folder / "snippet.py", folder / "said.txt") == "0\n", (folder / "said.txt").read_text("utf-8")
    return [[np.load(file) for _, file in kept] for kept in files]


def process_of(settings: dict[str, str]) -> dict[str, object]:
    """Return how to start a process that runs code: its folder, its streams and its environment."""
    own = {name: value for name, value in os.environ.items() if not name.startswith(("HF_", "TX_"))}
    environment = own | {"HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1", "PYTHONUTF8": "1"} | settings
    return {"cwd": ROOT, "env": environment, "text": True, "encoding": "utf-8"}


@functools.cache
def forking_process() -> subprocess.Popen:
    """Start the process that forks, which ends when this one does."""
    command = [sys.executable, "-m", "tests.support.snippets"]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, **process_of({}))
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
