"""A lesson beside the page: each step asks before it shows, then compares the guess with what the model computes.

Until a question is answered, the page below is not run, so nothing of its view is sent to the browser. A lesson may come from
a stranger: its texts are shown as plain text, and a page or a model that is not here is named as such.
"""

from functools import lru_cache
from pathlib import Path

import streamlit as st

from pages import contents
from pages.ui.panels import texts
from pages.ui.panels.lesson_question import ask_question, show_verdict
from pages.ui.shell.address import LESSON, PLACE, STEP
from pages.ui.shell.frame import explain
from tx_core.classroom.lesson_file import Lesson, open_lesson
from tx_core.errors import ExplorerError, LessonProblem

LESSONS = Path(__file__).parents[3] / "assets" / "lessons"
LEARNING_PATH = "path"
"""The lesson that newcomers are sent to."""
GUESSES = "lesson_guesses"
"""Session entry of the guesses: by lesson and number of the step."""


@lru_cache(maxsize=32)
def shipped_lesson(name: str) -> Lesson:
    """Read a lesson that ships with the app.

    Raises:
        LessonProblem: There is none of this name.
    """
    if name not in shipped_names():
        raise LessonProblem(texts.NO_SUCH_LESSON.format(names=", ".join(shipped_names())))
    return open_lesson(LESSONS / f"{name}.yaml")


def shipped_names() -> list[str]:
    """List the names of the lessons that ship with the app."""
    return sorted(path.stem for path in LESSONS.glob("*.yaml"))


def names_in_order() -> list[str]:
    """List the lessons that ship with the app from easy to hard, the path for newcomers first."""
    levels = ("beginner", "intermediate", "advanced")
    return sorted(shipped_names(), key=lambda name: (name != LEARNING_PATH, levels.index(shipped_lesson(name).level)))


def step_address(name: str, number: int) -> dict[str, str]:
    """Give the parameters of the address of a step, counted from 1: its view, and where in the lesson it is."""
    return dict(shipped_lesson(name).steps[number - 1].view) | {LESSON: name, STEP: str(number)}


def lesson_step() -> bool:
    """Show the step that the address names. False where the page below must not be shown yet."""
    name = st.query_params.get(LESSON, "")
    try:
        lesson = shipped_lesson(name)
        number = step_number(lesson)
        arrive(name, number)
        with st.container(border=True, key="lesson"):
            return show_step(name, lesson, number)
    except ExplorerError as error:
        explain(error)
        return True


def arrive(name: str, number: int) -> None:
    """Remember the step for the way back to it, and write its address: the browser keeps the old one for the same page.

    A link that names the step alone gets the step's view.
    """
    place = (contents.page(shipped_lesson(name).steps[number - 1].page).path, step_address(name, number), number)
    if st.session_state.get(PLACE) != place:
        st.session_state[PLACE] = place
        here = st.query_params.to_dict()
        st.query_params.from_dict(here if here.keys() - {LESSON, STEP} else step_address(name, number))


def step_number(lesson: Lesson) -> int:
    """Read the number of the step from the address, counted from 1.

    Raises:
        LessonProblem: The lesson has no such step.
    """
    written = st.query_params.get(STEP, "1")
    if not (written.isdecimal() and len(written) < 4 and 1 <= int(written) <= len(lesson.steps)):
        raise LessonProblem(texts.NO_SUCH_STEP.format(count=len(lesson.steps)))
    return int(written)


def show_step(name: str, lesson: Lesson, number: int) -> bool:
    """Show a step with its question, or with what came of it. False where the page below must wait for an answer."""
    step, total = lesson.steps[number - 1], len(lesson.steps)
    st.progress(number / total, texts.LESSON_PROGRESS.format(title=lesson.title, number=number, total=total))
    st.title(step.title, anchor=False)
    st.text(step.text)
    guess = st.session_state.get(GUESSES, {}).get((name, number))
    answered = step.question is None or guess is not None
    widgets = f"lesson_{name}_{number}"
    if step.question and answered:
        show_verdict(step, guess, widgets)
    elif step.question:
        guess = ask_question(step, widgets)
        if guess is not None:
            st.session_state.setdefault(GUESSES, {})[name, number] = guess
            st.rerun()
        st.caption(f":material/visibility_off: {texts.HIDDEN_UNTIL_ANSWERED}")
    if answered and step.then:
        st.text(step.then)
    show_ways(name, lesson, number, answered)
    return answered


def teacher_notes(lesson: Lesson) -> list[tuple[str, str]]:
    """List what a lesson says to the teacher: the title of a step, or of the lesson, and its note."""
    steps = [
        (texts.NOTE_ON_STEP.format(number=number, title=step.title), step.notes) for number, step in enumerate(lesson.steps, 1)
    ]
    return [(title, note) for title, note in [(lesson.title, lesson.notes), *steps] if note]


def show_ways(name: str, lesson: Lesson, number: int, answered: bool) -> None:
    """Lead to the next step, to the one before, and out of the lesson."""
    with st.container(horizontal=True):
        if number < len(lesson.steps):
            step_link(name, number + 1, texts.NEXT_STEP if answered else texts.SKIP_STEP, ":material/arrow_forward:")
        if number > 1:
            step_link(name, number - 1, texts.PREVIOUS_STEP, ":material/arrow_back:")
        learn = contents.page("learn")
        label = texts.END_LESSON if number == len(lesson.steps) and answered else texts.LEAVE_LESSON
        st.page_link(learn.path, label=label, icon=":material/logout:")


def step_link(name: str, number: int, label: str, icon: str) -> None:
    """Link to a step of a lesson that ships with the app.

    Raises:
        LessonProblem: The step is about a page that is not here.
    """
    step = shipped_lesson(name).steps[number - 1]
    if step.page not in {page.key for page in contents.PAGES}:
        raise LessonProblem(texts.NO_SUCH_PAGE.format(page=step.page, number=number))
    st.page_link(contents.page(step.page).path, label=label, icon=icon, query_params=step_address(name, number))
