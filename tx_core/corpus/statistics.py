"""Statistics of each head over many sentences: averages, patterns, and the sentences with the highest scores.

Sentences are streamed in padded batches, so memory does not grow with their number.
"""

import time
from collections.abc import Generator
from contextlib import closing
from dataclasses import dataclass, replace
from functools import cached_property, partial

import numpy as np
from jaxtyping import Float, Int

from tx_core.analysis.patterns import TARGETED_KINDS, HeadPattern, PatternSums, empty_sums, name_heads
from tx_core.corpus.batches import BatchMeasures, TextBatch, batches, label_batch
from tx_core.corpus.sentence_file import LeftOut, Notes, Sentences
from tx_core.corpus.words import AttendedWords, SentenceWords, join_sentences, word_of_tokens
from tx_core.engine.engine import Engine
from tx_core.engine.progress import Progress
from tx_core.engine.threads import parallel_map, worker_count
from tx_core.errors import Busy
from tx_core.transformer.trace import Encoding


@dataclass(frozen=True)
class Ranking:
    """The texts with the highest scores for each head and kind, best first.

    values: the scores; −∞ where there were fewer texts. texts: the numbers of the texts; −1 there.
    """

    values: Float[np.ndarray, "layer head kind place"]
    texts: Int[np.ndarray, "layer head kind place"]

    def among(self, values: Float[np.ndarray, "text layer head kind"], texts: Int[np.ndarray, "text"]) -> "Ranking":
        """Return the ranking with more texts included."""
        more = np.moveaxis(values, 0, -1)
        return self.joined(Ranking(more, np.broadcast_to(texts, more.shape)))

    def joined(self, other: "Ranking") -> "Ranking":
        """Return the best of both rankings, as many places as this one has."""
        values = np.concatenate([self.values, other.values], axis=-1)
        texts = np.concatenate([self.texts, other.texts], axis=-1)
        kept = self.values.shape[-1]
        first = np.argpartition(-values, kept - 1, axis=-1)[..., :kept]
        values, texts = (np.take_along_axis(part, first, axis=-1) for part in (values, texts))
        order = np.lexsort((texts, -values), axis=-1)
        return Ranking(np.take_along_axis(values, order, axis=-1), np.take_along_axis(texts, order, axis=-1))


def empty_ranking(layers: int, heads: int, kinds: int, places: int) -> Ranking:
    """Return a ranking without texts."""
    shape = (layers, heads, kinds, places)
    return Ranking(np.full(shape, -np.inf), np.full(shape, -1))


RANKED_KINDS = (*TARGETED_KINDS, "broad", "focused")
"""The scores by which sentences are ranked for each head: one per pattern, and the concentration of attention."""

PLACES = 5

FEWEST_TOKENS = 5
"""The fewest tokens, special ones left out, of a ranked sentence: in two or three words almost anything resembles a pattern."""

MOST_ATTENDED = 10_000_000
"""Words times heads whose attention is kept for `find_heads`: 80 MB."""


@dataclass(frozen=True)
class HeadReport:
    """Statistics of every head over the sentences read so far.

    Attributes:
        sentences: All sentences, or only those that `strongest` names.
        tokens: Special tokens left out.
        entropy, spread, distance: Means over all tokens: entropy in nats, normalised 0 to 1, and distance in tokens.
        strongest: The sentences with the highest scores; kinds as in RANKED_KINDS.
        left_out: Lines that were not used, those of the file first.
        example: One sentence as the model reads it; None before the first.
        half: Whether it was computed in bfloat16.
        attended: The word that each word attends to most, in the first sentences that were read; None of a scan.
    """

    model: str
    device: str
    sentences: Sentences
    total: int
    read: int
    tokens: int
    seconds: float
    sums: PatternSums
    entropy: Float[np.ndarray, "layer head"]
    spread: Float[np.ndarray, "layer head"]
    distance: Float[np.ndarray, "layer head"]
    strongest: Ranking
    left_out: tuple[LeftOut, ...]
    example: Encoding | None
    half: bool
    attended: AttendedWords | None = None

    @cached_property
    def patterns(self) -> tuple[HeadPattern, ...]:
        """The kind of each head, layer by layer; its agreement is the share of sentences."""
        return name_heads(self.sums)

    @property
    def special_tokens(self) -> bool:
        """Whether the sentences were read with the model's special tokens."""
        return self.example is None or self.example.special_tokens

    @property
    def complete(self) -> bool:
        """Whether all sentences were read."""
        return self.read + sum(one.count for one in self.unread) == self.total

    @property
    def unread(self) -> tuple[LeftOut, ...]:
        """The sentences that the model could not read."""
        return self.left_out[len(self.sentences.left_out) :]


