"""Heads over many sentences: how long a file takes from the command line, and the memory of it."""

import json
import random
import sys
from collections.abc import Sequence
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from time import sleep

import psutil

from tests.bench.table import Row
from tx_core.corpus.sentence_file import Sentences, embedded_sentences


def made(count: int) -> Sentences:
    """Draw sentences of the built-in set, in each one word in place of another, so that no two are the same."""
    chance, known = random.Random(5), embedded_sentences().texts
    texts: dict[str, None] = {}
    while len(texts) < count:
        words, others = chance.choice(known).split(), chance.choice(known).split()
        words[chance.randrange(len(words))] = chance.choice(others)
        texts[" ".join(words)] = None
    return Sentences("made", tuple(texts), tuple(range(1, count + 1)), ())


SCANNED = (2048, 10_240)
"""Sentences of a short and of a long scan: what lies between them is timed, so the start of processes is left out."""


def rows() -> list[Row]:
    """Scan on one core, on two, and by Ray with two workers where it is installed; tell the memory of all processes, too."""
    ways = {"1 core": ("1",), "2 cores": ("2",), **({"Ray with 2 workers": ("2", "--ray", "local")} if find_spec("ray") else {})}
    rows = []
    for way, words in ways.items():
        (before, less), (after, most) = (scanned(count, words) for count in SCANNED)
        rate = (SCANNED[1] - SCANNED[0]) / max(after - before, 1e-9)
        measured = f"{rate:,.0f} sentences/s; {less:,.0f} MB at the peak of {SCANNED[0]:,}, {most:,.0f} MB of {SCANNED[1]:,}"
        rows.append(Row(f"scan of a file, all heads, embedded model: {way}", measured, "memory does not grow", most < 1.1 * less))
    return rows


def scanned(count: int, words: Sequence[str]) -> tuple[float, float]:
    """Scan so many sentences; return the seconds of the scan and the megabytes of all its processes at the peak."""
    with TemporaryDirectory() as folder:
        file, out, peak = Path(folder) / "made.txt", Path(folder) / "heads.json", 0.0
        file.write_text("\n".join(made(count).texts), encoding="utf-8")
        command = [sys.executable, "-m", "tx_core.corpus.scan", str(file), "--out", str(out), "--part-sentences", "512"]
        process = psutil.Popen([*command, "--workers", *words])
        while process.poll() is None:
            with suppress(psutil.NoSuchProcess):
                found = [process, *process.children(recursive=True)]
                peak = max(peak, sum(one.memory_info().rss for one in found) / 1e6)
            sleep(0.2)
        return json.loads(out.read_bytes())["seconds"], peak
