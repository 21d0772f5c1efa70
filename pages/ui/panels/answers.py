"""What a model answers about the blanks of a sentence: asked once, kept in the cache, and written as a table."""

import csv
import io
import pickle
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, TypeVar

from pages.ui.panels.prediction_settings import Settings
from pages.ui.shell import cache

if TYPE_CHECKING:  # the core imports torch: only a page that computes waits for it
    from tx_core.fill_mask.joint_filling import JointFilling
    from tx_core.fill_mask.predictions import Filling, Prediction
    from tx_core.fill_mask.word_scores import WordScore

COLUMNS = ("sentence", "asked", "answer", "pieces", "probability", "rank", "filled sentence or note")
Record = TypeVar("Record")
Row = tuple[str | float | int | None, ...]


@dataclass(frozen=True)
class Answer:
    """Everything that the page shows of one sentence.

    scores: the named words at each blank. joint: the best fillings of all blanks, none for a single blank.
    """

    text: str
    filling: "Filling"
    scores: "tuple[tuple[WordScore, ...], ...]"
    joint: "tuple[JointFilling, ...]"


@dataclass(frozen=True)
class Kept(Generic[Record]):
    """A record and its memory in bytes, as the cache wants to know it."""

    record: Record
    nbytes: int


def favourites(model: str, text: str, chosen: Settings) -> "Filling":
    """Ask for the favourites at every blank; raise ExplorerError where that cannot be."""
    from tx_core.fill_mask.predictions import predict

    shown = {"top_k": chosen.listed, "temperature": chosen.temperature, "top_p": chosen.top_p}
    return remember(("favourites", model, text, *shown.values()), lambda: predict(cache.engine(model), text, **shown))


def scores(model: str, text: str, words: tuple[str, ...], blank: int) -> "tuple[WordScore, ...]":
    """Score the words that the reader names at one blank."""
    from tx_core.fill_mask.word_scores import score_words

    key = ("scores", model, text, blank, *words)
    return remember(key, lambda: score_words(cache.engine(model), text, words, blank=blank)) if words else ()


def joint(model: str, text: str) -> "tuple[JointFilling, ...]":
    """Ask for the best fillings of all blanks together."""
    from tx_core.fill_mask.joint_filling import fill_jointly

    return remember(("joint", model, text), lambda: fill_jointly(cache.engine(model), text))


def remember(key: tuple, compute: Callable[[], Record]) -> Record:
    """Keep a record of plain values in the cache, weighed by what it takes to write it down."""

    def weighed() -> Kept[Record]:
        record = compute()
        return Kept(record, len(pickle.dumps(record)))

    return cache.remember(key, weighed).record


def spelled(prediction: "Prediction") -> str:
    """Label a prediction: by its word, with ## before one that continues the word on its left."""
    return f"##{prediction.word}" if prediction.joins else prediction.word or prediction.piece


def rows(answer: Answer) -> list[Row]:
    """Write every number of an answer as a row of COLUMNS."""
    found: list[Row] = []
    for blank in answer.filling.blanks:
        for rank, entry in enumerate(blank.predictions, start=1):
            asked = f"blank {blank.number + 1}"
            found.append((asked, spelled(entry), entry.piece, entry.probability, rank, entry.sentence))
    for number, scored in enumerate(answer.scores, start=1):
        for score in scored:
            asked, pieces = f"named word at blank {number}", " ".join(score.pieces)
            found.append((asked, score.word, pieces, score.probability, score.rank, score.note))
    for rank, filling in enumerate(answer.joint, start=1):
        words, pieces = " … ".join(filling.words), " ".join(filling.pieces)
        found.append(("all blanks together", words, pieces, filling.probability, rank, filling.sentence))
    return [(answer.text, *row) for row in found]


def as_csv(answers: Sequence[Answer]) -> str:
    """Write the table as CSV; a text that a spreadsheet would take for a formula gets a ' before it."""
    written = io.StringIO()
    table = csv.writer(written)
    table.writerow(COLUMNS)
    for answer in answers:
        table.writerows([_cell(value) for value in row] for row in rows(answer))
    return written.getvalue()


def _cell(value: str | float | int | None) -> str:
    if isinstance(value, str):
        return f"'{value}" if value.startswith(("=", "+", "-", "@", "\t", "\r")) else value
    return "" if value is None else f"{value:.6g}"
