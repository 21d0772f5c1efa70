"""What a model would put into the blanks of a sentence, drawn: lists, named words, joint fillings, and the table."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import streamlit as st

from pages.ui import answers
from pages.ui.answers import COLUMNS, Answer, as_csv, rows, spelled
from pages.ui.figures import QUIET, bars_in_words, percent, probability_bars
from pages.ui.prediction_settings import Settings

if TYPE_CHECKING:  # the core imports torch: only a page that computes waits for it
    from tx_core.engine import Engine
    from tx_core.fill_mask import BlankPredictions
    from tx_core.joint_filling import JointFilling
    from tx_core.word_scores import WordScore

ABREAST = 2


def draw_answer(
    engine: "Engine", text: str, words: tuple[str, ...], chosen: Settings, key: str, abreast: bool
) -> Answer:
    """Ask everything about a sentence and draw each part as soon as it is known.

    abreast: there is room for several blanks side by side. Raises ExplorerError where the sentence cannot be filled.
    """
    filling = answers.favourites(engine.name, text, chosen)
    if filling.notice:
        st.info(filling.notice)
    several = len(filling.blanks) > 1
    scores = []
    for blank in filling.blanks:
        if blank.number % ABREAST == 0 or not abreast:
            columns = st.columns(ABREAST, gap="large") if abreast and (several or words) else [st.container()]
        title, yours = "Most likely words", "Your words"
        if several:
            title, yours = f"Blank {blank.number + 1}", f"Your words at blank {blank.number + 1}"
        with columns[blank.number % len(columns)]:
            _favourites(blank, engine.tokenizer.vocab_size, chosen, f"{key}_{blank.number}", title)
        with columns[blank.number % len(columns)] if several else columns[-1]:
            scores.append(answers.scores(engine.name, text, words, blank.number))
            _named(scores[-1], chosen, f"{key}_{blank.number}_named", yours)
    joint = answers.joint(engine.name, text) if several else ()
    notices = [*(score.fallback for blank in scores for score in blank), *(filling.notice for filling in joint)]
    if not filling.notice and (told := next(filter(None, notices), "")):
        st.info(told)
    if joint:
        _together(joint, chosen, f"{key}_joint")
    return Answer(text, filling, tuple(scores), joint)


def _favourites(blank: "BlankPredictions", entries: int, chosen: Settings, key: str, title: str) -> None:
    st.markdown(f"**{title}**")
    labels = [spelled(entry) for entry in blank.predictions]
    shares = [entry.probability for entry in blank.predictions]
    _bars(labels, shares, [entry.sentence for entry in blank.predictions], chosen, key, title)
    left = f"The other {entries - len(labels):,} entries of the vocabulary share {percent(blank.rest)}."
    joins = " ## continues the word before the blank." if any(entry.joins for entry in blank.predictions) else ""
    st.caption(left + joins.replace("#", "\\#"))


def _named(found: "Sequence[WordScore]", chosen: Settings, key: str, title: str) -> None:
    if not found:
        return
    from tx_core.word_scores import LENGTHS_DIFFER

    st.markdown(f"**{title}**")
    scored = [score for score in found if score.probability is not None]
    if scored:
        labels = [named_label(score) for score in scored]
        _bars(labels, [score.probability for score in scored], [_chain(score) for score in scored], chosen, key, title)
    for score in found:
        if score.probability is None:
            st.text(f"“{score.word}” – {score.note}")
    if any(len(score.pieces) > 1 for score in scored):
        st.caption(LENGTHS_DIFFER)


def _together(found: "Sequence[JointFilling]", chosen: Settings, key: str) -> None:
    title = "All blanks together"
    st.markdown(f"**{title}**")
    labels = [" … ".join(filling.words) for filling in found]
    _bars(labels, [filling.probability for filling in found], [filling.sentence for filling in found], chosen, key, title)
    st.text(f"Best: {found[0].sentence}")
    st.caption(
        "Filled from left to right: the model reads each word that was put in before it chooses the next. The number is "
        "the product of the probabilities on the way; filled in another order it could be another one."
    )


def _bars(
    labels: Sequence[str], shares: Sequence[float], hover: Sequence[str], chosen: Settings, key: str, title: str
) -> None:
    dark = st.context.theme.type == "dark"
    figure = probability_bars(labels, shares, hover, limit=chosen.limit, dark=dark)
    st.plotly_chart(figure, key=key, config=QUIET, alt=bars_in_words(title, labels, shares))


def named_label(score: "WordScore") -> str:
    """Label a named word, with the number of its pieces where they are several."""
    return score.word if len(score.pieces) == 1 else f"{score.word} ({len(score.pieces)} pieces)"


def _chain(score: "WordScore") -> str:
    if len(score.steps) == 1:
        return f"rank {score.rank:,} of the vocabulary"
    return " × ".join(f"{piece} {percent(step)}" for piece, step in zip(score.pieces, score.steps, strict=True))


def numbers(found: Sequence[Answer], key: str) -> None:
    """Offer all numbers as a table, built only when it is opened, and as a CSV file."""
    opened = st.expander("The numbers as a table", key=key, on_change="rerun")
    if not opened.open:
        return
    import pandas

    with opened:
        table = pandas.DataFrame([row for answer in found for row in rows(answer)], columns=COLUMNS)
        st.dataframe(table, hide_index=True, column_config={"probability": st.column_config.NumberColumn(format="%.4g")})
        st.download_button(
            "Download as CSV", lambda: as_csv(found), "blanks.csv", "text/csv", key=f"{key}_csv", on_click="ignore",
            icon=":material/download:",
        )  # fmt: skip
