"""The predictions for a sentence: as charts, before and after a reader's changes, and drawn on the page with their table."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import pandas
import streamlit as st

from pages.fill_mask import texts
from pages.ui.canvas.bars import Chart, moved_chart, probability_chart, show_bars
from pages.ui.export.records import source
from pages.ui.panels.changes import Changes
from pages.ui.panels.predictions import (
    ListSettings,
    SentencePredictions,
    joint_fillings,
    prediction_rows,
    predictions_csv,
    remember_record,
    top_predictions,
    word_label,
    word_scores,
)
from pages.ui.panels.texts import DOWNLOAD_CSV, PREDICTION_COLUMNS
from pages.ui.shell import cache
from pages.ui.shell.numbers import percent
from tx_core.engine.engine import Engine
from tx_core.fill_mask.joint_filling import JointFilling
from tx_core.fill_mask.prediction_shift import BlankShift, EntryShift, PredictionShift, shift_predictions
from tx_core.fill_mask.predictions import BlankPredictions
from tx_core.fill_mask.word_scores import LENGTH_NOTE, WordScore

ABREAST = 2


@dataclass(frozen=True)
class Lists:
    """All that is listed on the page, and how. model: its name."""

    model: str
    sentences: tuple[SentencePredictions, ...]
    chosen: ListSettings

    @property
    def notes(self) -> tuple[str, ...]:
        """Say what makes the lists other than the model's own probabilities."""
        return (self.chosen.note,) if self.chosen.note else ()

    @property
    def about(self) -> dict[str, object]:
        """Give what a reader of the numbers has to know."""
        texts = [answer.text for answer in self.sentences]
        return source(
            self.model, texts=texts, temperature=self.chosen.temperature, top_p=self.chosen.top_p, notes=list(self.notes)
        )


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


def prediction_shift(model: str, text: str, changed: Changes, chosen: ListSettings) -> PredictionShift:
    """Predict with and without the changes; raise ExplorerError where that cannot be done."""
    shown = {"top_k": chosen.listed, "temperature": chosen.temperature, "top_p": chosen.top_p}
    key = ("shift", model, text, frozenset(changed), *shown.values())
    return remember_record(key, lambda: shift_predictions(cache.engine(model), text, changed, **shown))


def show_prediction_change(page: str, model: str, text: str, number: int, changed: Changes, chosen: ListSettings) -> None:
    """Draw the effect of the changes on the words at one blank, and describe it."""
    shift = prediction_shift(model, text, changed, chosen)
    if shift.notice:
        st.info(shift.notice)
    blank = shift.blanks[number]
    st.subheader(texts.CHANGE_TITLE, anchor=False)
    st.text(describe_shift(blank))
    show_bars(
        change_chart(blank, texts.CHANGE_TITLE, chosen), [moved.prediction.sentence for moved in blank.moved], key=f"{page}_shift"
    )
    st.caption(texts.CHANGE_CAPTION.format(listed=chosen.listed))


def describe_shift(blank: BlankShift) -> str:
    """Name the top prediction now and before, and how much probability moved in all."""
    now = min(blank.moved, key=lambda moved: moved.rank_after)
    was = min(blank.moved, key=lambda moved: moved.rank_before)
    shares = {"before": percent(was.before), "after": percent(was.after), "variation": percent(blank.variation)}
    if now is was:
        return texts.TOP_UNCHANGED.format(word=word_label(was.prediction), **shares)
    new = {"new": word_label(now.prediction), "new_share": percent(now.after)}
    return texts.TOP_CHANGED.format(word=word_label(was.prediction), **new, **shares)


def draw_answer(
    engine: Engine, text: str, words: tuple[str, ...], chosen: ListSettings, key: str, abreast: bool
) -> SentencePredictions:
    """Ask everything about a sentence and draw each part as soon as it is known.

    abreast: there is room for several blanks side by side. Raises ExplorerError where the sentence cannot be filled.
    """
    filling = top_predictions(engine.name, text, chosen)
    if filling.notice:
        st.info(filling.notice)
    several = len(filling.blanks) > 1
    scores = []
    for blank in filling.blanks:
        if blank.number % ABREAST == 0 or not abreast:
            columns = st.columns(ABREAST, gap="large") if abreast and (several or words) else [st.container()]
        with columns[blank.number % len(columns)]:
            _show_top_words(blank, top_words_chart(blank, several, chosen), engine.tokenizer.vocab_size, f"{key}_{blank.number}")
        with columns[blank.number % len(columns)] if several else columns[-1]:
            scores.append(word_scores(engine.name, text, words, blank.number))
            if words:
                st.markdown(f"**{checked_words_title(blank.number, several)}**")
                _show_checked_words(
                    scores[-1], checked_words_chart(scores[-1], blank.number, several, chosen), f"{key}_{blank.number}_named"
                )
    joint = joint_fillings(engine.name, text) if several else ()
    notices = [*(score.fallback for blank in scores for score in blank), *(filling.notice for filling in joint)]
    if not filling.notice and (notice := next(filter(None, notices), "")):
        st.info(notice)
    if joint:
        _show_joint_fillings(joint, joint_chart(joint, chosen), f"{key}_joint")
    return SentencePredictions(text, filling, tuple(scores), joint)


def _show_top_words(blank: BlankPredictions, annotated: AnnotatedChart, entries: int, key: str) -> None:
    _show_with_title(annotated, key)
    rest = texts.REST.format(count=entries - len(annotated.labels), share=percent(blank.rest))
    joins = any(entry.joins for entry in blank.predictions)
    st.caption(f"{rest} {texts.CONTINUES_WORD}" if joins else rest)


def _show_checked_words(scores: Sequence[WordScore], annotated: AnnotatedChart | None, key: str) -> None:
    if annotated:
        show_bars(annotated.chart, annotated.notes, key=key)
    for score in scores:
        if score.probability is None:
            st.text(texts.NOT_SCORED.format(word=score.word, reason=score.note))
    if any(len(score.pieces) > 1 for score in scores if score.probability is not None):
        st.caption(LENGTH_NOTE)


def _show_joint_fillings(fillings: Sequence[JointFilling], annotated: AnnotatedChart, key: str) -> None:
    _show_with_title(annotated, key)
    st.text(texts.BEST_FILLING.format(sentence=fillings[0].sentence))
    st.caption(texts.JOINT_CAPTION)


def _show_with_title(annotated: AnnotatedChart, key: str) -> None:
    st.markdown(f"**{annotated.title}**")
    show_bars(annotated.chart, annotated.notes, key=key)


def numbers(sentences: Sequence[SentencePredictions], key: str) -> None:
    """Offer all numbers as a table, built only when it is opened, and as a CSV file."""
    opened = st.expander(texts.TABLE, key=key, on_change="rerun")
    if not opened.open:
        return
    with opened:
        table = pandas.DataFrame([row for answer in sentences for row in prediction_rows(answer)], columns=PREDICTION_COLUMNS)
        st.dataframe(table, hide_index=True, column_config={"probability": st.column_config.NumberColumn(format="%.4g")})
        st.download_button(
            DOWNLOAD_CSV,
            lambda: predictions_csv(sentences),
            "blanks.csv",
            "text/csv",
            key=f"{key}_csv",
            on_click="ignore",
            icon=":material/download:",
        )
