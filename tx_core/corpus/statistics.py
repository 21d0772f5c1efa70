"""What each head does over many sentences: averages, patterns, and the sentences where it does them most.

Sentences are streamed in padded batches, so memory does not grow with their number.
"""

import time
from collections.abc import Generator, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np
import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from tx_core.analysis.patterns import (
    PATTERN_KINDS,
    TARGETED_KINDS,
    HeadPattern,
    PatternSums,
    empty_sums,
    name_heads,
    padded_targets,
    score_above_chance,
    winning_kinds,
)
from tx_core.corpus.batches import TextBatch, batches
from tx_core.corpus.sentence_file import LeftOut, Notes, Sentences
from tx_core.engine.device import parallel_map, worker_count
from tx_core.engine.engine import Engine, LayerWeights
from tx_core.errors import Busy
from tx_core.transformer.trace import Encoding


@dataclass(frozen=True)
class BatchMeasures:
    """Sums over the own tokens of each text, special tokens left out; otherwise as `PatternSums`.

    Attributes:
        given: Attention on the targets of each kind.
        chance: What an even head would give.
        queries: How many queries have a target.
        entropy: In nats.
        spread: Normalised entropy.
        distance: In tokens.
        asked: The number of own tokens of each text.
    """

    given: Float[np.ndarray, "text layer head kind"]
    chance: Float[np.ndarray, "text kind"]
    queries: Float[np.ndarray, "text kind"]
    entropy: Float[np.ndarray, "text layer head"]
    spread: Float[np.ndarray, "text layer head"]
    distance: Float[np.ndarray, "text layer head"]
    asked: Float[np.ndarray, "text"]

    @cached_property
    def scores(self) -> Float[np.ndarray, "text layer head kind"]:
        """The score of each kind for each head in each text, 0 to 1."""
        return score_above_chance(self.given, self.chance[:, None, None], self.queries[:, None, None])

    @property
    def sums(self) -> PatternSums:
        """The sums of all texts."""
        votes = np.eye(len(PATTERN_KINDS))[winning_kinds(self.scores)].sum(axis=0)
        return PatternSums(self.given.sum(0), self.chance.sum(0), self.queries.sum(0), votes, len(self.asked))


@dataclass(frozen=True)
class BatchTargets:
    """What is known of a batch before it runs.

    Attributes:
        lengths: In tokens.
        asked: The own tokens of each text.
        targets: As of `patterns.kind_targets`, from those tokens.
    """

    lengths: Int[np.ndarray, "text"]
    asked: Bool[np.ndarray, "text query"]
    targets: Bool[np.ndarray, "text kind query key"]


def label_batch(rows: Sequence[Encoding]) -> BatchTargets:
    """Mark the own tokens of each text and the targets of each kind from them; padding is neither."""
    lengths = np.array([len(row) for row in rows])
    asked = np.zeros((len(rows), lengths.max()), dtype=bool)
    for number, row in enumerate(rows):
        asked[number, : len(row)] = ~np.array(row.special)
    return BatchTargets(lengths, asked, padded_targets(rows) & asked[:, None, :, None])


