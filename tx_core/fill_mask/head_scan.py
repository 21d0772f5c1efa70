"""Head scan: which heads does a prediction depend on? Every head is switched off in turn, one per row of a batch."""

import time
from collections.abc import Generator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float, Int

from tx_core.analysis.probabilities import probabilities, total_variation
from tx_core.engine.engine import Engine
from tx_core.engine.progress import Progress, operations
from tx_core.fill_mask.predictions import blank_logits_in_batches, encode_with_blanks, rows_at_once
from tx_core.fill_mask.word_scores import blank_chain
from tx_core.transformer.interventions import Intervention, shift_positions
from tx_core.transformer.trace import Encoding


@dataclass(frozen=True)
class ScannedWord:
    """The probability of a word at the blank, with all heads on and with each head off.

    ids: its pieces, as vocabulary entries. A word of several is scored piece by piece, as `word_scores.score_words` does.
    """

    word: str
    ids: tuple[int, ...]
    before: float
    after: Float[np.ndarray, "layer head"]

    @property
    def change(self) -> Float[np.ndarray, "layer head"]:
        """The change of the word's probability with each head off; negative where the head supports it."""
        return self.after - self.before


@dataclass(frozen=True)
class HeadScan(ScannedWord):
    """The top prediction at one blank with each head switched off, one at a time, in addition to other interventions.

    variation: total variation distance to the prediction with all heads on, 0 to 1. first: the top prediction with each head off.
    """

    variation: Float[np.ndarray, "layer head"]
    first: Int[np.ndarray, "layer head"]
    first_words: tuple[tuple[str, ...], ...]
    named: tuple[ScannedWord, ...] = ()

    @property
    def most_important(self) -> tuple[int, int]:
        """The head without which the top prediction loses most; where none supports it, the one that moves most probability."""
        measure = -self.change if (self.change < 0).any() else self.variation
        layer, head = np.unravel_index(measure.argmax(), measure.shape)
        return int(layer), int(head)


class Scan:
    """Switch every head off in turn and measure the prediction at one blank (Michel et al. 2019, section 3.2).

    `updates` computes one batch after the other; `result` is set at the end. A head without effect on its own may still matter
    together with others, which can stand in for each other. `named` are words to follow beside the top prediction, each by its
    pieces (`word_scores.spell_word`); one of several pieces takes a run more for each piece and head. Raises what `predict`
    raises, ChangeProblem, and ValueError for a blank that is not there.
    """

    def __init__(
        self,
        engine: Engine,
        text: str,
        *,
        blank: int = 0,
        interventions: Sequence[Intervention] = (),
        named: Sequence[Sequence[int]] = (),
    ):
        encoding = encode_with_blanks(engine, text)
        if not 0 <= blank < len(encoding.blanks):
            raise ValueError(f"blank must be within 0 and {len(encoding.blanks) - 1}, got {blank}")
        self.engine, self.interventions, self.named = engine, interventions, list(dict.fromkeys(map(tuple, named)))
        self.place = encoding.blanks[blank]
        self.row = replace(encoding, blanks=(self.place,))
        chains = {ids: blank_chain(encoding, engine.tokenizer, self.place, ids) for ids in self.named if len(ids) > 1}
        pieces = [(row, ids, piece) for ids, rows in chains.items() for row, piece in zip(rows, ids, strict=True)]
        self.steps = [(self.row, (), -1), *pieces]
        self.result: HeadScan | None = None

    @property
    def runs(self) -> int:
        """How often each row is run: as it is, and without each head."""
        return 1 + self.engine.info.num_layers * self.engine.info.num_heads

    @property
    def rows(self) -> list[Encoding]:
        """What is run: the text, and once for each piece of a word of several pieces, the text with space for it."""
        return [row for row, _, _ in self.steps]

    @property
    def in_one_batch(self) -> bool:
        """Whether all runs of a row fit into one batch."""
        return self.runs <= rows_at_once(self.engine, max(map(len, self.rows)))

    @property
    def operations(self) -> float:
        """About how many additions and multiplications the scan takes."""
        return operations(self.engine, sum(map(len, self.rows)), self.runs)

    @property
    def finished(self) -> bool:
        return self.result is not None

    def updates(self) -> Generator[Progress, None, None]:
        """Run one batch after the other and yield the progress after each."""
        started, done = time.perf_counter(), 0
        first, after, variation = np.zeros(self.runs, int), np.zeros(self.runs), np.zeros(self.runs)
        words = {ids: np.ones(self.runs) for ids in self.named}
        for row, ids, piece in self.steps:
            start = 0
            for answered in blank_logits_in_batches(self.engine, [row] * self.runs, self._changes(max(1, len(ids)))):
                shares = probabilities(np.concatenate(answered))
                part = slice(start, start + len(shares))
                if ids:
                    words[ids][part] *= shares[:, piece]
                else:
                    if not start:
                        base, entry = shares[0], int(shares[0].argmax())
                    first[part], after[part] = shares.argmax(-1), shares[:, entry]
                    variation[part] = total_variation(shares, base)
                    for word in self.named:
                        if len(word) == 1:
                            words[word][part] = shares[:, word[0]]
                start, done = part.stop, done + len(shares)
                yield Progress(done, self.runs * len(self.steps), time.perf_counter() - started)
        self.result = HeadScan(
            word=self._word((entry,)),
            ids=(entry,),
            before=float(after[0]),
            after=self._grid(after),
            variation=self._grid(variation),
            first=self._grid(first),
            first_words=tuple(tuple(self._word((number,)) for number in row) for row in self._grid(first).tolist()),
            named=tuple(ScannedWord(self._word(ids), ids, float(shares[0]), self._grid(shares)) for ids, shares in words.items()),
        )

    def _changes(self, pieces: int) -> list[tuple[Intervention, ...]]:
        """Return the interventions of each run of a row. pieces: how many blanks stand for the one."""
        base = shift_positions(self.interventions, self.place, pieces)
        heads = np.ndindex(self.engine.info.num_layers, self.engine.info.num_heads)
        return [base, *((*base, Intervention("off", *head)) for head in heads)]

    def run(self) -> HeadScan:
        """Run all batches and return the result."""
        for _ in self.updates():
            pass
        return self.result

    def _word(self, ids: Sequence[int]) -> str:
        tokenizer = self.engine.tokenizer
        word = "".join(tokenizer.readable(entry) or tokenizer.word(entry) for entry in ids)
        return f"##{word}" if tokenizer.joins(ids[0], first=self.row.starts_sentence(self.place)) else word

    def _grid(self, numbers: np.ndarray) -> np.ndarray:
        """Return what each run but the first gives, layer by layer, read-only."""
        grid = numbers[1:].reshape(self.engine.info.num_layers, self.engine.info.num_heads)
        grid.setflags(write=False)
        return grid
