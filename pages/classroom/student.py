"""The room of a student: the step, its question, what the class said once it is revealed, a sentence of their own."""

from collections.abc import Callable, Sequence
from functools import partial

import streamlit as st

from pages import contents
from pages.classroom import entrance, texts
from pages.classroom.events import host_store, share_stage
from pages.classroom.results import (
    Votes,
    answer_of,
    guessed_cells,
    guessed_words,
    lesson_of,
    message,
    sentence_of,
    shows_votes,
    votes_of,
)
from pages.ui.panels.lesson_question import ask_question, compute, send_key, show_verdict
from pages.ui.panels.question_kinds import grid_of
from pages.ui.panels.question_view import class_view
from pages.ui.panels.step import show_step_stage
from pages.ui.shell.address import SHOWN_STEP, is_presented
from pages.ui.shell.frame import explain
from pages.ui.shell.level import ADVANCED, BASIC, LEVEL, LEVEL_CHOSEN, LEVEL_NOW, remembered_level
from pages.ui.stage.attention import ClassGuesses
from pages.ui.stage.tokens import escape_markdown
from tx_core.classroom.launches import guesses_of, keep_share
from tx_core.classroom.lesson_file import Lesson, Step
from tx_core.classroom.measures import MEASURES, Answer
from tx_core.classroom.questions import count_right
from tx_core.classroom.rooms import IS_REVEALED, MAX_SENTENCE_CHARACTERS, Room, Student
from tx_core.engine import catalogue
from tx_core.errors import RoomGone, RoomProblem
from tx_core.transformer.interventions import read_interventions

PAGES_WITH_CHANGES = ("start", "attention", "fill_mask", "next_word")
"""Those whose view has changes of the model's run of its sentence."""


def take_part(code: str) -> None:
    """Show the room to a member, else the form to join. Raises RoomProblem where there is no such room."""
    code = "".join(code.split()).upper()
    token = entrance.token_of(entrance.ROOM, code)
    if not token:
        entrance.join(code)
        return
    try:
        host_store().student(token)
    except RoomGone:
        if host_store().find(code) is None:
            say_closed(entrance.ROOM, code)
        else:  # the teacher has removed the student
            entrance.keep_token(entrance.ROOM, code, "")
            st.text(texts.REMOVED)
            entrance.join(code)
        return
    entrance.draw_room(draw_step, code, token)


def say_closed(role: str, code: str) -> None:
    """Show that a room is closed, with links on, and delete its token from browser and session."""
    entrance.keep_token(role, code, "")
    class_view()(key="classroom_closed", data={"forget": [entrance.storage_key(role, code)], "texts": texts.LIVE_TEXTS})
    with st.container(border=True):
        st.text(texts.CLOSED)
        st.caption(texts.CLOSED_HINT)
        st.page_link(contents.page("learn").path, label=texts.TO_LESSONS, icon=":material/school:")


def draw_step(code: str, token: str) -> None:
    """Draw the step, its question, and what the class said. Raises RoomGone once the room is closed."""
    rooms = host_store()
    student = rooms.student(token)
    room, number = student.room, student.step
    lesson = lesson_of(room.source)
    step, key = lesson.steps[number - 1], f"classroom_{code}_{number}"
    if room.alone:
        entrance.hide_menu(code)
    revealed = number in room.revealed
    votes = votes_of(rooms, room, number) if shows_votes(room, number) else Votes()
    room_message = message(room, votes, for_teacher=False, step=number)
    guess, first, sentence = map(student.sent.get, ("guess", "first", "sentence"))
    with st.container():  # of any height, it is one box: what stands below it stays, and so does what it says to a screen reader
        entrance.show_refusal()
        show_step_head(lesson.title, number, len(lesson.steps), step)
        if step.question:
            show_sentence(step)
            if first is not None:
                stands = [] if revealed or guess is not None else [texts.STANDS]
                st.text(" ".join([texts.YOUR_FIRST_VOTE.format(guess=first), *stands]))
            if guess is not None and not room.together and not revealed:  # at their own pace, they are told at once
                entrance.draw_or_explain(show_verdict, step, guess, key)
            else:
                with st.container(key="classroom_asked"):
                    entrance.draw_or_explain(ask, token, student, step, key, revealed)
    live = st.container()
    is_open = revealed or not step.question or (guess is not None and not room.together)
    entrance.draw_or_explain(show_view, lesson, number, room, is_open, votes)
    if "text" in step.view:
        entrance.draw_or_explain(send_sentence, token, number, key, sentence)
    if not room.together:
        pace_buttons(token, number, len(lesson.steps))
    with live:  # drawn last: it knows what was sent in this run
        entrance.show_live(
            entrance.ROOM,
            code,
            token,
            message=room_message,
            sent=st.session_state.get(f"{key}_sent", 0),
            shares=level_of(lesson) == own_level(lesson),
        )


