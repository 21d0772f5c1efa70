"""The question of a lesson's step: asked in a drawing without numbers and in a list, then compared with the model.

Nothing of the answer is sent to the browser before the guess but what can be chosen.
"""

import streamlit as st

from pages.ui.canvas.charts import probability_chart, show_bars
from pages.ui.canvas.question_view import Choices, Revealed, guessed_cell, question_view
from pages.ui.panels import texts
from pages.ui.panels.tokens import SPECIAL_FIELD, escape_markdown
from pages.ui.shell import cache
from pages.ui.shell.address import is_presented
from pages.ui.shell.numbers import OF_ATTENTION, measured, weight
from tx_core.classroom.lesson_file import Question, Step
from tx_core.classroom.measures import Answer, Verdict, cell_name, compute_answer, grade
from tx_core.engine import catalogue
from tx_core.engine.engine import Engine

MAX_BARS, MAX_WORD_CHARACTERS, MAX_OPEN_CHARACTERS = 8, 60, 1000
NO_GUESS_MADE = ""
"""Stands for the guess of a presenter who reveals the answer to a room."""
DRAWN = ("token", "cell", "head")
"""Kinds of question that are answered in a drawing, by a click or by keys."""


def compute(step: Step) -> Answer | None:
    """Compute the right answer with the model of the step's view; None for a question to discuss."""
    measure = step.question.answer
    if measure is None:
        return None
    engine = engine_of_step(step)
    key = ("lesson", cache.engine_key(engine), measure.model_dump_json())
    return cache.get_or_compute(key, lambda: compute_answer(engine, measure))


def engine_of_step(step: Step) -> Engine:
    """Return the engine that a step's view computes with, which reads texts as the view does; raise ExplorerError."""
    bare = step.view.get(SPECIAL_FIELD.name) == SPECIAL_FIELD.write(True)
    return cache.engine(step.view.get("model", catalogue.DEFAULT), special_tokens=not bare)


def ask_question(step: Step, name: str, send: str = texts.CHECK_GUESS) -> str | None:
    """Ask the question of a step; return the guess once the learner has sent it. name: of the widgets. send: on the button."""
    with st.container(key="lesson_asked"):
        st.text(step.question.ask)
    if step.question.kind in DRAWN:
        return _ask_in_drawing(step, name, send)
    question_view(None, key=f"{name}_view")
    with st.form(f"{name}_form", border=False):
        guess = _answer_box(step.question, name)
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
    asks_share = question.answer is not None and question.answer.measure == "attention_weight"
    return asks_share and isinstance(guess, float) and not 0 <= guess <= 1


def _answer_box(question: Question, name: str) -> str | float | None:
    """Draw the box or the list by which a question without a drawing is answered; return the guess.

    The label of a box is not drawn, since the question stands above it; a screen reader is given it as it is written.
    """
    if question.kind == "word":
        return st.text_input(question.ask, max_chars=MAX_WORD_CHARACTERS, key=name, label_visibility="collapsed")
    if question.kind == "open":
        return st.text_area(question.ask, max_chars=MAX_OPEN_CHARACTERS, key=name, label_visibility="collapsed")
    if question.kind == "number":
        step = 1 if question.answer and question.answer.measure == "rank_of" else 0.01
        return st.number_input(question.ask, value=None, step=step, key=name, label_visibility="collapsed")
    return st.radio(
        question.ask,
        question.options,
        index=None,
        format_func=escape_markdown,
        key=name,
        label_visibility="collapsed",
    )


def _ask_in_drawing(step: Step, name: str, send: str) -> str | None:
    """Ask for a cell, by a click in the drawing or from a list; both show the same choice."""
    choices, view = choices_of(step), f"{name}_view"
    boxes = (f"{name}_row", f"{name}_column") if choices.kind == "cell" else (name,)

    def store_choice() -> None:
        place = guessed_cell(view, choices.names)
        if place is not None:
            st.session_state.update(zip(boxes, _parts(choices, place), strict=True))

    guess = _guess(choices, [st.session_state.get(box) for box in boxes])
    if guess is None and (place := guessed_cell(view, choices.names)) is not None:
        # Whoever sends a guess before the lists have followed the click sends them empty.
        guess = choices.names[place]
    drawn = choices if choices.fits else None
    question_view(drawn, key=view, chosen=choices.names.index(guess) if guess else None, on_choose=store_choice)
    _lists(step.question, choices, boxes)
    return _sent_guess(step.question, guess, st.button(send, type="primary", key=send_key(name)))


