"""The predictions for one sentence as charts, the same on the page and in exports, with a note on each bar."""

from collections.abc import Iterator
from dataclasses import dataclass

from pages.fill_mask import texts
from pages.ui.canvas.bars import Chart, moved_chart, probability_chart
from pages.ui.panels.predictions import ListSettings, SentencePredictions, word_label
from pages.ui.shell.numbers import percent
from tx_core.fill_mask.joint_filling import JointFilling
from tx_core.fill_mask.prediction_shift import BlankShift, EntryShift
from tx_core.fill_mask.predictions import BlankPredictions
from tx_core.fill_mask.word_scores import WordScore


@dataclass(frozen=True)
class Told:
    """A chart, the probabilities it is drawn from, and the note on each of its bars."""

    chart: Chart
    shares: tuple[float, ...]
    notes: tuple[str, ...]

    @property
    def title(self) -> str:
        return str(self.chart["title"])

    @property
    def labels(self) -> list[str]:
        return self.chart["labels"]


def favourites_chart(blank: BlankPredictions, several: bool, chosen: ListSettings) -> Told:
    """Chart the most likely words at a blank; the filled sentence is each bar's note. several: the sentence has more blanks."""
    entries = blank.predictions
    title = texts.BLANK.format(number=blank.number + 1) if several else texts.TOP_WORDS
    return _told(
        title,
        [word_label(one) for one in entries],
        [one.probability for one in entries],
        [one.sentence for one in entries],
        chosen,
    )


def named_chart(found: tuple[WordScore, ...], number: int, several: bool, chosen: ListSettings) -> Told | None:
    """Chart the words that the reader named, with rank or pieces as notes; None where no word has a probability."""
    scored = [score for score in found if score.probability is not None]
    if not scored:
        return None
    return _told(
        named_title(number, several),
        [_named(score) for score in scored],
        [score.probability for score in scored],
        [_chain(score) for score in scored],
        chosen,
    )


def named_title(number: int, several: bool) -> str:
    """Head the words that the reader named at one blank."""
    return texts.CHECKED_WORDS_AT.format(number=number + 1) if several else texts.CHECKED_WORDS


def joint_chart(found: tuple[JointFilling, ...], chosen: ListSettings) -> Told:
    """Chart the best fillings of all blanks together; the filled sentence is each bar's note."""
    return _told(
        texts.JOINT,
        [" … ".join(one.words) for one in found],
        [one.probability for one in found],
        [one.sentence for one in found],
        chosen,
    )


def charts_of(answer: SentencePredictions, chosen: ListSettings) -> Iterator[Told]:
    """Give all charts of a sentence from the first to the last."""
    several = len(answer.filling.blanks) > 1
    for blank in answer.filling.blanks:
        yield favourites_chart(blank, several, chosen)
        if named := named_chart(answer.scores[blank.number] if answer.scores else (), blank.number, several, chosen):
            yield named
    if answer.joint:
        yield joint_chart(answer.joint, chosen)


def change_chart(blank: BlankShift, title: str, chosen: ListSettings) -> Chart:
    """Chart what the reader's changes do to the words at one blank."""
    return moved_chart(
        title,
        [word_label(one.prediction) for one in blank.moved],
        [one.before for one in blank.moved],
        [one.after for one in blank.moved],
        [note(one) for one in blank.moved],
        limit=chosen.limit,
    )


def note(moved: EntryShift) -> str:
    """Say in a word what became of an entry's place."""
    if not moved.listed_before:
        return texts.NEW.format(rank=moved.rank_before)
    if not moved.listed_after:
        return texts.GONE.format(rank=moved.rank_after)
    climbed = moved.rank_before - moved.rank_after
    return f"↑{climbed}" if climbed > 0 else f"↓{-climbed}" if climbed < 0 else "="


def _told(title: str, labels: list[str], shares: list[float], notes: list[str], chosen: ListSettings) -> Told:
    return Told(probability_chart(title, labels, shares, limit=chosen.limit), tuple(shares), tuple(notes))


def _named(score: WordScore) -> str:
    return score.word if len(score.pieces) == 1 else texts.WORD_OF_PIECES.format(word=score.word, count=len(score.pieces))


def _chain(score: WordScore) -> str:
    if len(score.steps) == 1:
        return texts.RANK.format(rank=score.rank)
    return " × ".join(f"{piece} {percent(step)}" for piece, step in zip(score.pieces, score.steps, strict=True))
