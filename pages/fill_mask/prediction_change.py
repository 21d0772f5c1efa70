"""What the reader's changes do to a prediction: probabilities before and after, and who rose, fell, came and went."""

import streamlit as st

from pages.fill_mask import texts
from pages.fill_mask.charts import change_chart
from pages.ui.canvas.bars import show_bars
from pages.ui.panels.changes import Changes
from pages.ui.panels.predictions import ListSettings, remember_record, word_label
from pages.ui.shell import cache
from pages.ui.shell.numbers import percent
from tx_core.fill_mask.prediction_shift import BlankShift, PredictionShift, shift_predictions


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
