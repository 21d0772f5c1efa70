"""Head scan: which heads does a prediction depend on? Every head is switched off in turn, one per row of a batch."""

import math
import time
from collections.abc import Generator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from jaxtyping import Float, Int

from tx_core.engine.engine import Engine
from tx_core.fill_mask.predictions import encode_with_blanks, rows_at_once
from tx_core.transformer.interventions import Intervention


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
    """The probability of one vocabulary entry at the blank, with all heads on and with each head off.

    Attributes:
        word: As a reader knows it.
        entry: Its vocabulary id.
        before: Its probability with all heads on.
        after: Its probability with each head off.
    """

    word: str
    entry: int
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
        named: The entries that were asked for, with their own probabilities.
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

    @property
    def nbytes(self) -> int:
        """The memory of its arrays and words, in bytes."""
        return (1 + len(self.named)) * self.after.nbytes + self.variation.nbytes + self.first.nbytes + 60 * self.first.size


class Scan:
    """Switch every head off in turn and measure the prediction at one blank (Michel et al. 2019, section 3.2).

    `steps` computes one batch after the other; `result` is set at the end. A head without effect on its own may still matter
    together with others, which can stand in for each other. `named` are vocabulary entries to follow beside the top
    prediction. Raises what `predict` raises, ChangeProblem, and ValueError for a blank that is not there.
    """

    def __init__(
        self,
        engine: Engine,
        text: str,
        *,
        blank: int = 0,
        interventions: Sequence[Intervention] = (),
        named: Sequence[int] = (),
    ):
        encoding = encode_with_blanks(engine, text)
        if not 0 <= blank < len(encoding.blanks):
            raise ValueError(f"blank must be within 0 and {len(encoding.blanks) - 1}, got {blank}")
        self.engine, self.interventions, self.named = engine, interventions, list(dict.fromkeys(named))
        self.place = encoding.blanks[blank]
        self.row = replace(encoding, blanks=(self.place,))
        self.result: HeadScan | None = None

    @property
    def batches(self) -> int:
        """The number of batches."""
        runs = 1 + self.engine.info.num_layers * self.engine.info.num_heads
        return math.ceil(runs / rows_at_once(len(self.row), self.engine.tokenizer.vocab_size))

    @property
    def operations(self) -> float:
        """About how many additions and multiplications the scan takes: each layer has 12 hidden² weights."""
        info = self.engine.info
        runs = 1 + info.num_layers * info.num_heads
        return 24.0 * runs * len(self.row) * info.num_layers * info.hidden_size**2

    @property
    def finished(self) -> bool:
        """Whether every head was switched off once."""
        return self.result is not None

    def steps(self) -> Generator[ScanProgress, None, None]:
        """Run one batch after the other and yield the progress after each."""
        started, shape = time.perf_counter(), (self.engine.info.num_layers, self.engine.info.num_heads)
        heads = list(np.ndindex(shape))
        changes = [self.interventions, *((*self.interventions, Intervention("off", *head)) for head in heads)]
        firsts, afters, variations, named, notices = [], [], [], [], {}
        base, entry = None, None
        at_once = rows_at_once(len(self.row), self.engine.tokenizer.vocab_size)
        for start in range(0, len(changes), at_once):
            part = changes[start : start + at_once]
            answered = self.engine.blank_logits([self.row] * len(part), interventions=part)
            shares = torch.cat(answered.rows).double().softmax(-1)
            notices[answered.notice] = answered.device
            if base is None:
                base, entry = shares[0], int(shares[0].argmax())
            firsts += shares.argmax(-1).tolist()
            afters += shares[:, entry].tolist()
            named += shares[:, self.named].tolist()
            variations += ((shares - base).abs().sum(-1) / 2).tolist()
            yield ScanProgress(start + len(part), len(changes), time.perf_counter() - started)
        first = _grid(firsts[1:], shape)
        notice = next(iter(sorted(notices, reverse=True)))
        self.result = HeadScan(
            word=self._word(entry),
            entry=entry,
            before=afters[0],
            after=_grid(afters[1:], shape),
            variation=_grid(variations[1:], shape),
            first=first,
            first_words=tuple(tuple(self._word(number) for number in row) for row in first.tolist()),
            device=notices[notice],
            notice=notice,
            named=tuple(self._scanned(named, column, shape) for column in range(len(self.named))),
        )

    def _scanned(self, shares: list[list[float]], column: int, shape: tuple[int, int]) -> ScannedWord:
        before, *after = (row[column] for row in shares)
        return ScannedWord(self._word(self.named[column]), self.named[column], before, _grid(after, shape))

    def run(self) -> HeadScan:
        """Run all batches and return the result."""
        for _ in self.steps():
            pass
        return self.result

    def _word(self, entry: int) -> str:
        tokenizer = self.engine.tokenizer
        word = tokenizer.readable(entry) or tokenizer.word(entry)
        return f"##{word}" if tokenizer.joins(entry, first=self.row.starts_sentence(self.place)) else word


def _grid(numbers: list[float] | list[int], shape: tuple[int, int]) -> np.ndarray:
    grid = np.array(numbers).reshape(shape)
    grid.setflags(write=False)
    return grid
