"""Heads over many sentences: batches against one sentence at a time with its maps kept, side by side in one run.

Times are those of the clock; where processor time is told, it is that of all threads together.
"""

import json
import random
import resource
import sys
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter, process_time, sleep
from typing import NamedTuple

import numpy as np
import psutil
from jaxtyping import Float

from tests.bench.table import Row
from tx_core.analysis.patterns import PatternSums, entropy, mean_distance, normalised_entropy, pattern_sums
from tx_core.corpus.sentence_file import Sentences, embedded_sentences
from tx_core.corpus.statistics import HeadReport, read_all
from tx_core.engine import catalogue
from tx_core.engine.device import computes_bfloat16
from tx_core.engine.engine import Engine
from tx_core.transformer.trace import ALL_PARTS, Trace

SENTENCES = 10_000
SAMPLE = 2048
"""Of which the ratio is measured: so many that, as with all of them, beginning and end of a reading are a small part of it."""
ROUNDS = 3
CLOSE = 1e-5
CLOSE_IN_HALF = 2e-2
"""Of shares, nats and tokens of distance alike: the distances, of several tokens, differ most."""


def made(count: int) -> Sentences:
    """Draw sentences of the built-in set, in each one word in place of another, so that no two are the same."""
    chance, known = random.Random(5), embedded_sentences().texts
    texts: dict[str, None] = {}
    while len(texts) < count:
        words, others = chance.choice(known).split(), chance.choice(known).split()
        words[chance.randrange(len(words))] = chance.choice(others)
        texts[" ".join(words)] = None
    return Sentences("made", tuple(texts), tuple(range(1, count + 1)), ())


class Alone(NamedTuple):
    """What was kept and found one sentence at a time. means: entropy, spread and distance, as in `HeadReport`."""

    kept: list[Trace]
    sums: PatternSums
    means: Float[np.ndarray, "measure layer head"]

    def apart(self, report: HeadReport) -> float:
        """Return by how much the report's numbers differ from these, at most."""
        pairs = (
            (report.sums.shares, self.sums.shares),
            (report.sums.scores, self.sums.scores),
            (np.stack([report.entropy, report.spread, report.distance]), self.means),
        )
        return max(float(np.abs(ours - theirs).max()) for ours, theirs in pairs)


def one_at_a_time(engine: Engine, texts: Sequence[str], keep: Collection[str] = ("weights",)) -> Alone:
    """Run each sentence alone, keep what it gives, and measure what the report tells by the measures of a single run."""
    kept: list[Trace] = []
    sums: PatternSums | None = None
    totals, tokens = np.zeros((3, engine.info.num_layers, engine.info.num_heads)), 0
    for text in texts:
        trace = engine.trace(text, keep=keep)
        kept.append(trace)
        stack, own = trace.attention, ~np.array(trace.attention.query_tokens.special)
        alone = pattern_sums(stack.weights, stack.query_tokens)
        sums = alone if sums is None else sums + alone
        totals += [measure(stack.weights)[..., own].sum(axis=-1) for measure in (entropy, normalised_entropy, mean_distance)]
        tokens += int(own.sum())
    return Alone(kept, sums, totals / tokens)


class Timed(NamedTuple):
    """One way of reading: milliseconds a sentence by the clock and of the processors, and what it found last."""

    clock: float
    processor: float
    found: Alone | HeadReport


def by_turns(ways: Sequence[Callable[[], Alone | HeadReport]], sentences: int) -> list[Timed]:
    """Time the ways by turns on the same sentences, so that a busy moment of the machine hits all."""
    rounds: list[list[Timed]] = [[] for _ in ways]
    for _ in range(ROUNDS):
        for way, timed in zip(ways, rounds, strict=True):
            start, used_before = perf_counter(), process_time()
            found = way()
            taken, used = perf_counter() - start, process_time() - used_before
            timed.append(Timed(taken / sentences * 1000, used / sentences * 1000, found))
    return [
        Timed(median(one.clock for one in timed), median(one.processor for one in timed), timed[-1].found) for timed in rounds
    ]


def ratios(engine: Engine) -> list[Row]:
    """Compare batches with one sentence at a time: in single precision, and as the page reads where it can, in half."""
    texts, half = made(SAMPLE), computes_bfloat16(engine.device)
    ways = [
        partial(read_all, engine, texts),
        partial(one_at_a_time, engine, texts.texts),
        partial(one_at_a_time, engine, texts.texts, ALL_PARTS),
    ]
    ways += [partial(read_all, engine, texts, half=True)] if half else []
    batched, alone, full, *halved = by_turns(ways, SAMPLE)
    what = "heads over many sentences, batches against one at a time with its maps kept"
    rows = [compared(f"{what}{', both in full precision' if half else ''}", batched, alone, full, CLOSE)]
    return rows + [compared(f"{what}, as the page reads: in half precision", one, alone, full, CLOSE_IN_HALF) for one in halved]


def compared(what: str, batched: Timed, alone: Timed, full: Timed, close: float) -> Row:
    """Return how many times as fast the batches are, and how far their results are from those one at a time."""
    apart, times = alone.found.apart(batched.found), alone.clock / batched.clock
    measured = (
        f"{batched.clock:.2f} ms / {alone.clock:.2f} ms a sentence = {times:.1f} × as fast ({full.clock / batched.clock:.1f} × "
        f"where queries, keys, values, scores and vectors are kept too), {1000 / batched.clock:,.0f} sentences/s; processor "
        f"time {batched.processor:.2f} ms / {alone.processor:.2f} ms = {batched.processor / alone.processor:.0%}; "
        f"results {apart:.0e} apart"
    )
    return Row(what, measured, f"10 × as fast, {close:.0e} apart", times >= 10 and apart <= close)


def all_of_them(engine: Engine) -> Row:
    """Read 10,000 sentences once; tell the time, and by how much the memory grew meanwhile."""
    sentences, half = made(SENTENCES), computes_bfloat16(engine.device)
    read_all(engine, made(SAMPLE), half=half)
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
    return [all_of_them(engine), *ratios(engine), *scans()]
