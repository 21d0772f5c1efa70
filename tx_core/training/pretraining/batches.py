"""From lines to batches: sentences and paragraphs cut into examples, some split into two segments, grouped by length, masked.

Masking is by whole words, chosen at random: most become [MASK], some a random piece, some stay (80/10/10).
"""

from collections.abc import Iterator, Sequence
from itertools import count
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Int

from tx_core.training.pretraining.corpus import TokenisedSource, sentence_ends
from tx_core.training.pretraining.vocabulary import CLS_ID, MASK_ID, PAD_ID, SEP_ID, SPECIAL_TOKENS

LENGTHS = (*range(12, 32, 4), *range(32, 64, 8), *range(64, 128, 16), *range(128, 512, 32), 512)
"""To which examples are padded."""
BLOCK_LINES = 20_000
"""Lines that are shuffled and sorted by length together."""
MIN_SENTENCE_TOKENS = 4
"""Shorter sentences are joined with their neighbour: too little context, as in "Yes.", teaches nothing."""
BLANKED, REPLACED = 0.8, 0.1
"""Of the chosen pieces, the share shown as [MASK], and as a random piece."""


class Packing(NamedTuple):
    """How lines become examples.

    batch_tokens: token slots of a batch. rooms: lengths to which sentences of a paragraph are packed, equally often.
    single_share: share of lines read one sentence at a time. pair_share: share of packed paragraphs split into two segments.
    """

    most: int
    batch_tokens: int
    rooms: tuple[int, ...]
    single_share: float
    pair_share: float

    @property
    def buckets(self) -> tuple[int, ...]:
        return (*(length for length in LENGTHS if length < self.most), self.most)


class TrainingExample(NamedTuple):
    """A span of one source; `middle` is the start of the second segment, equal to `end` without one."""

    source: int
    start: int
    middle: int
    end: int

    @property
    def tokens(self) -> int:
        """The length as the model reads it, with [CLS] and one [SEP] per segment."""
        return self.end - self.start + (2 if self.middle == self.end else 3)


class Batch(NamedTuple):
    """Examples padded to one length; `lengths` counts the tokens of each without padding."""

    ids: Int[np.ndarray, "batch token"]
    segments: Int[np.ndarray, "batch token"]
    lengths: Int[np.ndarray, "batch"]


class Packer:
    """Cuts lines into examples along sentence boundaries, and gathers them in batches."""

    def __init__(self, sources: Sequence[TokenisedSource], pieces: Sequence[str], packing: Packing):
        self.sources, self.packing = sources, packing
        self._starts = [source.starts for source in sources]
        self._sentences = [sentence_ends(source.ids, source.line_ends, pieces) for source in sources]

    def batches(self, seed: int, skip: int = 0) -> Iterator[Batch]:
        """Yield batches without end, each pass over the corpus in another order; leave the first `skip` out."""
        waiting: list[TrainingExample] = []
        for number in count():
            order = self.order(seed, number)
            for block in range(0, len(order), BLOCK_LINES):
                chance = np.random.default_rng([seed, number, block])
                examples = [*waiting, *self.examples(order[block : block + BLOCK_LINES], chance)]
                groups, waiting = self._groups(examples, chance)
                yield from map(self.assemble, groups[skip:])
                skip = max(0, skip - len(groups))

    def order(self, seed: int, number: int) -> Int[np.ndarray, "line 2"]:
        """Shuffle one pass over the corpus: source and line, each as often as the weight of its source.

        The fraction of a weight picks other lines in every pass.
        """
        chance = np.random.default_rng([seed, number])
        drawn = []
        for place, source in enumerate(self.sources):
            copies, share = divmod(source.weight, 1)
            lines = np.arange(len(source.line_ends), dtype=np.int32)
            chosen = np.concatenate((np.tile(lines, int(copies)), lines[chance.random(len(lines)) < share]))
            drawn.append(np.stack((np.full_like(chosen, place), chosen), axis=1))
        order = np.concatenate(drawn)
        chance.shuffle(order)
        return order

    def examples(self, lines: Int[np.ndarray, "line 2"], chance: np.random.Generator) -> list[TrainingExample]:
        """Cut the lines into examples; no piece is lost."""
        made: list[TrainingExample] = []
        for place in np.unique(lines[:, 0]):
            chosen = lines[lines[:, 0] == place, 1]
            starts, ends = self._starts[place][chosen], self.sources[place].line_ends[chosen]
            sentences = self._sentences[place]
            first = np.searchsorted(sentences, starts, side="right")
            last = np.searchsorted(sentences, ends, side="left")
            for start, i, j in zip(starts.tolist(), first.tolist(), last.tolist(), strict=True):
                made.extend(self._cut(int(place), start, sentences[i : j + 1].tolist(), chance))
        return made

    def _cut(self, place: int, start: int, ends: list[int], chance: np.random.Generator) -> Iterator[TrainingExample]:
        packing = self.packing
        single = chance.random() < packing.single_share
        length = packing.most - 2 if single else _random_choice(packing.rooms, chance) - 3
        for begin, boundaries in _chunks(start, ends, length, one_sentence=single):
            end = boundaries[-1]
            inner = [boundary for boundary in boundaries[:-1] if begin < boundary < end]
            if not single and inner and chance.random() < packing.pair_share:
                yield TrainingExample(place, begin, _random_choice(inner, chance), end)
            else:
                yield TrainingExample(place, begin, end, end)

    def _groups(
        self, examples: list[TrainingExample], chance: np.random.Generator
    ) -> tuple[list[list[TrainingExample]], list[TrainingExample]]:
        """Sort into buckets and cut into full batches; what fills no batch waits for the next block."""
        buckets = np.searchsorted(self.packing.buckets, [example.tokens for example in examples])
        groups, waiting = [], []
        for number, length in enumerate(self.packing.buckets):
            members = np.flatnonzero(buckets == number)
            chance.shuffle(members)
            rows = self.packing.batch_tokens // length
            full = len(members) // rows * rows
            groups.extend([examples[m] for m in chosen] for chosen in members[:full].reshape(-1, rows))
            waiting.extend(examples[m] for m in members[full:])
        chance.shuffle(groups)
        return groups, waiting

    def assemble(self, examples: Sequence[TrainingExample]) -> Batch:
        """Write examples below one another with [CLS] and [SEP], padded to their bucket."""
        source, start, middle, end = np.array(examples, dtype=np.int64).T[:, :, None]
        lengths = np.array([example.tokens for example in examples])
        buckets = self.packing.buckets
        column = np.arange(buckets[int(np.searchsorted(buckets, lengths.max()))])[None, :]
        first_mark = 1 + middle - start
        second_mark = np.where(middle < end, first_mark + 1 + end - middle, first_mark)
        text = (column > 0) & (column < second_mark) & (column != first_mark)
        ids = np.where((column == first_mark) | (column == second_mark), SEP_ID, PAD_ID)
        ids[:, 0] = CLS_ID
        places = start + column - 1 - (column > first_mark)
        for number in np.unique(source):
            cells = text & (source == number)
            ids[cells] = self.sources[number].ids[places[cells]]
        segments = ((column > first_mark) & (column <= second_mark)).astype(np.int64)
        return Batch(ids, segments, lengths)