def show_step_head(title: str, number: int, total: int, step: Step) -> None:
    """Show the number, the title and the text of a step."""
    with st.container(key="classroom_step_said"):
        st.progress(number / total, escape_markdown(texts.STEP.format(title=title, number=number, total=total)))
        st.subheader(escape_markdown(step.title), anchor=False)
    st.text(step.text)


def show_sentence(step: Step) -> None:
    """Show the sentence that a step's question is about, if there is one, and its text does not say it."""
    if (sentence := sentence_of(step)) and sentence not in step.text:
        with st.container(key="classroom_sentence"):
            st.text(texts.SENTENCE.format(sentence=sentence))


def ask(token: str, student: Student, step: Step, key: str, revealed: bool) -> None:
    """Ask the question until it is revealed; show the student's stored guess."""
    kept, guess, late = student.sent.get("guess"), None, f"{key}_late"
    if revealed:
        if st.session_state.get(send_key(key)):  # the button was there when it was pressed
            st.session_state[late] = True
        st.markdown(f"**{escape_markdown(step.question.ask)}**")
    else:
        guess = ask_question(step, key, texts.SEND if step.question.answer else texts.SEND_ANSWER)
        first = student.sent.get("first")
        if first is not None and kept is None and not guess and st.button(texts.KEEP_GUESS, key=f"{key}_keep"):
            guess = first
    with st.container(key="classroom_guess_said"):
        if guess:
            kept = send(host_store().answer, token, student.step, guess, key) or kept
            if kept and not student.room.together:
                grade_launch(student)
                st.rerun()
        if revealed and st.session_state.get(late):
            st.text(IS_REVEALED)
        if kept is not None:
            st.text(texts.YOUR_GUESS.format(guess=kept))
            if not revealed:
                with st.container(key="classroom_changeable"):  # hidden at once by assets/page.css, where the page runs later
                    st.text(texts.CHANGEABLE)
        elif revealed and not st.session_state.get(late):
            st.text(texts.NO_SECOND_VOTE if "first" in student.sent else texts.NO_GUESS_OF_YOURS)


def grade_launch(student: Student) -> None:
    """Keep which share of the questions a student from a learning platform has guessed right. Raises ExplorerError."""
    if (guesses := guesses_of(host_store(), student.id)) is None:
        return
    steps = enumerate(lesson_of(student.room.source).steps, 1)
    asked = {number: step for number, step in steps if step.question and step.question.answer}
    guessed = [(asked[number], guess) for number, guess in guesses.items() if number in asked]
    right = sum(count_right(step.question, compute(step), [guess]) for step, guess in guessed)
    if asked:
        keep_share(host_store(), student.id, right / len(asked), is_final=len(guessed) == len(asked))


def send(keep: Callable[[str, int, str], str], token: str, number: int, written: str, key: str) -> str | None:
    """Store a guess or a sentence and return it, or explain what is wrong; the browser knows then that nothing is unsent. Raises
    RoomGone.
    """
    try:
        kept = keep(token, number, written)
    except RoomGone:
        raise
    except RoomProblem as problem:
        explain(problem)
        if str(problem) == IS_REVEALED:  # a moment ago
            st.session_state[f"{key}_late"] = True
        return None
    st.session_state[f"{key}_sent"] = st.session_state.get(f"{key}_sent", 0) + 1
    return kept


