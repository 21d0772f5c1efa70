"""Heads over many sentences: batches against one sentence at a time with its full maps kept, in the same run."""

import random
import resource
import sys
from statistics import median
from time import perf_counter

from tests.bench.table import Row
from tx_core import models
from tx_core.engine import Engine
from tx_core.head_patterns import PatternSums, pattern_sums
from tx_core.head_statistics import read_all
from tx_core.measures import distance, entropy
from tx_core.sentence_file import Sentences, embedded_sentences
from tx_core.trace import Trace

SENTENCES = 10_000
SAMPLE = 1024
ROUNDS = 5


def made(count: int) -> Sentences:
    """Draw sentences of the built-in set, a word of each left out, so that few are the same."""
    chance = random.Random(5)
    texts = []
    for _ in range(count):
        words = chance.choice(embedded_sentences().texts).split()
        words.pop(chance.randrange(len(words)))
        texts.append(" ".join(words) or "No")
    return Sentences("made", tuple(texts), tuple(range(1, count + 1)), ())


def one_at_a_time(engine: Engine, texts: tuple[str, ...]) -> list[Trace]:
    """Run each sentence alone, keep its maps, and measure what the statistics measure."""
    kept: list[Trace] = []
    sums: PatternSums | None = None
    for text in texts:
        trace = engine.trace(text)
        kept.append(trace)
        stack = trace.attention
        alone = pattern_sums(stack.weights, stack.query_tokens)
        sums = alone if sums is None else sums + alone
        entropy(stack.weights).mean()
        distance(stack.weights).mean()
    return kept


def ratio(engine: Engine) -> Row:
    """Time both by turns on the same sentences, so that a busy moment of the machine hits both."""
    sentences = made(SAMPLE)
    ways = (lambda: read_all(engine, sentences), lambda: one_at_a_time(engine, sentences.texts))
    times: tuple[list[float], list[float]] = ([], [])
    for _ in range(ROUNDS):
        for way, kept in zip(ways, times, strict=True):
            start = perf_counter()
            way()
            kept.append((perf_counter() - start) / SAMPLE * 1000)
    batched, alone = map(median, times)
    measured = f"{batched:.2f} ms / {alone:.2f} ms a sentence = {alone / batched:.1f} × as fast"
    return Row("heads over many sentences, batches against one at a time with full maps kept", measured, "10 × as fast",
               alone >= 10 * batched)  # fmt: skip


def all_of_them(engine: Engine) -> Row:
    """Read 10,000 sentences once; tell the time, and by how much the memory grew meanwhile."""
    sentences = made(SENTENCES)
    read_all(engine, made(SAMPLE))
    before, start = _peak_megabytes(), perf_counter()
    report = read_all(engine, sentences)
    seconds, grown = perf_counter() - start, _peak_megabytes() - before
    tokens = report.tokens / report.read
    return Row(f"{SENTENCES:,} sentences of {tokens:.0f} tokens, all heads, embedded model",
               f"{seconds:.0f} s, {grown:.0f} MB more at the peak", "minutes", seconds <= 180)  # fmt: skip


def _peak_megabytes() -> float:
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / 1e6 if sys.platform == "darwin" else peak / 1e3


def rows() -> list[Row]:
    """Measure everything of this file."""
    engine = models.load(models.DEFAULT)
    return [all_of_them(engine), ratio(engine)]


if __name__ == "__main__":
    from tests.bench.table import markdown

    print(markdown(rows()))