class Reading:
    """Sentences being read by a model, one batch per update; `report` has the statistics so far.

    half: compute in bfloat16, which is faster where the hardware supports it (`Engine.bfloat16`); means then differ by
    about 0.001. words: keep which word each word attends to most.
    """

    def __init__(self, engine: Engine, sentences: Sentences, *, half: bool = False, words: bool = True):
        self.sentences, self._engine, self._notes, self._seconds = sentences, engine, Notes(), 0.0
        shape = engine.info.num_layers, engine.info.num_heads
        counts, means = (len(sentences), 0, 0, 0.0), [np.zeros(shape)] * 3
        ranking = empty_ranking(*shape, len(RANKED_KINDS), PLACES)
        about = engine.name, engine.device, sentences
        self._found = HeadReport(*about, *counts, empty_sums(*shape), *means, ranking, sentences.left_out, None, half)
        self._words: dict[int, SentenceWords] | None = {} if words else None
        self._words_left = MOST_ATTENDED // (shape[0] * shape[1])
        self._joined: AttendedWords | None = None
        self._first = np.zeros(len(sentences), dtype=bool)  # the first occurrence of each sentence; repetitions are not ranked
        self._first[list({text: number for number, text in reversed([*enumerate(sentences.texts)])}.values())] = True

    def updates(self, threads: int | None = None) -> Generator[Progress, None, None]:
        """Read all sentences, yielding the progress. A batch for which the host is busy is retried at the next update.

        threads: The number of computing threads, by default one per background slot.
        """
        engine, half, start = self._engine, self._found.half, time.monotonic()
        try:
            found = batches(engine, self.sentences.texts, self.sentences.lines, self._notes, half=half)
            measure = partial(_measure, engine, self.sentences, half=half, words=self._words is not None)
            with closing(parallel_map(measure, found, threads or worker_count(engine.device))) as results:
                for batch, measured in results:
                    if measured is not None:
                        self._add(measured, batch)
                    self._seconds = time.monotonic() - start
                    yield Progress(self._found.read, len(self.sentences), self._seconds)
        finally:
            self._engine = None  # a cached reading must not keep a large model in memory

    @property
    def report(self) -> HeadReport | None:
        """The statistics so far; None before the first batch."""
        return self.result() if self._found.read else None

    def result(self) -> HeadReport:
        """Return the statistics so far, all 0 before the first batch."""
        left_out = self.sentences.left_out + self._notes.all()
        if self._words and (self._joined is None or len(self._joined.numbers) < len(self._words)):
            self._joined = join_sentences(self._words, self._found.read - len(self._words))
        return replace(self._found, seconds=self._seconds, left_out=left_out, attended=self._joined)

    def _add(self, measured: BatchMeasures, batch: TextBatch) -> None:
        before = self._found
        tokens = before.tokens + int(measured.asked.sum())
        means = {
            name: (getattr(before, name) * before.tokens + getattr(measured, name).sum(axis=0)) / max(tokens, 1)
            for name in ("entropy", "spread", "distance")
        }
        focused = 1 - measured.spread / np.maximum(measured.asked, 1)[:, None, None]
        scores = np.concatenate([measured.scores, focused[..., None]], axis=-1)
        ranked = (measured.asked >= FEWEST_TOKENS) & self._first[list(batch.numbers)]
        strongest = before.strongest.among(scores[ranked], np.array(batch.numbers)[ranked]) if ranked.any() else before.strongest
        self._found = replace(
            before,
            read=before.read + len(batch.rows),
            tokens=tokens,
            sums=before.sums + measured.sums,
            strongest=strongest,
            example=before.example or batch.rows[0],
            **means,
        )
        for place, number in enumerate(batch.numbers if self._words is not None else ()):
            words = self.sentences.words_of(number)
            owners = word_of_tokens(batch.rows[place], words)
            if owners is not None and len(words) <= self._words_left:  # they fit the tokens, and there is space
                self._words_left -= len(words)
                kept = (part[place, ..., : len(words)].copy() for part in (measured.attended, measured.attention))
                self._words[number] = SentenceWords(words, [owners.index(word) for word in range(len(words))], *kept)


def _measure(engine: Engine, sentences: Sentences, batch: TextBatch, *, half: bool, words: bool) -> BatchMeasures | None:
    """Run a batch; None while the host is busy."""
    try:
        own = [sentences.words_of(number) for number in batch.numbers] if words else ()
        owners = [word_of_tokens(*pair) for pair in zip(batch.rows, own, strict=True)] if words else None
        measure = label_batch(batch.rows, owners)  # before a compute slot is taken, which others wait for
        return engine.over_weights(batch.rows, measure, half=half)
    except Busy:
        return None


def read_all(engine: Engine, sentences: Sentences, *, half: bool = False) -> HeadReport | None:
    """Read all sentences as `Reading` does and return the report; None if the model can read none of them."""
    reading = Reading(engine, sentences, half=half)
    for _ in reading.updates():
        pass
    return reading.report
