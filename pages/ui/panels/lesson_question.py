"""The question of a lesson's step: asked in a box, or in a grid without numbers and in a list; then compared with the model.

Nothing of the answer is sent to the browser before the guess but what can be chosen.
"""

from collections.abc import Sequence

import numpy as np
import streamlit as st

from pages.ui.panels import texts
from pages.ui.panels.question_kinds import MEASURE_TEXTS, QUESTION_VIEWS, measured
from pages.ui.panels.question_view import Choices, guessed_cell, question_view
from pages.ui.shell import cache
from pages.ui.shell.address import is_presented
from pages.ui.shell.numbers import weight
from pages.ui.stage.charts import Drawing, bars_drawing, moved_drawing
from pages.ui.stage.pictures import BARS_HEIGHT, Picture, pictures_beside
from pages.ui.stage.tokens import SPECIAL_FIELD, escape_markdown
from tx_core.classroom.lesson_file import Step
from tx_core.classroom.measures import MEASURES, Answer, changes_of, compute_answer
from tx_core.classroom.questions import Question, Verdict, grade
from tx_core.engine import catalogue
from tx_core.engine.engine import Engine
from tx_core.fill_mask.prediction_shift import shift_predictions

MAX_BARS, MOVED_BARS = 8, 4
MAX_GUESS_RANK = 1000
"""Of a guess that has a bar beside the words that moved, before or after."""
NO_GUESS_MADE = ""
"""Stands for the guess of a presenter who reveals the answer to an audience."""


def compute(step: Step) -> Answer | None:
    """Compute the right answer with the model of the step's view; None for a question to discuss."""
    measure = step.question.answer
    if measure is None:
        return None
    return cache.call(compute_answer, engine_of_step(step), measure)


def engine_of_step(step: Step) -> Engine:
    """Return the engine that a step's view computes with, which reads texts as the view does; raise ExplorerError."""
    bare = step.view.get(SPECIAL_FIELD.name) == SPECIAL_FIELD.write(True)
    return cache.engine(step.view.get("model", catalogue.DEFAULT), special_tokens=not bare)


def ask_question(step: Step, name: str, send: str = "") -> str | None:
    """Ask the question of a step; return the guess once the learner has sent it. name: of the widgets. send: on the button, where
    it is not what a lesson says."""
    send = send or (texts.CHECK_GUESS if step.question.answer else texts.GIVE_ANSWER)
    st.markdown(f"**{escape_markdown(step.question.ask)}**")
    box = QUESTION_VIEWS[step.question.kind].box
    if box is None:
        return _ask_in_grid(step, name, send)
    question_view(None, key=f"{name}_view")
    with st.form(f"{name}_form", border=False):
        guess = box(step.question, name)
        sent = st.form_submit_button(send, type="primary", key=send_key(name))
    return _sent_guess(step.question, guess, sent)


def send_key(name: str) -> str:
    """Return the key of the button that sends the guess. name: of the question's widgets."""
    return f"{name}_check"


def _sent_guess(question: Question, guess: str | float | None, sent: bool) -> str | None:
    """Return a guess that was sent; None, with a message, where it is missing or cannot be right."""
    if not sent:
        return None
    problem = texts.NO_GUESS if guess in (None, "") else texts.NOT_A_SHARE if _is_no_share(question, guess) else ""
    if problem:
        with st.container(key="lesson_said"):
            st.text(problem)
        return None
    return f"{guess:g}" if isinstance(guess, float) else str(guess)


def _is_no_share(question: Question, guess: str | float) -> bool:
    """Return whether a share was asked for and the number is outside 0 to 1: most likely a percentage."""
    asks_share = question.answer is not None and MEASURES[question.answer.measure].of_attention
    return asks_share and isinstance(guess, float) and not 0 <= guess <= 1


def _ask_in_grid(step: Step, name: str, send: str) -> str | None:
    """Ask for a cell, by a click in the grid or from lists; both show the same choice."""
    choices, view = choices_of(step), f"{name}_view"
    labels = QUESTION_VIEWS[step.question.kind].lists
    lists = (choices.rows, choices.columns) if labels else (choices.names,)
    boxes = (f"{name}_row", f"{name}_column") if labels else (name,)

    def store_choice() -> None:
        place = guessed_cell(view, choices.names)
        if place is not None:
            indices = np.unravel_index(place, [len(entries) for entries in lists])
            st.session_state.update({box: lists[at][index] for at, (box, index) in enumerate(zip(boxes, indices, strict=True))})

    place = _listed_place(lists, [st.session_state.get(box) for box in boxes])
    if place is None:  # whoever sends a guess before the lists have followed the click sends them empty
        place = guessed_cell(view, choices.names)
    question_view(choices if choices.fits else None, key=view, chosen=place, on_choose=store_choice)
    if labels:
        for column, label, entries, box in zip(st.container(key="lesson_list").columns(2), labels, lists, boxes, strict=True):
            column.selectbox(label, entries, index=None, key=box)
    elif choices.grid.layout != "row" or not choices.fits:  # a row has the names on it
        st.selectbox(step.question.ask, choices.names, index=None, key=name, label_visibility="collapsed")
    guess = None if place is None else choices.names[place]
    return _sent_guess(step.question, guess, st.button(send, type="primary", key=send_key(name)))


def _listed_place(lists: Sequence[tuple[str, ...]], chosen: Sequence[str | None]) -> int | None:
    """Return the place of the cell that the lists show; None before one is chosen."""
    if any(name not in entries for entries, name in zip(lists, chosen, strict=True)):
        return None
    indices = [entries.index(name) for entries, name in zip(lists, chosen, strict=True)]
    return int(np.ravel_multi_index(indices, [len(entries) for entries in lists]))