def _random_choice(numbers: Sequence[int], chance: np.random.Generator) -> int:
    """Return a random element; many times faster than Generator.choice."""
    return numbers[int(chance.random() * len(numbers))]


def _chunks(start: int, ends: list[int], length: int, *, one_sentence: bool) -> Iterator[tuple[int, list[int]]]:
    """Group consecutive sentences: one at a time, or as many as fit.

    Yields where a chunk starts and the ends of its sentences. A sentence longer than the length is cut.
    """
    gathered: list[int] = []
    for end in ends:
        full = gathered and (end - start > length or (one_sentence and gathered[-1] - start >= MIN_SENTENCE_TOKENS))
        if full:
            yield start, gathered
            start, gathered = gathered[-1], []
        while end - start > length:
            yield start, [start + length]
            start += length
        gathered.append(end)
    if gathered and gathered[-1] > start:
        yield start, gathered


def mask_words(
    ids: Int[np.ndarray, "batch token"], continues: Bool[np.ndarray, "vocab"], rate: float, chance: np.random.Generator
) -> tuple[Int[np.ndarray, "batch token"], Bool[np.ndarray, "batch token"]]:
    """Choose each word with probability `rate`, with all its pieces, at least one word per example; return ids and the choice.

    Of the chosen pieces, a share BLANKED becomes [MASK], a share REPLACED a random piece, and the rest stays, so that the
    model cannot tell which words it will be asked for (Devlin et al. 2019, section 3.1).
    """
    readable = ~np.isin(ids, (PAD_ID, CLS_ID, SEP_ID))
    # One number per word, shared by its pieces.
    begins = readable & ~continues[ids]
    word_start = np.maximum.accumulate(np.where(begins, np.arange(ids.shape[1]), 0), axis=1)
    drawn = np.where(readable, np.take_along_axis(chance.random(ids.shape), word_start, axis=1), 2.0)
    chosen = readable & (drawn <= np.maximum(rate, drawn.min(axis=1, keepdims=True)))
    fate = chance.random(ids.shape)
    shown = np.where(chosen & (fate < BLANKED), MASK_ID, ids)
    replaced = chosen & (fate >= BLANKED) & (fate < BLANKED + REPLACED)
    return np.where(replaced, chance.integers(len(SPECIAL_TOKENS), len(continues), ids.shape), shown), chosen
