"""What a model would put into the blanks of a sentence, drawn: lists, named words, joint fillings, and the table."""

from collections.abc import Sequence

import pandas
import streamlit as st

from pages.fill_mask import texts
from pages.fill_mask.charts import AnnotatedChart, checked_words_chart, checked_words_title, joint_chart, top_words_chart
from pages.ui.canvas.bars import show_bars
from pages.ui.panels.predictions import (
    ListSettings,
    SentencePredictions,
    joint_fillings,
    prediction_rows,
    predictions_csv,
    top_predictions,
    word_scores,
)
from pages.ui.panels.texts import DOWNLOAD_CSV, PREDICTION_COLUMNS
from pages.ui.shell.numbers import percent
from tx_core.engine.engine import Engine
from tx_core.fill_mask.joint_filling import JointFilling
from tx_core.fill_mask.predictions import BlankPredictions
from tx_core.fill_mask.word_scores import LENGTH_NOTE, WordScore

ABREAST = 2


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
