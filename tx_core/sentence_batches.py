"""Many texts as batches of about equal length, read a block at a time, so that memory does not grow with their number."""

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tx_core.engine import Engine
from tx_core.errors import TextProblem
from tx_core.sentence_file import Notes
from tx_core.trace import Encoding

BLOCK = 512  # texts that are sorted by length together, read while batches of the block before are computed
MOST_ROWS = 64
MOST_PIECES = {"cpu": 384}
"""Tokens of one batch. More is slower on a CPU: what a layer computes is then so large that the memory for it is handed back
to the system and cleared anew each time (1,024 tokens of the embedded model: 5,000 pages of it a batch; 384: none)."""
MOST_PIECES_ON_A_CARD = 16_384
MOST_WEIGHTS = 8_000_000
"""Attention weights of one batch, all layers and heads: 32 MB. A single text of a large model may have more."""


@dataclass(frozen=True)
class TextBatch:
    """Texts to run together: their numbers and how the model reads them."""

    numbers: tuple[int, ...]
    rows: tuple[Encoding, ...]


def batches(engine: Engine, texts: Sequence[str], lines: Sequence[int], notes: Notes) -> Iterator[TextBatch]:
    """Give all texts that the model can read, the others to the notes, by their lines.

    Batches of a block come in random order: whoever stops early has seen short and long texts.
    """
    for start in range(0, len(texts), BLOCK):
        block = []
        for number in range(start, min(start + BLOCK, len(texts))):
            if (row := _read(engine, texts[number], lines[number], notes)) is not None:
                block.append((number, row))
        block.sort(key=lambda pair: len(pair[1]))
        found = list(_cut(engine, block))
        random.Random(start).shuffle(found)
        yield from found


def _read(engine: Engine, text: str, line: int, notes: Notes) -> Encoding | None:
    try:
        row = engine.tokenizer.encode(text)
    except TextProblem:
        notes.note("without anything that the model can read", line)
        return None
    if len(row) > engine.max_tokens:
        notes.note(f"longer than the {engine.max_tokens:,} tokens that the model reads", line)
        return None
    return row


def _cut(engine: Engine, block: Sequence[tuple[int, Encoding]]) -> Iterator[TextBatch]:
    """Cut texts sorted by length into batches as large as is fast and as memory allows."""
    most_pieces = MOST_PIECES.get(engine.device, MOST_PIECES_ON_A_CARD)
    maps = engine.num_layers * engine.num_heads
    batch: list[tuple[int, Encoding]] = []
    for pair in block:
        longest, rows = len(pair[1]), len(batch) + 1
        if batch and (rows > MOST_ROWS or rows * longest > most_pieces or rows * longest**2 * maps > MOST_WEIGHTS):
            yield TextBatch(*zip(*batch, strict=True))
            batch = []
        batch.append(pair)
    if batch:
        yield TextBatch(*zip(*batch, strict=True))
