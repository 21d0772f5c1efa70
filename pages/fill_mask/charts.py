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
class AnnotatedChart:
    """A chart of probabilities.

    Attributes:
        chart: what the canvas draws.
        shares: the probability of each bar, 0 to 1.
        notes: the note on each bar.
    """

    chart: Chart
    shares: tuple[float, ...]
    notes: tuple[str, ...]

    @property
    def title(self) -> str:
        return str(self.chart["title"])

    @property
    def labels(self) -> list[str]:
        return self.chart["labels"]


def top_words_chart(blank: BlankPredictions, several: bool, chosen: ListSettings) -> AnnotatedChart:
    """Chart the most likely words at a blank; the filled sentence is each bar's note. several: the sentence has more blanks."""
    entries = blank.predictions
    title = texts.BLANK.format(number=blank.number + 1) if several else texts.TOP_WORDS
    return _annotated(
        title,
        [word_label(one) for one in entries],
        [one.probability for one in entries],
        [one.sentence for one in entries],
        chosen,
    )


def checked_words_chart(scores: tuple[WordScore, ...], number: int, several: bool, chosen: ListSettings) -> AnnotatedChart | None:
    """Chart the words to check, with rank or pieces as notes; None where no word has a probability."""
    scored = [score for score in scores if score.probability is not None]
    if not scored:
        return None
    return _annotated(
        checked_words_title(number, several),
        [_checked_label(score) for score in scored],
        [score.probability for score in scored],
        [_product_of_pieces(score) for score in scored],
        chosen,
    )


def checked_words_title(number: int, several: bool) -> str:
    """Return the title of the checked words at one blank."""
    return texts.CHECKED_WORDS_AT.format(number=number + 1) if several else texts.CHECKED_WORDS


def joint_chart(fillings: tuple[JointFilling, ...], chosen: ListSettings) -> AnnotatedChart:
    """Chart the best fillings of all blanks together; the filled sentence is each bar's note."""
    return _annotated(
        texts.JOINT,
        [" … ".join(one.words) for one in fillings],
        [one.probability for one in fillings],
        [one.sentence for one in fillings],
        chosen,
    )


def charts_of(answer: SentencePredictions, chosen: ListSettings) -> Iterator[AnnotatedChart]:
    """Yield all charts of a sentence, in the order of the page."""
    several = len(answer.filling.blanks) > 1
    for blank in answer.filling.blanks:
        yield top_words_chart(blank, several, chosen)
        if checked := checked_words_chart(answer.scores[blank.number] if answer.scores else (), blank.number, several, chosen):
            yield checked
    if answer.joint:
        yield joint_chart(answer.joint, chosen)


def change_chart(blank: BlankShift, title: str, chosen: ListSettings) -> Chart:
    """Chart the words at one blank before and after the reader's changes."""
    return moved_chart(
        title,
        [word_label(one.prediction) for one in blank.moved],
        [one.before for one in blank.moved],
        [one.after for one in blank.moved],
        [note(one) for one in blank.moved],
        limit=chosen.limit,
    )


def note(moved: EntryShift) -> str:
    """Note how an entry's rank changed: climbed, fell, new or gone."""
    if not moved.listed_before:
        return texts.NEW.format(rank=moved.rank_before)
    if not moved.listed_after:
        return texts.GONE.format(rank=moved.rank_after)
    climbed = moved.rank_before - moved.rank_after
    return f"↑{climbed}" if climbed > 0 else f"↓{-climbed}" if climbed < 0 else "="


def _annotated(title: str, labels: list[str], shares: list[float], notes: list[str], chosen: ListSettings) -> AnnotatedChart:
    return AnnotatedChart(probability_chart(title, labels, shares, limit=chosen.limit), tuple(shares), tuple(notes))


def _checked_label(score: WordScore) -> str:
    return score.word if len(score.pieces) == 1 else texts.WORD_OF_PIECES.format(word=score.word, count=len(score.pieces))


def _product_of_pieces(score: WordScore) -> str:
    if len(score.steps) == 1:
        return texts.RANK.format(rank=score.rank)
    return " × ".join(f"{piece} {percent(step)}" for piece, step in zip(score.pieces, score.steps, strict=True))