def measure_batch(layers: LayerWeights, labels: BatchTargets) -> BatchMeasures:
    """Measure every head in every text of a padded batch, in single precision at least."""
    layers = [weights.float() if weights.dtype == torch.bfloat16 else weights for weights in layers]
    device, longest = layers[0].device, layers[0].shape[-1]
    real, asked, targets = (torch.from_numpy(part).to(device) for part in (labels.lengths, labels.asked, labels.targets))
    place = torch.arange(longest, device=device)
    aims = _aims(targets, asked, real, place)
    aimed = torch.stack([weights.flatten(2) @ aims for weights in layers], dim=1)
    # In a model that writes no head can look ahead, and chance then counts the past alone, as in `pattern_sums`.
    both_ways = (aimed[..., -1] > 0).flatten(1).any(dim=1)[:, None, None]
    reachable = asked[:, :, None] & (place < real[:, None, None]) & (both_ways | (place <= place[:, None]))
    widths = reachable.sum(dim=-1)
    entropies = torch.stack([_entropy(weights) for weights in layers], dim=1)
    entropies = entropies * asked[:, None, None]
    evenly = ((entropies.exp() - 1) / (widths - 1).clamp(min=1)[:, None, None]).sum(dim=-1)
    reached = targets & reachable[:, None]
    chance = (reached.sum(dim=-1) / widths.clamp(min=1)[:, None]).sum(dim=-1)
    queries = reached.any(dim=-1).sum(dim=-1)
    total = asked.sum(dim=-1)
    logs = real.log()
    entropy = entropies.sum(dim=-1)
    return BatchMeasures(
        given=_array(torch.cat([aimed[..., : len(TARGETED_KINDS)], evenly[..., None]], dim=-1)),
        chance=_array(torch.cat([chance, torch.zeros_like(chance[:, :1])], dim=-1)),  # an even look is what "broad" means
        queries=_array(torch.cat([queries, total[:, None]], dim=-1)),
        entropy=_array(entropy),
        spread=_array(entropy / torch.where(logs > 0, logs, 1.0)[:, None, None]),
        distance=_array(aimed[..., len(TARGETED_KINDS)]),
        asked=_array(total),
    )


def _aims(
    targets: Bool[Tensor, "text kind query key"],
    asked: Bool[Tensor, "text query"],
    real: Int[Tensor, "text"],
    place: Int[Tensor, "key"],
) -> Float[Tensor, "text query_and_key aim"]:
    """Stack what weights are multiplied by: targets of each kind, distance of each key, and whether it is a later token."""
    apart = (place[:, None] - place).abs().float() * asked[:, :, None]
    ahead = (place > place[:, None]) & (place < real[:, None, None]) & (place[:, None] < real[:, None, None])
    return torch.cat([targets.float(), apart[:, None], ahead[:, None].float()], dim=1).flatten(2).transpose(1, 2)


def _entropy(weights: Float[Tensor, "... query key"]) -> Float[Tensor, "... query"]:
    """Compute `measures.entropy`; weights of 0 are clamped to the smallest positive number, which adds 0."""
    return -weights.clamp(min=torch.finfo(weights.dtype).tiny).log_().mul_(weights).sum(dim=-1)


def _array(measured: Tensor) -> np.ndarray:
    return measured.double().cpu().numpy()


@dataclass(frozen=True)
class Ranking:
    """The texts with the highest scores for each head and kind, best first.

    Attributes:
        values: The scores; −∞ where there were fewer texts.
        texts: The numbers of the texts; −1 there.
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
"""What sentences are ranked by for each head: the score of each pattern, and how much attention rests on few tokens."""

PLACES = 5

FEWEST_TOKENS = 5
"""A sentence of fewer tokens of its own is not ranked: in two or three words almost anything looks like a pattern."""


@dataclass(frozen=True)
class ReadingProgress:
    """The progress of a reading; batch and batches count sentences, under the names that a progress bar takes."""

    batch: int
    batches: int
    seconds: float


@dataclass(frozen=True)
class HeadReport:
    """Statistics of every head over the sentences read so far.

    Attributes:
        model: The name of the model.
        device: Where it was computed.
        sentences: All sentences, or only those that `strongest` names.
        total: How many sentences there are.
        read: How many were read.
        tokens: Their own tokens, special tokens left out.
        seconds: The time it took.
        sums: Attention on the targets of each kind.
        entropy: Mean over all tokens, in nats.
        spread: Mean normalised entropy, 0 to 1.
        distance: Mean distance, in tokens.
        strongest: The sentences with the highest scores; kinds as in RANKED_KINDS.
        left_out: Lines that were not used, those of the file first.
        example: One sentence as the model reads it; None before the first.
        half: Whether it was computed in bfloat16.
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

    @property
    def nbytes(self) -> int:
        """The memory of numbers and sentences, in bytes."""
        arrays = (self.entropy, self.spread, self.distance, self.strongest.values, self.strongest.texts)
        return sum(array.nbytes for array in arrays) + self.sums.nbytes + sum(60 + 2 * len(text) for text in self.sentences.texts)