def show_view(lesson: Lesson, number: int, room: Room, is_open: bool, votes: Votes) -> None:
    """Show what follows the answers: what to notice, and the stage of the step, with the sentence that the teacher shows.

    On a projector, a change that the step asks about and leaves to the learner is made: its strip tells what came of it.
    """
    guesses = guesses_on_view(lesson.steps[number - 1], answer_of(room, number), votes.last)
    step, sentence = lesson.steps[number - 1], room.sentence if number == room.step else None
    own = {"text": sentence} if sentence else asked_change(step) if is_presented() and number in room.revealed else {}
    with st.container():  # also while it is empty: else a box that stands open below it would close while somebody types
        if is_open and step.then and own.keys() != {"changes"}:  # it says how to make the change
            st.text(step.then)
        if is_open or sentence:
            shared = None if own else share_of(lesson, number, room, votes)
            place = " ".join([str(room.id), str(number), *own.values()])
            shown = step.model_copy(update={"view": step.view | own})
            show_step_stage(shown, place, level_of(lesson), guesses=guesses, share=shared)
        else:
            st.session_state.pop(SHOWN_STEP, None)  # where the answers are hidden again, the next reveal shares its stage, too
        if is_open and (recap := lesson.recap_after(number)):
            st.text(recap)


def asked_change(step: Step) -> dict[str, str]:
    """Return the change that a step asks about and leaves to the learner, as its view would name it; nothing for other steps."""
    measure = step.question and step.question.answer
    can_be_made = step.page in PAGES_WITH_CHANGES and (step.controls is None or "changes" in step.controls)
    if not (measure and measure.changes and can_be_made) or step.view.get("changes"):
        return {}
    return {"changes": measure.changes} if measure.text == step.view.get("text") else {}


def level_of(lesson: Lesson) -> str:
    """Return the level of the stages of a lesson: its own, unless the visitor chose."""
    if LEVEL in st.query_params or LEVEL_CHOSEN in st.session_state or remembered_level():
        return st.session_state[LEVEL_NOW]
    return own_level(lesson)


def own_level(lesson: Lesson) -> str:
    """Return the level at which a lesson is shown: Basic but for an advanced one."""
    return ADVANCED if lesson.level == "advanced" else BASIC


def share_of(lesson: Lesson, number: int, room: Room, votes: Votes) -> Callable[[str, bytes], None] | None:
    """Return what shares the stage of a step with the phones of a room; None where theirs is another, or not revealed."""
    is_theirs = number == room.step and number in room.revealed and level_of(lesson) == own_level(lesson)
    return partial(share_stage, room, votes) if is_theirs else None


def guesses_on_view(step: Step, answer: Answer | None, guesses: Sequence[str]) -> ClassGuesses | None:
    """Return the guesses to draw in the view's map, wall of heads or list of words; None for other questions."""
    measure = step.question and step.question.answer
    if not (answer and measure and guesses):
        return None
    model = step.view.get("model", catalogue.DEFAULT)
    if measure.measure == "top_word":
        changes = read_interventions(measure.changes)
        return ClassGuesses(model, measure.text, None, words=guessed_words(guesses), changes=changes)
    if grid_of(step.question) is None or measure.changes or not (cells := guessed_cells(answer, guesses)):
        return None
    if "head" not in MEASURES[measure.measure].needs:  # the heads themselves were chosen from
        return ClassGuesses(model, measure.text, None, (), cells)
    layer, head = (int(number) - 1 for number in measure.head.split("-"))
    return ClassGuesses(model, measure.text, (layer, head), answer.columns, cells)


def send_sentence(token: str, number: int, key: str, kept: str | None) -> None:
    """Draw the box by which a student sends an own sentence for a step's view. kept: the last one sent."""
    with st.expander(texts.OWN_SENTENCE):
        with st.form(f"{key}_sentence_form", border=False):
            written = st.text_input(texts.OWN_SENTENCE_LABEL, max_chars=MAX_SENTENCE_CHARACTERS, key=f"{key}_sentence")
            sent = st.form_submit_button(texts.SEND_SENTENCE)
        if sent:
            kept = send(host_store().send_sentence, token, number, written, key) or kept
        if kept:
            st.text(texts.SENTENCE_SENT.format(sentence=kept))


def pace_buttons(token: str, number: int, total: int) -> None:
    """Draw the buttons for the next and the previous step, for rooms at the students' own pace."""
    with st.container(horizontal=True):
        for label, icon, other in ((texts.PREVIOUS, "arrow_back", number - 1), (texts.NEXT, "arrow_forward", number + 1)):
            if 1 <= other <= total:
                entrance.button(label, host_store().go, token, other, icon=f":material/{icon}:")
