"""From lines to batches: sentences and paragraphs cut into examples, some split into two segments, grouped by length, masked.

The order of batches can be resumed from a saved position. Masking is by whole words, chosen at random: most become [MASK],
some a random piece, some stay (80/10/10).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Int

from tx_core.training.pretraining.corpus import TokenisedSource, sentence_ends
from tx_core.training.pretraining.settings import MaskingSettings, PackingSettings
from tx_core.training.pretraining.vocabulary import CLS_ID, MASK_ID, PAD_ID, SEP_ID, SPECIAL_TOKENS

MIN_SENTENCE_TOKENS = 4
"""Shorter sentences are joined with their neighbour: too little context, as in "Yes.", teaches nothing."""


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


class Packer:
    """Cut lines into examples along sentence boundaries."""

    def __init__(self, sources: Sequence[TokenisedSource], pieces: Sequence[str], settings: PackingSettings):
        self.sources, self.settings = sources, settings
        self._starts = [source.starts for source in sources]
        self._sentences = [sentence_ends(source.ids, source.line_ends, pieces) for source in sources]

    def order(self, seed: int, number: int) -> Int[np.ndarray, "line 2"]:
        """Shuffle one pass over the corpus: source and line, each as often as the weight of its source.

        The fraction of a weight picks other lines in every pass.
        """
        chance = np.random.default_rng([seed, number])
        drawn = []
        for place, source in enumerate(self.sources):
            copies, share = divmod(source.weight, 1)
            lines = np.arange(len(source.line_ends), dtype=np.int32)
            some = lines[chance.random(len(lines)) < share]
            chosen = np.concatenate((np.tile(lines, int(copies)), some))
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
        settings = self.settings
        single = chance.random() < settings.single_share
        length = settings.buckets[-1] - 2 if single else _random_choice(settings.fitting_rooms, chance) - 3
        for begin, boundaries in _chunks(start, ends, length, one_sentence=single):
            end = boundaries[-1]
            inner = [boundary for boundary in boundaries[:-1] if begin < boundary < end]
            if not single and inner and chance.random() < settings.pair_share:
                yield TrainingExample(place, begin, _random_choice(inner, chance), end)
            else:
                yield TrainingExample(place, begin, end, end)


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


class Batch(NamedTuple):
    """Examples padded to one length; `lengths` counts the tokens of each without padding."""

    ids: Int[np.ndarray, "batch token"]
    segments: Int[np.ndarray, "batch token"]
    lengths: Int[np.ndarray, "batch"]


@dataclass
class StreamPosition:
    """The position of a stream.

    Attributes:
        passes: Complete passes over the corpus.
        block: The block within the pass.
        given: The number of batches of the block already yielded.
        waiting: Examples left from earlier blocks.
    """

    passes: int = 0
    block: int = 0
    given: int = 0
    waiting: list[list[int]] | None = None


class BatchStream:
    """An endless stream of batches, each pass in another order.

    The order depends on the seed and the position alone, so a stream set to a saved position continues as before.
    """

    def __init__(self, packer: Packer, seed: int, place: StreamPosition | None = None):
        self.packer, self.seed = packer, seed
        self.place = place or StreamPosition()

    def __iter__(self) -> Iterator[Batch]:
        while True:
            place = self.place
            order = self.packer.order(self.seed, place.passes)
            blocks = -(-len(order) // self.packer.settings.block_lines)
            while place.block < blocks:
                yield from self._block(order)
                place.block, place.given = place.block + 1, 0
            place.passes, place.block = place.passes + 1, 0

    def _block(self, order: Int[np.ndarray, "line 2"]) -> Iterator[Batch]:
        place, size = self.place, self.packer.settings.block_lines
        chance = np.random.default_rng([self.seed, place.passes, place.block])
        lines = order[place.block * size : (place.block + 1) * size]
        left_over = [TrainingExample(*numbers) for numbers in place.waiting or []]
        groups, waiting = self._groups([*left_over, *self.packer.examples(lines, chance)], chance)
        for group in groups[place.given :]:
            place.given += 1
            yield self.assemble(group)
        place.waiting = [list(example) for example in waiting]

    def _groups(
        self, examples: list[TrainingExample], chance: np.random.Generator
    ) -> tuple[list[list[TrainingExample]], list[TrainingExample]]:
        """Sort into buckets and cut into full batches; what fills no batch waits for the next block."""
        settings = self.packer.settings
        buckets = np.searchsorted(settings.buckets, [example.tokens for example in examples])
        groups, waiting = [], []
        for number, length in enumerate(settings.buckets):
            members = np.flatnonzero(buckets == number)
            chance.shuffle(members)
            rows = settings.batch_tokens // length
            full = len(members) // rows * rows
            groups.extend([examples[m] for m in chosen] for chosen in members[:full].reshape(-1, rows))
            waiting.extend(examples[m] for m in members[full:])
        chance.shuffle(groups)
        return groups, waiting

    def assemble(self, examples: Sequence[TrainingExample]) -> Batch:
        """Write examples below one another with [CLS] and [SEP], padded to their bucket."""
        source, start, middle, end = np.array(examples, dtype=np.int64).T[:, :, None]
        lengths = np.array([example.tokens for example in examples])
        buckets = self.packer.settings.buckets
        column = np.arange(buckets[int(np.searchsorted(buckets, lengths.max()))])[None, :]
        first_mark = 1 + middle - start
        second_mark = np.where(middle < end, first_mark + 1 + end - middle, first_mark)
        text = (column > 0) & (column < second_mark) & (column != first_mark)
        ids = np.where((column == first_mark) | (column == second_mark), SEP_ID, PAD_ID)
        ids[:, 0] = CLS_ID
        places = start + column - 1 - (column > first_mark)
        for number in np.unique(source):
            cells = text & (source == number)
            ids[cells] = self.packer.sources[number].ids[places[cells]]
        segments = ((column > first_mark) & (column <= second_mark)).astype(np.int64)
        return Batch(ids, segments, lengths)


class MaskedBatch(NamedTuple):
    """The input ids after masking, and which of them are to be predicted."""

    ids: Int[np.ndarray, "batch token"]
    chosen: Bool[np.ndarray, "batch token"]


def continuing_pieces(pieces: Sequence[str]) -> Bool[np.ndarray, "vocab"]:
    """Return a mask of the pieces that continue a word, such as ##ing."""
    return np.array([piece.startswith("##") for piece in pieces])