class Reading:
    """Sentences being read by a model, one batch per step; `report` has the statistics so far.

    half: compute in bfloat16, which is faster where the hardware supports it (`device.computes_bfloat16`); means then differ by
    about 0.001.
    """

    def __init__(self, engine: Engine, sentences: Sentences, *, half: bool = False):
        self.model, self.device, self.sentences, self.half = engine.name, engine.device, sentences, half
        self._engine: Engine | None = engine
        self._notes = Notes()
        self._sums = empty_sums(engine.info.num_layers, engine.info.num_heads)
        self._example: Encoding | None = None
        self._means = np.zeros((3, engine.info.num_layers, engine.info.num_heads))
        self._strongest = empty_ranking(engine.info.num_layers, engine.info.num_heads, len(RANKED_KINDS), PLACES)
        self._read, self._tokens, self._seconds = 0, 0.0, 0.0
        self._first = np.zeros(len(sentences), dtype=bool)  # a sentence that is repeated is ranked once
        self._first[list({text: number for number, text in reversed([*enumerate(sentences.texts)])}.values())] = True

    def steps(self, threads: int | None = None) -> Generator[ReadingProgress, None, None]:
        """Read all sentences; while the host is busy, try again at the next step.

        threads: How many compute, by default as many as the host has background slots.
        """
        engine, start, workers = self._engine, time.monotonic(), threads or worker_count(self.device)
        try:
            found = batches(engine, self.sentences.texts, self.sentences.lines, self._notes, half=self.half)
            with closing(parallel_map(partial(_measure, engine, half=self.half), found, workers)) as results:
                for batch, measured in results:
                    if measured is not None:
                        self._add(measured, batch)
                    yield self._progress(start)
        finally:
            self._engine = None  # what is kept of a reading must not keep a large model in memory

    @property
    def report(self) -> HeadReport | None:
        """The statistics so far; None before the first batch."""
        return self.result() if self._read else None

    def result(self) -> HeadReport:
        """Return the statistics so far, all 0 before the first batch."""
        entropy, spread, distance = self._means / max(self._tokens, 1)
        return HeadReport(
            self.model,
            self.device,
            self.sentences,
            len(self.sentences),
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

    def _progress(self, start: float) -> ReadingProgress:
        self._seconds = time.monotonic() - start
        return ReadingProgress(self._read, len(self.sentences), self._seconds)

    def _add(self, measured: BatchMeasures, batch: TextBatch) -> None:
        self._sums += measured.sums
        self._means += np.stack([part.sum(axis=0) for part in (measured.entropy, measured.spread, measured.distance)])
        self._example = self._example or batch.rows[0]
        self._read += len(batch.rows)
        self._tokens += float(measured.asked.sum())
        focused = 1 - measured.spread / np.maximum(measured.asked, 1)[:, None, None]
        scores = np.concatenate([measured.scores, focused[..., None]], axis=-1)
        ranked = (measured.asked >= FEWEST_TOKENS) & self._first[list(batch.numbers)]
        if ranked.any():
            self._strongest = self._strongest.among(scores[ranked], np.array(batch.numbers)[ranked])


def _measure(engine: Engine, batch: TextBatch, *, half: bool) -> BatchMeasures | None:
    """Run a batch; None while the host is busy."""
    try:
        labels = label_batch(batch.rows)  # before there is a place to compute, which others wait for
        return engine.over_weights(batch.rows, partial(measure_batch, labels=labels), half=half)
    except Busy:
        return None


def read_all(engine: Engine, sentences: Sentences, *, half: bool = False) -> HeadReport | None:
    """Read all sentences as `Reading` does and return the report; None if the model can read none of them."""
    reading = Reading(engine, sentences, half=half)
    for _ in reading.steps():
        pass
    return reading.report
