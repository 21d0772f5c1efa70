"""Batches of one length each, always the same number of token slots, in an order that can be taken up again."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Int

from tx_core.training.pretraining.packing import Example, Packer
from tx_core.training.pretraining.vocabulary import FIRST, LAST, PADDING


class Batch(NamedTuple):
    """Examples padded to one length. lengths: the tokens of each that are not padding."""

    ids: Int[np.ndarray, "batch token"]
    segments: Int[np.ndarray, "batch token"]
    lengths: Int[np.ndarray, "batch"]


@dataclass
class Place:
    """Where a stream stands: pass, block in it, batches of the block already given, examples left from blocks before."""

    passes: int = 0
    block: int = 0
    given: int = 0
    waiting: list[list[int]] | None = None

    def as_dict(self) -> dict[str, Any]:
        """Give plain numbers, to be saved."""
        return {"passes": self.passes, "block": self.block, "given": self.given, "waiting": self.waiting}


class BatchStream:
    """An endless stream of batches: pass after pass, each in another order.

    The order depends on the seed and on the place alone, so that a stream set to a saved place goes on as before.
    """

    def __init__(self, packer: Packer, seed: int, place: Place | None = None):
        self.packer, self.seed = packer, seed
        self.place = place or Place()

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
        left_over = [Example(*numbers) for numbers in place.waiting or []]
        groups, waiting = self._groups([*left_over, *self.packer.examples(lines, chance)], chance)
        for group in groups[place.given :]:
            place.given += 1
            yield self.assemble(group)
        place.waiting = [list(example) for example in waiting]

    def _groups(self, examples: list[Example], chance: np.random.Generator) -> tuple[list[list[Example]], list[Example]]:
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

    def assemble(self, examples: Sequence[Example]) -> Batch:
        """Write examples below one another with [CLS] and [SEP], padded to their bucket."""
        source, start, middle, end = np.array(examples, dtype=np.int64).T[:, :, None]
        lengths = np.array([example.tokens for example in examples])
        buckets = self.packer.settings.buckets
        column = np.arange(buckets[int(np.searchsorted(buckets, lengths.max()))])[None, :]
        first_mark = 1 + middle - start
        second_mark = np.where(middle < end, first_mark + 1 + end - middle, first_mark)
        text = (column > 0) & (column < second_mark) & (column != first_mark)
        ids = np.where((column == first_mark) | (column == second_mark), LAST, PADDING)
        ids[:, 0] = FIRST
        places = start + column - 1 - (column > first_mark)
        for number in np.unique(source):
            cells = text & (source == number)
            ids[cells] = self.packer.sources[number].ids[places[cells]]
        segments = ((column > first_mark) & (column <= second_mark)).astype(np.int64)
        return Batch(ids, segments, lengths)