def mask_words(
    ids: Int[np.ndarray, "batch token"],
    continues: Bool[np.ndarray, "vocab"],
    rate: float,
    settings: MaskingSettings,
    chance: np.random.Generator,
) -> MaskedBatch:
    """Choose each word with probability `rate`, with all its pieces, at least one word per example.

    Of the chosen pieces, a share `blanked` becomes [MASK], a share `replaced` a random piece, and the rest stays, so that the
    model cannot tell which words it will be asked for (Devlin et al. 2019, section 3.1).
    """
    readable = ~np.isin(ids, (PAD_ID, CLS_ID, SEP_ID))
    chosen = choose_words(ids, readable, continues, rate, chance)
    fate = chance.random(ids.shape)
    shown = np.where(chosen & (fate < settings.blanked), MASK_ID, ids)
    replaced = chosen & (fate >= settings.blanked) & (fate < settings.blanked + settings.replaced)
    shown = np.where(replaced, chance.integers(len(SPECIAL_TOKENS), len(continues), ids.shape), shown)
    return MaskedBatch(shown, chosen)


def choose_words(
    ids: Int[np.ndarray, "batch token"],
    readable: Bool[np.ndarray, "batch token"],
    continues: Bool[np.ndarray, "vocab"],
    rate: float,
    chance: np.random.Generator,
) -> Bool[np.ndarray, "batch token"]:
    """Draw one number per word, shared by its pieces; words below the rate are chosen, and the lowest of each row always is."""
    position = np.arange(ids.shape[1])
    begins = readable & ~continues[ids]
    word_start = np.maximum.accumulate(np.where(begins, position, 0), axis=1)
    drawn = np.take_along_axis(chance.random(ids.shape), word_start, axis=1)
    drawn = np.where(readable, drawn, 2.0)
    lowest = drawn.min(axis=1, keepdims=True)
    return readable & (drawn <= np.maximum(rate, lowest))
