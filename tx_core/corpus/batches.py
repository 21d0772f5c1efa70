"""Batches of texts of similar length, with the targets and the measures of each batch.

Texts are read block by block, so memory does not grow with their number.
"""

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import Any

import numpy as np
from jaxtyping import Bool, Float, Int

from tx_core.analysis.patterns import PATTERN_KINDS, PatternSums, padded_targets, score_above_chance, winning_kinds
from tx_core.corpus.sentence_file import Notes
from tx_core.engine.engine import Engine
from tx_core.errors import TextProblem
from tx_core.transformer.trace import Encoding

FIRST_BLOCK = 64
BLOCK = 1024
"""Number of texts sorted by length together: few at first, for a quick first result, and many later, so that most batches
hold texts of one length and need neither padding nor a mask."""
MAX_BATCH_ROWS = 128
MAX_BATCH_TOKENS = {"cpu": 640}
"""Tokens of one batch. On a CPU, smaller batches are slower because each one reads all weights from memory again; larger ones
are slower because the allocator returns such large activations to the system and has to clear new pages every time."""
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
    """Yield all readable texts in batches; record the others, with their lines, in the notes. half: as in `Reading`.

    Batches of a block are shuffled, so that a reading that is stopped early has seen short and long texts. The next block is
    encoded incrementally, after each batch of the current one.
    """
    chance = random.Random(0)
    unread = _readable(engine, texts, lines, notes)
    block = list(islice(unread, FIRST_BLOCK))
    most_pieces = (MAX_BATCH_TOKENS_BFLOAT16 if half else MAX_BATCH_TOKENS).get(engine.device, MAX_BATCH_TOKENS_GPU)
    while block:
        coming: list[tuple[int, Encoding]] = []
        found = list(_split_block(engine, sorted(block, key=lambda pair: len(pair[1])), most_pieces))
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


def _split_block(engine: Engine, block: Sequence[tuple[int, Encoding]], most_pieces: int) -> Iterator[TextBatch]:
    """Split texts sorted by length into batches of bounded size, many of them of one length."""
    maps = engine.info.num_layers * engine.info.num_heads
    batch: list[tuple[int, Encoding]] = []
    for number, row in block:
        tokens, rows = len(row), len(batch) + 1
        full = rows > MAX_BATCH_ROWS or rows * tokens > most_pieces or rows * tokens**2 * maps > MAX_BATCH_WEIGHTS
        # From a third of its size on, a batch without padding is faster than a full one with padding.
        longer = batch and tokens > len(batch[-1][1])
        if batch and (full or (longer and 3 * len(batch) * len(batch[-1][1]) > most_pieces)):
            yield TextBatch(*zip(*batch, strict=True))
            batch = []
        batch.append((number, row))
    if batch:
        yield TextBatch(*zip(*batch, strict=True))


@dataclass(frozen=True)
class BatchMeasures:
    """Sums over the tokens of each text except special ones; see `PatternSums`.

    entropy: in nats. spread: normalised entropy. distance: in tokens. asked: the number of tokens of each text. attended,
    attention: as in `words.AttendedWords`, but counted within each text; None where words were not asked for.
    """

    given: Float[np.ndarray, "text layer head kind"]
    chance: Float[np.ndarray, "text kind"]
    queries: Float[np.ndarray, "text kind"]
    entropy: Float[np.ndarray, "text layer head"]
    spread: Float[np.ndarray, "text layer head"]
    distance: Float[np.ndarray, "text layer head"]
    asked: Float[np.ndarray, "text"]
    attended: Int[np.ndarray, "text layer head word"] | None = None
    attention: Float[np.ndarray, "text layer head word"] | None = None

    @cached_property
    def scores(self) -> Float[np.ndarray, "text layer head kind"]:
        """The score of each kind for each head in each text, 0 to 1."""
        return score_above_chance(self.given, self.chance[:, None, None], self.queries[:, None, None])

    @property
    def sums(self) -> PatternSums:
        votes = np.eye(len(PATTERN_KINDS))[winning_kinds(self.scores)].sum(axis=0)
        return PatternSums(self.given.sum(0), self.chance.sum(0), self.queries.sum(0), votes, len(self.asked))


@dataclass(frozen=True)
class BatchTargets:
    """Lengths and targets of a batch, known before it runs: the measure that an engine applies to the weights of its layers.

    asked: which tokens count as queries. targets: as returned by `patterns.kind_targets`, from those queries. words: the number
    of the word that each token belongs to, -1 for none; None where the attention between words is not asked for.
    """

    lengths: Int[np.ndarray, "text"]
    asked: Bool[np.ndarray, "text query"]
    targets: Bool[np.ndarray, "text kind query key"]
    words: Int[np.ndarray, "text token"] | None = None

    def __call__(self, layers: Sequence[Any]) -> BatchMeasures:
        """Measure every head in every text. layers: `tensors.LayerWeights`."""
        # Imported here: it imports torch, which a client of Ray does not need.
        from tx_core.corpus.measure_weights import attend_words, measure_batch

        between = {} if self.words is None else attend_words(layers, self.words)
        return BatchMeasures(**measure_batch(layers, self.lengths, self.asked, self.targets), **between)


def label_batch(rows: Sequence[Encoding], owners: Sequence[Sequence[int | None] | None] | None = None) -> BatchTargets:
    """Return lengths, queries and targets of a batch; special tokens and padding are not queries.

    owners: of each row, what `words.word_of_tokens` returns; None where the attention between words is not asked for.
    """
    lengths = np.array([len(row) for row in rows])
    asked = np.zeros((len(rows), lengths.max()), dtype=bool)
    for number, row in enumerate(rows):
        asked[number, : len(row)] = ~np.array(row.special)
    words = None if owners is None else np.full((len(rows), lengths.max()), -1)
    for number, own in enumerate(owners or ()):
        if own is not None:
            words[number, : len(own)] = [-1 if one is None else one for one in own]
    return BatchTargets(lengths, asked, padded_targets(rows) & asked[:, None, :, None], words)
