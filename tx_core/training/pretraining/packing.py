"""From lines to examples: single sentences as the app sends them, and paragraphs, some split into two segments."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from jaxtyping import Int

from tx_core.training.pretraining.settings import PackingSettings
from tx_core.training.pretraining.token_store import TokenisedSource, sentence_ends

MIN_SENTENCE_TOKENS = 4
"""Pieces below which a sentence is read with its neighbour: "Yes." alone teaches nothing."""


class Example(NamedTuple):
    """A stretch of one source. middle is where the second segment begins; it is the end where there is none."""

    source: int
    start: int
    middle: int
    end: int

    @property
    def tokens(self) -> int:
        """Its length as the model reads it, with [CLS] and one [SEP] a segment."""
        return self.end - self.start + (2 if self.middle == self.end else 3)


class Packer:
    """Cuts lines into examples, knowing where the sentences of every source end."""

    def __init__(self, sources: Sequence[TokenisedSource], pieces: Sequence[str], settings: PackingSettings):
        self.sources, self.settings = sources, settings
        self._starts = [source.starts for source in sources]
        self._sentences = [sentence_ends(source.ids, source.line_ends, pieces) for source in sources]

    def order(self, seed: int, number: int) -> Int[np.ndarray, "line 2"]:
        """Shuffle one pass over the corpus: source and line, each as often as the weight of its source says.

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

    def examples(self, lines: Int[np.ndarray, "line 2"], chance: np.random.Generator) -> list[Example]:
        """Cut the lines into examples; no piece is lost but what does not fit into the longest bucket with the rest."""
        made: list[Example] = []
        for place in np.unique(lines[:, 0]):
            chosen = lines[lines[:, 0] == place, 1]
            starts, ends = self._starts[place][chosen], self.sources[place].line_ends[chosen]
            sentences = self._sentences[place]
            first = np.searchsorted(sentences, starts, side="right")
            last = np.searchsorted(sentences, ends, side="left")
            for start, i, j in zip(starts.tolist(), first.tolist(), last.tolist(), strict=True):
                made.extend(self._cut(int(place), start, sentences[i : j + 1].tolist(), chance))
        return made

    def _cut(self, place: int, start: int, ends: list[int], chance: np.random.Generator) -> Iterator[Example]:
        settings = self.settings
        single = chance.random() < settings.single_share
        room = settings.buckets[-1] - 2 if single else _any(settings.fitting_rooms, chance) - 3
        for begin, boundaries in _chunks(start, ends, room, one_sentence=single):
            end = boundaries[-1]
            inner = [boundary for boundary in boundaries[:-1] if begin < boundary < end]
            if not single and inner and chance.random() < settings.pair_share:
                yield Example(place, begin, _any(inner, chance), end)
            else:
                yield Example(place, begin, end, end)


def _any(numbers: Sequence[int], chance: np.random.Generator) -> int:
    """Pick one; many times faster than the generator's own choice."""
    return numbers[int(chance.random() * len(numbers))]


def _chunks(start: int, ends: list[int], room: int, *, one_sentence: bool) -> Iterator[tuple[int, list[int]]]:
    """Gather successive sentences: one at a time, or as many as there is room for.

    Gives where a chunk starts and the sentence ends in it. A sentence longer than the room is cut.
    """
    gathered: list[int] = []
    for end in ends:
        full = gathered and (end - start > room or (one_sentence and gathered[-1] - start >= MIN_SENTENCE_TOKENS))
        if full:
            yield start, gathered
            start, gathered = gathered[-1], []
        while end - start > room:
            yield start, [start + room]
            start += room
        gathered.append(end)
    if gathered and gathered[-1] > start:
        yield start, gathered
