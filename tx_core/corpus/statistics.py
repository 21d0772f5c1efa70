"""What each head does over many sentences: averages, patterns, and where it does them most. Streamed, in bounded memory."""

import time
from collections.abc import Generator
from contextlib import closing
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np
from jaxtyping import Float

from tx_core.analysis.patterns import AIMED, HeadPattern, PatternSums, name_heads
from tx_core.corpus.batch_measures import BatchMeasures, label, measure_batch
from tx_core.corpus.batches import TextBatch, batches
from tx_core.corpus.sentence_file import LeftOut, Notes, Sentences
from tx_core.corpus.strongest import Strongest, none_yet
from tx_core.engine.engine import Engine
from tx_core.engine.parallel_map import at_once, results_in_order
from tx_core.errors import Busy
from tx_core.transformer.trace import Encoding

RANKED = (*AIMED, "broad", "focused")
"""What sentences are ranked by for each head: the score of each pattern, and how much attention rests on few tokens."""
PLACES = 5
FEWEST_TOKENS = 5
"""A sentence of fewer tokens of its own is not ranked: in two or three words almost anything looks like a pattern."""


@dataclass(frozen=True)
class Progress:
    """How far a reading is. batch, batches: sentences, under the names that a progress bar takes."""

    batch: int
    batches: int
    seconds: float


@dataclass(frozen=True)
class HeadReport:
    """What was found in the sentences read so far.

    entropy (nats), spread (0 to 1, as `measures.relative_entropy`) and distance (tokens) are means over all tokens of
    the sentences, special tokens not being asked where they look. strongest: kinds as in RANKED, numbers of sentences.
    left_out: lines of the file that were not used, the file's own first. example: one of the sentences as the model reads it.
    half: computed in bfloat16.
    """

    model: str
    device: str
    sentences: Sentences
    read: int
    tokens: int
    seconds: float
    sums: PatternSums
    entropy: Float[np.ndarray, "layer head"]
    spread: Float[np.ndarray, "layer head"]
    distance: Float[np.ndarray, "layer head"]
    strongest: Strongest
    left_out: tuple[LeftOut, ...]
    example: Encoding
    half: bool

    @cached_property
    def patterns(self) -> tuple[HeadPattern, ...]:
        """The name of each head, layer by layer; agreement tells in what part of the sentences it holds."""
        return name_heads(self.sums)

    @property
    def complete(self) -> bool:
        """Whether nothing is left to read."""
        return self.read + sum(one.count for one in self.left_out[len(self.sentences.left_out) :]) == len(self.sentences)

    @property
    def nbytes(self) -> int:
        """The memory of numbers and sentences, in bytes."""
        arrays = (self.entropy, self.spread, self.distance, self.strongest.values, self.strongest.texts)
        return sum(array.nbytes for array in arrays) + self.sums.nbytes + sum(60 + 2 * len(text) for text in self.sentences.texts)


class Reading:
    """Sentences being read by a model, a batch a step; `report` tells what was found so far.

    half: in bfloat16, faster where the hardware computes it (`device.computes_half`); averages then differ by some 0.001.
    """

    def __init__(self, engine: Engine, sentences: Sentences, *, half: bool = False):
        self.model, self.device, self.sentences, self.half = engine.name, engine.device, sentences, half
        self._engine: Engine | None = engine
        self._notes = Notes()
        self._sums: PatternSums | None = None
        self._example: Encoding | None = None
        self._means = np.zeros((3, engine.num_layers, engine.num_heads))
        self._strongest = none_yet(engine.num_layers, engine.num_heads, len(RANKED), PLACES)
        self._read, self._tokens, self._seconds = 0, 0.0, 0.0

    def steps(self) -> Generator[Progress, None, None]:
        """Read all sentences; where the host has no place to compute, try again at the next step."""
        engine, start = self._engine, time.monotonic()
        try:
            found = batches(engine, self.sentences.texts, self.sentences.lines, self._notes, half=self.half)
            with closing(results_in_order(partial(_measure, engine, half=self.half), found, at_once(self.device))) as results:
                for batch, measured in results:
                    if measured is not None:
                        self._add(measured, batch)
                    yield self._progress(start)
        finally:
            self._engine = None  # what is kept of a reading must not keep a large model in memory

    @property
    def report(self) -> HeadReport | None:
        """What was found so far; None before the first batch."""
        if self._sums is None:
            return None
        entropy, spread, distance = self._means / max(self._tokens, 1)
        return HeadReport(
            self.model,
            self.device,
            self.sentences,
            self._read,
            int(self._tokens),
            self._seconds,
            self._sums,
            entropy,
            spread,
            distance,
            self._strongest,
            self.sentences.left_out + self._notes.all(),
            self._example,
            self.half,
        )

    def _progress(self, start: float) -> Progress:
        self._seconds = time.monotonic() - start
        return Progress(self._read, len(self.sentences), self._seconds)

    def _add(self, measured: BatchMeasures, batch: TextBatch) -> None:
        self._sums = measured.sums if self._sums is None else self._sums + measured.sums
        self._means += np.stack([part.sum(axis=0) for part in (measured.entropy, measured.spread, measured.distance)])
        self._example = self._example or batch.rows[0]
        self._read += len(batch.rows)
        self._tokens += float(measured.asked.sum())
        focused = 1 - measured.spread / np.maximum(measured.asked, 1)[:, None, None]
        scores = np.concatenate([measured.scores, focused[..., None]], axis=-1)
        ranked = measured.asked >= FEWEST_TOKENS
        if ranked.any():
            self._strongest = self._strongest.among(scores[ranked], np.array(batch.numbers)[ranked])


def _measure(engine: Engine, batch: TextBatch, *, half: bool) -> BatchMeasures | None:
    """Run a batch; None where the host has no place to compute for now."""
    try:
        labels = label(batch.rows)  # before there is a place to compute, which others wait for
        return engine.over_weights(batch.rows, lambda layers: measure_batch(layers, labels), half=half)
    except Busy:
        return None


def read_all(engine: Engine, sentences: Sentences, *, half: bool = False) -> HeadReport | None:
    """Read all sentences at once, as a `Reading` does; None where the model can read none of them."""
    reading = Reading(engine, sentences, half=half)
    for _ in reading.steps():
        pass
    return reading.report
