"""The numbers of the predictions as tables: the lists of the page, and what the reader's changes do to one blank."""

from collections.abc import Sequence

import pandas
import streamlit as st

from pages.fill_mask import texts
from pages.ui.panels.predictions import SentencePredictions, prediction_rows, predictions_csv, word_label
from pages.ui.panels.texts import DOWNLOAD_CSV, PREDICTION_COLUMNS
from tx_core.fill_mask.prediction_shift import BlankShift

SHIFT_COLUMNS = ("blank", "word", "piece", "id", "before", "after", "difference", "rank before", "rank after")


def numbers(sentences: Sequence[SentencePredictions], shift: BlankShift | None, key: str) -> None:
    """Offer all numbers as tables, built only when they are opened, and as a CSV file.

    shift: what the reader's changes do to the blank that is looked at.
    """
    opened = st.expander(texts.TABLE, key=key, on_change="rerun")
    if not opened.open:
        return
    with opened:
        if shift:
            st.caption(texts.SHIFT_TABLE)
            st.dataframe(pandas.DataFrame(shift_rows(shift), columns=SHIFT_COLUMNS), hide_index=True)
            st.caption(texts.UNCHANGED_TABLE)
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


def shift_rows(shift: BlankShift) -> list[tuple[str | float | int, ...]]:
    """Write what the changes do to one blank as rows of SHIFT_COLUMNS."""
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
