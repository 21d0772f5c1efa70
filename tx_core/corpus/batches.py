"""Batches of texts of similar length, read block by block, so that memory does not grow with the number of texts."""

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from tx_core.corpus.sentence_file import Notes
from tx_core.engine.engine import Engine
from tx_core.errors import TextProblem
from tx_core.transformer.trace import Encoding

FIRST_BLOCK = 64
BLOCK = 1024
"""Texts that are sorted by length together: few at first, so that the first batch comes soon, and many later, so that most
batches hold texts of one length, with nothing to pad and nothing to mask."""
MAX_BATCH_ROWS = 128
MAX_BATCH_TOKENS = {"cpu": 640}
"""Tokens of one batch. Fewer is slower on a CPU, as each batch fetches all of the model's weights anew; and so is more: what
a layer computes is then so large that the memory for it is handed back to the system and cleared anew each time."""
MAX_BATCH_TOKENS_BFLOAT16 = {"cpu": 1280}
MAX_BATCH_TOKENS_GPU = 16_384
MAX_BATCH_WEIGHTS = 8_000_000
"""Attention weights of one batch, all layers and heads: 32 MB. A single text of a large model may have more."""

NOTHING_TO_READ = "without anything that the model can read"
TOO_MANY_TOKENS_IN_LINE = "longer than the {most:,} tokens that the model reads"


@dataclass(frozen=True)
class TextBatch:
    """Texts to run together, with their numbers."""

    numbers: tuple[int, ...]
    rows: tuple[Encoding, ...]


def batches(
    engine: Engine, texts: Sequence[str], lines: Sequence[int], notes: Notes, *, half: bool = False
) -> Iterator[TextBatch]:
    """Yield all texts that the model can read in batches; the others go to the notes, with their lines. half: as in `Reading`.

    Batches of a block are shuffled, so that whoever stops early has seen short and long texts. The next block is encoded little
    by little, after each batch of the current one.
    """
    chance = random.Random(0)
    unread = _readable(engine, texts, lines, notes)
    block = list(islice(unread, FIRST_BLOCK))
    most_pieces = (MAX_BATCH_TOKENS_BFLOAT16 if half else MAX_BATCH_TOKENS).get(engine.device, MAX_BATCH_TOKENS_GPU)
    while block:
        coming: list[tuple[int, Encoding]] = []
        found = list(_cut(engine, sorted(block, key=lambda pair: len(pair[1])), most_pieces))
        chance.shuffle(found)
        for batch in found:
            yield batch
            coming += islice(unread, min(4 * len(batch.rows), BLOCK - len(coming)))
        block = coming


def _readable(engine: Engine, texts: Sequence[str], lines: Sequence[int], notes: Notes) -> Iterator[tuple[int, Encoding]]:
    for number, (text, line) in enumerate(zip(texts, lines, strict=True)):
        try:
            row = engine.tokenizer.encode(text)
        except TextProblem:
            notes.note(NOTHING_TO_READ, line)
            continue
        if len(row) > engine.info.max_tokens:
            notes.note(TOO_MANY_TOKENS_IN_LINE.format(most=engine.info.max_tokens), line)
            continue
        yield number, row


def _cut(engine: Engine, block: Sequence[tuple[int, Encoding]], most_pieces: int) -> Iterator[TextBatch]:
    """Cut texts sorted by length into batches of bounded size, many of them of one length."""
    maps = engine.info.num_layers * engine.info.num_heads
    batch: list[tuple[int, Encoding]] = []
    for number, row in block:
        tokens, rows = len(row), len(batch) + 1
        full = rows > MAX_BATCH_ROWS or rows * tokens > most_pieces or rows * tokens**2 * maps > MAX_BATCH_WEIGHTS
        longer = batch and tokens > len(batch[-1][1])  # from a third on, a batch without padding is worth more than a full one
        if batch and (full or (longer and 3 * len(batch) * len(batch[-1][1]) > most_pieces)):
            yield TextBatch(*zip(*batch, strict=True))
            batch = []
        batch.append((number, row))
    if batch:
        yield TextBatch(*zip(*batch, strict=True))