def _parts(choices: Choices, place: int) -> tuple[str, ...]:
    """Name what stands in the lists for a cell: its row and column, or itself."""
    row, column = divmod(place, len(choices.columns))
    return (choices.rows[row], choices.columns[column]) if choices.kind == "cell" else (choices.names[place],)


def _guess(choices: Choices, chosen: list[str | None]) -> str | None:
    """Name the cell that the lists show; None before one is chosen."""
    name = cell_name(*chosen) if choices.kind == "cell" and all(chosen) else chosen[0]
    return name if name in choices.names else None


def _lists(question: Question, choices: Choices, boxes: tuple[str, ...]) -> None:
    """Draw the lists beside the drawing: for the keyboard, a screen reader, and what is too large to be drawn."""
    if choices.kind == "cell":
        left, right = st.container(key="lesson_list").columns(2)
        left.selectbox(texts.CELL_ROW, choices.rows, index=None, key=boxes[0])
        right.selectbox(texts.CELL_COLUMN, choices.columns, index=None, key=boxes[1])
    elif choices.kind == "head" or not choices.fits:  # a row of tokens has their names on it
        st.selectbox(question.ask, choices.names, index=None, key=boxes[0], label_visibility="collapsed")


def choices_of(step: Step) -> Choices:
    """Return what can be chosen in the drawing of a question."""
    answer = compute(step)
    return Choices(step.question.kind, answer.rows, answer.columns, answer.options)


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
    sentence = " ".join([sentence, *filter(None, [texts.SHARE_NOTES.get(question.answer.measure)])])
    if is_presented():  # the picture of the page is what the room looks at
        question_view(None, key=f"{name}_view", verdict=sentence)
        return
    choices = choices_of(step) if question.kind in DRAWN else None
    if choices is None or not choices.fits:
        question_view(None, key=f"{name}_view", verdict=sentence)
        _show_bars(question, answer, verdict)
        return
    guessed = choices.names.index(guess) if guess in choices.names else None
    values = tuple(measured(share, question.answer.measure) for share in answer.shares)
    revealed = Revealed(answer.shares, values, guessed, choices.names.index(answer.right))
    question_view(choices, key=f"{name}_view", verdict=sentence, revealed=revealed)


def _verdict(step: Step, answer: Answer, guess: str) -> Verdict:
    if not guess:
        return Verdict(guess, False)
    return grade(engine_of_step(step), step.question, answer, guess)


def reveal(question: Question, answer: Answer) -> str:
    """Return the model's answer as a sentence, where nobody guessed."""
    template = texts.NUMBER_REVEALED if question.kind == "number" else texts.REVEALED
    return template.format(answer=answer.right, share=measured(answer.value, question.answer.measure))


def _show_bars(question: Question, answer: Answer, verdict: Verdict) -> None:
    if answer.options:
        labels, shares = bars_with_guess(answer, verdict)
        chart = probability_chart(texts.GUESS_CHART[question.answer.measure], labels, shares, limit=1.0)
        if question.answer.measure in OF_ATTENTION:
            chart |= {"ends": [weight(share) for share in shares], "ticks": [{"at": at, "text": f"{at:g}"} for at in (0, 0.5, 1)]}
        show_bars(chart, key="lesson_bars")


def compare(question: Question, answer: Answer, verdict: Verdict) -> str:
    """Return one sentence that compares a guess with the model."""
    values = {"answer": answer.right, "share": measured(answer.value, question.answer.measure), "guess": verdict.guess}
    if question.kind == "number":
        return (texts.NUMBER_IS_RIGHT if verdict.right else texts.NUMBER_COMPARED).format(**values)
    if verdict.right:
        return texts.GUESS_IS_FIRST.format(**values)
    if verdict.share is None:
        return texts.GUESS_HAS_NO_SHARE.format(**values)
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