def choices_of(step: Step) -> Choices:
    """Return what can be chosen in the grid of a question."""
    answer = compute(step)
    return Choices(QUESTION_VIEWS[step.question.kind].grid, answer.rows, answer.columns, answer.options)


def show_verdict(step: Step, guess: str, name: str) -> None:
    """Compare the guess with the answer in a sentence, in the drawing that it was made in, and in bars for words."""
    question, answer = step.question, compute(step)
    with st.container(key="lesson_answered"):
        st.text(question.ask)
    if answer is None:
        sentence = texts.DISCUSS.format(guess=guess) if guess else texts.DISCUSS_NOW
        question_view(None, key=f"{name}_view", verdict=sentence)
        return
    verdict = _verdict(step, answer, guess)
    sentence = compare(question, answer, verdict) if guess else reveal(question, answer)
    sentence = " ".join([sentence, *filter(None, [MEASURE_TEXTS[question.answer.measure].note])])
    choices = choices_of(step) if QUESTION_VIEWS[question.kind].grid and not is_presented() else None
    if choices is None or not choices.fits:
        question_view(None, key=f"{name}_view", verdict=sentence)
        if not is_presented():  # the audience looks at the picture of the page
            _show_bars(step, answer, verdict)
        return
    guessed = choices.names.index(guess) if guess in choices.names else None
    values = tuple(measured(share, question.answer.measure) for share in answer.shares)
    revealed = {"values": values, "guess": guessed, "answer": choices.names.index(answer.right)}
    question_view(choices, key=f"{name}_view", verdict=sentence, shares=answer.shares, revealed=revealed)


def _verdict(step: Step, answer: Answer, guess: str) -> Verdict:
    if not guess:
        return Verdict(guess, False)
    return grade(engine_of_step(step), step.question, answer, guess)


def reveal(question: Question, answer: Answer) -> str:
    """Return the model's answer as a sentence, where nobody guessed."""
    share = measured(answer.value, question.answer.measure)
    return QUESTION_VIEWS[question.kind].revealed.format(answer=answer.right, share=share)


def _show_bars(step: Step, answer: Answer, verdict: Verdict) -> None:
    question = step.question
    if step.view.get("shows") == "routes":
        return  # the picture of the step has these bars
    if question.answer.measure == "top_word" and question.answer.changes and engine_of_step(step).info.fills_blanks:
        _draw_bars(before_and_after(step, verdict.guess))
    elif answer.options:
        labels, shares = bars_with_guess(answer, verdict)
        drawing = bars_drawing(MEASURE_TEXTS[question.answer.measure].chart, labels, shares, limit=1.0)
        if MEASURES[question.answer.measure].of_attention:
            drawing.chart.update(
                ends=[weight(share) for share in shares], ticks=[{"at": at, "text": f"{at:g}"} for at in (0, 0.5, 1)]
            )
        _draw_bars(drawing)


def _draw_bars(drawing: Drawing) -> None:
    pictures_beside("lesson", "bars", [Picture(drawing)], BARS_HEIGHT)


def before_and_after(step: Step, guess: str) -> Drawing:
    """Draw the most likely words of a question with a change, without and with it; the guess is marked."""
    measure, engine = step.question.answer, engine_of_step(step)
    shift, *_ = cache.call(shift_predictions, engine, measure.text, changes_of(measure), top_k=MAX_GUESS_RANK)
    ranked = sorted(shift.moved, key=lambda one: -max(one.before, one.after))
    own = [place for place, one in enumerate(ranked) if one.prediction.word.casefold() == guess.casefold()][:1]
    rows = [ranked[place] for place in sorted({*range(MOVED_BARS), *own})]
    rows.sort(key=lambda one: -one.after)
    words = [one.prediction.word for one in rows]
    labels = [texts.YOUR_GUESS.format(guess=word) if word.casefold() == guess.casefold() else word for word in words]
    title = MEASURE_TEXTS[measure.measure].chart
    return moved_drawing(title, labels, [one.before for one in rows], [one.after for one in rows], limit=1.0)


def compare(question: Question, answer: Answer, verdict: Verdict) -> str:
    """Return one sentence that compares a guess with the model."""
    view, said = QUESTION_VIEWS[question.kind], MEASURE_TEXTS[question.answer.measure]
    values = {"answer": answer.right, "guess": verdict.guess}
    values["share"] = measured(answer.value, question.answer.measure)
    if verdict.right:
        return (said.right or view.right).format(**values)
    if verdict.share is None:
        return (said.wrong or view.wrong).format(**values)
    own = values | {"guess_share": measured(verdict.share, question.answer.measure)}
    return (
        texts.GUESS_HAS_SHARE.format(**own)
        if verdict.rank is None
        else texts.GUESS_HAS_RANK.format(**own, rank=f"{verdict.rank:,}")
    )


def bars_with_guess(answer: Answer, verdict: Verdict) -> tuple[list[str], list[float]]:
    """Return the largest shares in descending order, the guess among them and marked."""
    ranked = sorted(zip(answer.options, answer.shares, strict=True), key=lambda pair: -pair[1])
    known = {option.casefold() for option in answer.options}
    guessed = verdict.guess.casefold()
    shown = ranked[:MAX_BARS]
    if verdict.share is not None and guessed not in {option.casefold() for option, _ in shown}:
        own = [pair for pair in ranked if pair[0].casefold() == guessed] if guessed in known else [(verdict.guess, verdict.share)]
        shown = [*shown[: MAX_BARS - 1], *own]
    labels = [texts.YOUR_GUESS.format(guess=option) if option.casefold() == guessed else option for option, _ in shown]
    return labels, [share for _, share in shown]
