"""Head scan: which heads does a prediction depend on? Every head is switched off in turn, one per row of a batch."""

import time
from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float, Int

from tx_core.analysis.probabilities import probabilities, total_variation
from tx_core.engine.engine import BlankLogits, Engine
from tx_core.fill_mask.predictions import encode_with_blanks, rows_at_once
from tx_core.fill_mask.word_scores import blank_chain
from tx_core.transformer.interventions import Intervention, shift_positions
from tx_core.transformer.trace import Encoding


@dataclass(frozen=True)
class ScanProgress:
    """The progress of a scan.

    Attributes:
        done: Runs of the model made.
        total: Runs in all.
        seconds: Time since the start.
    """

    done: int
    total: int
    seconds: float


@dataclass(frozen=True)
class ScannedWord:
    """The probability of a word at the blank, with all heads on and with each head off.

    Attributes:
        word: As a reader knows it.
        ids: Its pieces, as vocabulary entries. A word of several is scored piece by piece, as `word_scores.score_words` does.
        before: Its probability with all heads on.
        after: Its probability with each head off.
    """

    word: str
    ids: tuple[int, ...]
    before: float
    after: Float[np.ndarray, "layer head"]


@dataclass(frozen=True)
class HeadScan:
    """The prediction at one blank with each head switched off, one at a time, in addition to other interventions.

    Attributes:
        word: The top prediction with all heads on.
        entry: Its vocabulary id.
        before: Its probability with all heads on.
        after: Its probability with each head off.
        variation: Total variation distance to the prediction with all heads on, 0 to 1.
        first: The top prediction with each head off, as a vocabulary id.
        first_words: The same as words.
        named: The words that were asked for, with their own probabilities.
        device: Where it was computed.
        notice: A sentence for the visitor where that is not the model's own device.
    """

    word: str
    entry: int
    before: float
    after: Float[np.ndarray, "layer head"]
    variation: Float[np.ndarray, "layer head"]
    first: Int[np.ndarray, "layer head"]
    first_words: tuple[tuple[str, ...], ...]
    device: str
    notice: str = ""
    named: tuple[ScannedWord, ...] = ()

    @property
    def most_important(self) -> tuple[int, int]:
        """The head without which the top prediction loses most; where none supports it, the one that moves most probability."""
        measure = -self.change if (self.change < 0).any() else self.variation
        layer, head = np.unravel_index(measure.argmax(), measure.shape)
        return int(layer), int(head)

    @property
    def change(self) -> Float[np.ndarray, "layer head"]:
        """The change of the word's probability with each head off; negative where the head supports it."""
        return self.after - self.before


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
        self.chains = {ids: blank_chain(encoding, engine.tokenizer, self.place, ids) for ids in self.named if len(ids) > 1}
        self.result: HeadScan | None = None

    @property
    def runs(self) -> int:
        """How often each row is run: as it is, and without each head."""
        return 1 + self.engine.info.num_layers * self.engine.info.num_heads

    @property
    def rows(self) -> list[Encoding]:
        """What is run: the text, and once for each piece of a word of several pieces, the text with space for it."""
        return [self.row, *(row for chain in self.chains.values() for row in chain)]

    @property
    def in_one_batch(self) -> bool:
        """Whether all runs of a row fit into one batch."""
        return self.runs <= self._at_once(max(self.rows, key=len))

    @property
    def operations(self) -> float:
        """About how many additions and multiplications the scan takes: each layer has 12 hidden² weights."""
        info = self.engine.info
        return 24.0 * self.runs * sum(map(len, self.rows)) * info.num_layers * info.hidden_size**2

    @property
    def finished(self) -> bool:
        """Whether every head was switched off once."""
        return self.result is not None

    def updates(self) -> Generator[ScanProgress, None, None]:
        """Run one batch after the other and yield the progress after each."""
        started, done, total = time.perf_counter(), 0, self.runs * len(self.rows)
        measured, notices = _Measured([ids[0] for ids in self.named if len(ids) == 1]), {}
        words = {ids: np.ones(self.runs) for ids in self.chains}
        for answered in self._answers(self.row, 1):
            measured.add(probabilities(np.concatenate(answered.rows)))
            notices[answered.notice] = answered.device
            done += len(answered.rows)
            yield ScanProgress(done, total, time.perf_counter() - started)
        for ids, chain in self.chains.items():
            for piece, row in zip(ids, chain, strict=True):
                start = 0
                for answered in self._answers(row, len(ids)):
                    shares = probabilities(np.concatenate(answered.rows))[:, piece]
                    words[ids][start : start + len(shares)] *= shares
                    start, done = start + len(shares), done + len(shares)
                    notices[answered.notice] = answered.device
                    yield ScanProgress(done, total, time.perf_counter() - started)
        words |= {(entry,): np.array(shares) for entry, shares in measured.shares_of_entries().items()}
        self.result = self._result(measured, words, notices)

    def _answers(self, row: Encoding, pieces: int) -> Iterator[BlankLogits]:
        """Run one row with all heads on and without each of them. pieces: how many blanks stand for the one."""
        base = shift_positions(self.interventions, self.place, pieces)
        heads = np.ndindex(self.engine.info.num_layers, self.engine.info.num_heads)
        changes = [base, *((*base, Intervention("off", *head)) for head in heads)]
        for start in range(0, len(changes), self._at_once(row)):
            part = changes[start : start + self._at_once(row)]
            yield self.engine.blank_logits([row] * len(part), interventions=part)

    def _at_once(self, row: Encoding) -> int:
        return rows_at_once(len(row), self.engine.tokenizer.vocab_size)

    def _result(self, measured: "_Measured", words: Mapping[tuple[int, ...], np.ndarray], notices: dict[str, str]) -> HeadScan:
        shape = (self.engine.info.num_layers, self.engine.info.num_heads)
        first, notice = _grid(measured.firsts[1:], shape), max(notices)
        return HeadScan(
            word=self._word((measured.entry,)),
            entry=measured.entry,
            before=measured.afters[0],
            after=_grid(measured.afters[1:], shape),
            variation=_grid(measured.variations[1:], shape),
            first=first,
            first_words=tuple(tuple(self._word((number,)) for number in row) for row in first.tolist()),
            device=notices[notice],
            notice=notice,
            named=tuple(
                ScannedWord(self._word(ids), ids, float(words[ids][0]), _grid(words[ids][1:], shape)) for ids in self.named
            ),
        )

    def run(self) -> HeadScan:
        """Run all batches and return the result."""
        for _ in self.updates():
            pass
        return self.result

    def _word(self, ids: Sequence[int]) -> str:
        tokenizer = self.engine.tokenizer
        word = "".join(tokenizer.readable(entry) or tokenizer.word(entry) for entry in ids)
        return f"##{word}" if tokenizer.joins(ids[0], first=self.row.starts_sentence(self.place)) else word


class _Measured:
    """What is kept of each run's distribution over the vocabulary; the first run has all heads on.

    entries: vocabulary entries to follow beside the top prediction of the first run.
    """

    def __init__(self, entries: Sequence[int]):
        self.entries, self.entry, self.base = list(entries), -1, None
        self.firsts: list[int] = []
        self.afters: list[float] = []
        self.variations: list[float] = []
        self.followed: list[list[float]] = []

    def add(self, shares: Float[np.ndarray, "run vocab"]) -> None:
        if self.base is None:
            self.base, self.entry = shares[0], int(shares[0].argmax())
        self.firsts += shares.argmax(-1).tolist()
        self.afters += shares[:, self.entry].tolist()
        self.variations += total_variation(shares, self.base).tolist()
        self.followed += shares[:, self.entries].tolist()

    def shares_of_entries(self) -> dict[int, tuple[float, ...]]:
        return dict(zip(self.entries, zip(*self.followed, strict=True), strict=True)) if self.entries else {}


def _grid(numbers: Sequence[float] | Sequence[int] | np.ndarray, shape: tuple[int, int]) -> np.ndarray:
    grid = np.array(numbers).reshape(shape)
    grid.setflags(write=False)
    return grid
