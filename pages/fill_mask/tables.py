"""The numbers of the page as tables: its lists, what the reader's changes do to one blank, and what each head does to it."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from pages.fill_mask import texts
from pages.ui.export.records import DataTable
from pages.ui.panels.predictions import SentencePredictions, prediction_rows, word_label
from pages.ui.panels.texts import PREDICTION_COLUMNS
from tx_core.fill_mask.head_scan import HeadScan, ScannedWord
from tx_core.fill_mask.prediction_shift import BlankShift
from tx_core.transformer.interventions import Head

SHIFT_COLUMNS = ("blank", "word", "piece", "id", "before", "after", "difference", "rank before", "rank after")
SCAN_COLUMNS = (
    "layer",
    "head",
    "followed",
    "before",
    "without the head",
    "change",
    "ratio before",
    "ratio without the head",
    "total variation",
    "top prediction",
)
"""The ratio is that of the two words whose difference is followed; None for a word alone."""


def prediction_tables(sentences: Sequence[SentencePredictions], shift: BlankShift | None) -> list[DataTable]:
    """Return all numbers of the lists, below what the reader's changes do to the blank that is looked at."""
    rows = [row for answer in sentences for row in prediction_rows(answer)]
    if shift is None:
        return [DataTable(PREDICTION_COLUMNS, rows)]
    changed = DataTable(SHIFT_COLUMNS, shift_rows(shift), note=texts.SHIFT_TABLE)
    return [changed, DataTable(PREDICTION_COLUMNS, rows, note=texts.UNCHANGED_TABLE)]


def shift_rows(shift: BlankShift) -> list[tuple[str | float | int, ...]]:
    """Return what the changes do to one blank as rows of SHIFT_COLUMNS."""
    return [
        (
            shift.number + 1,
            word_label(one.prediction),
            one.prediction.piece,
            one.prediction.id,
            one.before,
            one.after,
            one.after - one.before,
            one.rank_before,
            one.rank_after,
        )
        for one in shift.moved
    ]


@dataclass(frozen=True)
class Effect:
    """What switching off each head does to one number: the probability of a word, or the difference of two words'.

    Attributes:
        name: what is followed: "went", or "went − go".
        before: the number with all heads on.
        after: the number with each head off.
        ratio_before, ratios: of two words, how many times as likely the first is as the other; None for a word alone.
    """

    name: str
    before: float
    after: Float[np.ndarray, "layer head"]
    ratio_before: float | None = None
    ratios: Float[np.ndarray, "layer head"] | None = None

    @property
    def change(self) -> Float[np.ndarray, "layer head"]:
        """The number with each head off minus that with all heads on."""
        return self.after - self.before

    @property
    def ranking(self) -> list[Head]:
        """All heads, the one with the largest effect first."""
        order = np.argsort(-np.abs(self.change), axis=None, kind="stable")
        return [divmod(int(place), self.change.shape[1]) for place in order]


def followed_words(result: HeadScan) -> dict[str, ScannedWord]:
    """List the words that a scan can be read for: the top prediction, and the words to check."""
    top = ScannedWord(result.word, (result.entry,), result.before, result.after)
    return {one.word: one for one in (top, *result.named)}


def effect(one: ScannedWord, other: ScannedWord | None = None) -> Effect:
    """Follow a word through a scan, or the difference of two words."""
    if other is None:
        return Effect(one.word, one.before, one.after)
    name = texts.SCAN_DIFFERENCE.format(first=one.word, second=other.word)
    ratios = one.before / other.before, one.after / other.after
    return Effect(name, one.before - other.before, one.after - other.after, *ratios)


def scan_rows(result: HeadScan, followed: Effect) -> list[tuple[str | float | int | None, ...]]:
    """Return all heads as rows of SCAN_COLUMNS, the one with the largest effect first."""
    return [
        (
            layer + 1,
            head + 1,
            followed.name,
            followed.before,
            float(followed.after[layer, head]),
            float(followed.change[layer, head]),
            followed.ratio_before,
            None if followed.ratios is None else float(followed.ratios[layer, head]),
            float(result.variation[layer, head]),
            result.first_words[layer][head],
        )
        for layer, head in followed.ranking
    ]
