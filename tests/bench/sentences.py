"""Heads over many sentences: how long a file takes on the page and from the command line, and the memory of it."""

import json
import random
import resource
import sys
from collections.abc import Sequence
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter, sleep

import psutil

from tests.bench.table import Row
from tx_core.corpus.find_heads import Condition, Relation, find_heads
from tx_core.corpus.sentence_file import Sentences, embedded_sentences
from tx_core.corpus.statistics import read_all
from tx_core.engine import catalogue
from tx_core.engine.device import computes_bfloat16
from tx_core.engine.engine import Engine
from tx_core.errors import TextProblem

SENTENCES = 10_000


def made(count: int) -> Sentences:
    """Draw sentences of the built-in set, in each one word in place of another, so that no two are the same."""
    chance, known = random.Random(5), embedded_sentences().texts
    texts: dict[str, None] = {}
    while len(texts) < count:
        words, others = chance.choice(known).split(), chance.choice(known).split()
        words[chance.randrange(len(words))] = chance.choice(others)
        texts[" ".join(words)] = None
    return Sentences("made", tuple(texts), tuple(range(1, count + 1)), ())


def all_of_them(engine: Engine) -> Row:
    """Read 10,000 sentences once; tell the time, and by how much the memory grew meanwhile."""
    sentences, half = made(SENTENCES), computes_bfloat16(engine.device)
    read_all(engine, made(500), half=half)
    before, start = _peak_megabytes(), perf_counter()
    report = read_all(engine, sentences, half=half)
    seconds, peak = perf_counter() - start, _peak_megabytes()
    tokens = report.tokens / report.read
    return Row(
        f"{SENTENCES:,} sentences of {tokens:.0f} tokens, all heads, embedded model",
        f"{seconds:.0f} s{' in half precision' if half else ''}, {peak - before:.0f} MB more at the peak of {peak:.0f} MB",
        "minutes",
        seconds <= 180,
    )


SEARCHED, ALONE = 20_000, 500
"""Sentences that are searched in batches, and one at a time."""
RELATION = Relation(Condition("form", "his|her"), Condition("form", "he|she"))


def relation(engine: Engine) -> Row:
    """Search many sentences for the heads of a relation, and some of them one at a time: sentences a second, in one run."""
    many, rates = made(SEARCHED), []
    find_heads(engine, RELATION, made(500))
    for count, groups in ((SEARCHED, [many.texts]), (ALONE, [[text] for text in many.texts[:ALONE]])):
        start = perf_counter()
        for texts in groups:
            with suppress(TextProblem):  # of a sentence without the relation
                find_heads(engine, RELATION, texts)
        rates.append(count / (perf_counter() - start))
    together, alone = rates
    measured = f"{together:,.0f} / {alone:,.0f} sentences a second = {together / alone:.1f} ×"
    what = f"{SEARCHED:,} sentences searched for the heads of a relation, in batches / one at a time (of {ALONE})"
    return Row(what, measured, "", kept=True)


SCANNED = (2048, 10_240)
"""Sentences of a short and of a long scan: what lies between them is timed, so the start of processes is left out."""


def scans() -> list[Row]:
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


def _peak_megabytes() -> float:
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / 1e6 if sys.platform == "darwin" else peak / 1e3


def rows() -> list[Row]:
    """Measure everything of this file."""
    engine = catalogue.load(catalogue.DEFAULT)
    return [all_of_them(engine), relation(engine), *scans()]
