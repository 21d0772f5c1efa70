"""A lesson beside the page: each step asks before it shows, then compares the guess with what the model computes.

Until a question is answered, the page below is not run, so nothing of its view is sent to the browser. A lesson may come from
a stranger: its texts are shown as plain text, and a page or a model that is not here is named as such.
"""

from functools import lru_cache
from hashlib import sha256
from itertools import groupby
from pathlib import Path

import streamlit as st

from pages import contents
from pages.ui.panels import texts
from pages.ui.panels.lesson_question import NO_GUESS_MADE, ask_question, show_verdict
from pages.ui.panels.question_kinds import grid_of
from pages.ui.shell.address import (
    CHANGED_STEPS,
    DRAFT,
    FOR_CLASS,
    KEPT_PARAMETERS,
    LESSON,
    LOCK,
    PLACE,
    PRESENT,
    STEP,
    is_changed,
    is_locked,
    is_offered,
    is_presented,
    page_view,
    widget_key,
)
from pages.ui.shell.frame import explain
from pages.ui.shell.level import hide_by_key, level_in_link
from pages.ui.shell.step import SHOWN, ShownStep, step_of_run
from pages.ui.stage.scripts import component
from pages.ui.stage.tokens import escape_markdown
from tx_core.classroom.lesson_file import (
    DIFFICULTIES,
    PACKED_MARK,
    Lesson,
    Step,
    open_lesson,
    read_lesson,
    unpack_lesson,
    with_line,
    write_lesson,
)
from tx_core.errors import ExplorerError, LessonProblem

LESSONS = Path(__file__).parents[3] / "assets" / "lessons"
PAGES_WITH_VIEW = tuple(page.key for page in contents.PAGES if page.computes)
"""Those that a lesson may be about."""
LEARNING_PATH = "path"
"""The lesson that newcomers are sent to."""
GUESSES = "lesson_guesses"
"""Session entry of the guesses: by lesson and number of the step."""
OWN_LESSONS, MAX_OWN_LESSONS = "own_lessons", 4
"""Session entry of the files of lessons that this visitor wrote or opened, by name in the address, the last ones."""


def find_lesson(name: str) -> Lesson:
    """Return a lesson by its name in the address: one that ships, packed into it, or from a file. Raises LessonProblem."""
    if own := st.session_state.get(OWN_LESSONS, {}).get(name):
        return _own_lesson(own)
    return linked_lesson(name)


@lru_cache(maxsize=32)
def linked_lesson(name: str) -> Lesson:
    """Return a lesson that a link names to anybody: one that ships, or one packed into the address. Raises LessonProblem."""
    return unpack_lesson(name, PAGES_WITH_VIEW) if name.startswith(PACKED_MARK) else shipped_lesson(name)


@lru_cache(maxsize=32)
def _own_lesson(written: str) -> Lesson:
    return read_lesson(written.encode(), PAGES_WITH_VIEW)


def keep_own_lesson(file: bytes) -> str:
    """Store the file of a lesson in the session; return its name in the address. Raises LessonProblem for one that is none."""
    lesson = read_lesson(file, PAGES_WITH_VIEW)
    written, name = file.decode("utf-8-sig"), f"own-{sha256(write_lesson(lesson).encode()).hexdigest()[:12]}"
    # A dictionary keeps its order: the oldest lessons are dropped first.
    own = {**st.session_state.get(OWN_LESSONS, {}), name: written}
    st.session_state[OWN_LESSONS] = dict(list(own.items())[-MAX_OWN_LESSONS:])
    return name


def lesson_source(name: str) -> str:
    """Return the lesson's YAML source, generating it if needed."""
    return st.session_state.get(OWN_LESSONS, {}).get(name) or write_lesson(find_lesson(name))


@lru_cache(maxsize=32)
def shipped_lesson(name: str) -> Lesson:
    """Read a lesson that ships with the app; raise LessonProblem where there is none of this name."""
    if name not in shipped_names():
        raise LessonProblem(texts.NO_SUCH_LESSON.format(names=", ".join(shipped_names())))
    return open_lesson(LESSONS / f"{name}.yaml")


def shipped_names() -> list[str]:
    """List the names of the lessons that ship with the app."""
    return sorted(path.stem for path in LESSONS.glob("*.yaml"))


def names_in_order() -> list[str]:
    """List the lessons that ship with the app from easy to hard, the path for newcomers first."""
    return sorted(shipped_names(), key=lambda name: (name != LEARNING_PATH, DIFFICULTIES.index(shipped_lesson(name).level)))


def step_address(name: str, number: int) -> dict[str, str]:
    """Return the query parameters of a step, counted from 1: its view, and its place in the lesson."""
    kept = {parameter: "1" for parameter in (LOCK, PRESENT) if st.query_params.get(parameter) == "1"}
    return level_in_link() | dict(find_lesson(name).steps[number - 1].view) | {LESSON: name, STEP: str(number)} | kept


def lesson_step() -> bool:
    """Show the step that the address names. False where the page below must not be shown yet."""
    name = st.query_params.get(LESSON, "")
    before = step_of_run()
    st.session_state[SHOWN] = ShownStep()
    st.space(16)  # below the switch of the level
    try:
        lesson = find_lesson(name)
        number = step_number(lesson)
        step = lesson.steps[number - 1]
        if before and before.awaits == (name, number) and is_changed(step.page):
            st.session_state.setdefault(CHANGED_STEPS, set()).add((name, number))
        awaits = step.done == "change" and not is_done(name, lesson, number)
        st.session_state[SHOWN] = ShownStep(step.controls, asks_head(step), awaits=(name, number) if awaits else None)
        arrive(name, number)
        with st.container(border=True, key="lesson"):
            return show_or_explain(name, lesson, number)
    except ExplorerError as error:
        explain(error)
        if is_locked():
            leave_link(texts.LEAVE_LESSON)
        return True


def show_or_explain(name: str, lesson: Lesson, number: int) -> bool:
    """Show a step (`show_step`), or why its model refuses it, with the line of the lesson's file and links on."""
    try:
        return show_step(name, lesson, number)
    except ExplorerError as problem:
        own = st.session_state.get(OWN_LESSONS, {}).get(name)
        explain(with_line(problem, own, number) if own else problem)
        show_ways(name, lesson, number, False)
        return True


def asks_head(step: Step) -> bool:
    """Return whether a step asks for a head, which is answered on the wall."""
    grid = grid_of(step.question)
    return grid is not None and grid.layout == "wall"


def arrive(name: str, number: int) -> None:
    """Store the step and its view for the link back, and write its address: the browser keeps the old one for the same page."""
    lesson = find_lesson(name)
    place = (contents.page(lesson.steps[number - 1].page).path, step_address(name, number), number)
    if st.session_state.get(PLACE) != place:
        st.session_state[PLACE] = place
        here = st.query_params.to_dict()
        st.query_params.from_dict(here if here.keys() - set(KEPT_PARAMETERS) else step_address(name, number))


def step_number(lesson: Lesson) -> int:
    """Read the number of the step from the address, counted from 1; raise LessonProblem where the lesson has no such step."""
    written = st.query_params.get(STEP, "1")
    if not (written.isdecimal() and len(written) < 4 and 1 <= int(written) <= len(lesson.steps)):
        raise LessonProblem(texts.NO_SUCH_STEP.format(count=len(lesson.steps)))
    return int(written)


def show_step(name: str, lesson: Lesson, number: int) -> bool:
    """Show a step with its question, or with what came of it. False where the page below must wait for an answer."""
    step = lesson.steps[number - 1]
    show_progress(name, lesson, number)
    st.title(escape_markdown(step.title), anchor=False)
    with st.container(key="lesson_text"):
        st.text(step.text)
    guess = st.session_state.get(GUESSES, {}).get((name, number))
    answered = step.question is None or guess is not None
    widgets = f"lesson_{sha256(name.encode()).hexdigest()[:12]}_{number}"
    if step.question and answered:
        show_verdict(step, guess, widgets)
    elif step.question:
        guess = ask_question(step, widgets)
        if is_presented() and st.button(texts.REVEAL, key="lesson_reveal"):
            guess = NO_GUESS_MADE
        if guess is not None:
            st.session_state.setdefault(GUESSES, {})[name, number] = guess
            st.rerun()
        st.caption(f":material/visibility_off: {texts.HIDDEN_UNTIL_ANSWERED}")
    if answered and step.then:
        with st.container(key="lesson_then"):
            st.text(step.then)
    if answered and number == len(lesson.steps):
        with st.container(key="lesson_recap"):
            st.markdown(f":material/check_circle: **{texts.LESSON_FINISHED}**")
            st.text(lesson.recap or "")
    show_ways(name, lesson, number, answered)
    return answered


def parts_of(lesson: Lesson) -> list[tuple[str, tuple[int, ...]]]:
    """Return the parts of a lesson as (name, step numbers): consecutive steps whose titles agree before the colon."""
    steps = groupby(enumerate(lesson.steps, 1), key=lambda pair: pair[1].title.partition(": ")[0])
    parts = [(name, tuple(pair[0] for pair in pairs)) for name, pairs in steps]
    return [(name if len(numbers) > 1 else lesson.steps[numbers[0] - 1].title, numbers) for name, numbers in parts]


def is_done(name: str, lesson: Lesson, number: int) -> bool:
    """Return whether the learner has met the condition of a step; see `Step.done`."""
    guesses, changed = st.session_state.get(GUESSES, {}), st.session_state.get(CHANGED_STEPS, ())
    step = lesson.steps[number - 1]
    if step.done == "change":
        return (name, number) in changed
    if step.question:
        return (name, number) in guesses
    return any(lesson_name == name and later > number for lesson_name, later in (*guesses, *changed))


def waits_for_change(name: str, lesson: Lesson, number: int) -> bool:
    """Return whether a step was answered and still waits for a change of its view."""
    step = lesson.steps[number - 1]
    is_answered = not step.question or (name, number) in st.session_state.get(GUESSES, {})
    return step.done == "change" and is_answered and not is_done(name, lesson, number)


def is_finished(name: str, lesson: Lesson) -> bool:
    """Return whether the learner has done every step; a last one that asks nothing is done by the one before."""
    *before, last = range(1, len(lesson.steps) + 1)
    asks = lesson.steps[-1].question is not None or lesson.steps[-1].done == "change"
    return all(is_done(name, lesson, number) for number in before) and (not asks or is_done(name, lesson, last))


def show_progress(name: str, lesson: Lesson, number: int) -> None:
    """Show which parts of the lesson are done and where the learner is; a click leads to what is not done in a part."""
    here = next(place for place, (_, numbers) in enumerate(parts_of(lesson)) if number in numbers)
    parts, targets = [], []
    for title, numbers in parts_of(lesson):
        missing = [one for one in numbers if not is_done(name, lesson, one)]
        waits = any(waits_for_change(name, lesson, one) for one in numbers)
        targets.append((missing or numbers)[0])
        state = texts.STEP_WAITS if waits else texts.STEP_TO_DO if missing else texts.STEP_DONE
        elsewhere = lesson.steps[targets[-1] - 1].page != lesson.steps[number - 1].page
        parts.append({"name": title, "done": not missing, "waits": waits, "state": state, "elsewhere": elsewhere})
    progress = texts.LESSON_PROGRESS.format(title=lesson.title, number=number, total=len(lesson.steps))
    st.caption(escape_markdown(f"{progress} · {texts.STEP_WAITS}" if parts[here]["waits"] else progress))
    show = component("step_strip", "strip", "step-strip", "strip.css", (52, 52))
    data = {"parts": parts, "here": here, "alt": progress}
    chosen = show(key="lesson_strip", data=data, on_go_change=lambda: None).go
    if isinstance(chosen, int) and 0 <= chosen < len(parts):
        page = contents.page(lesson.steps[targets[chosen] - 1].page)
        st.switch_page(page.path, query_params=step_address(name, targets[chosen]))


def hide_other_controls(page: str) -> None:
    """Hide the widgets of a page's own fields that the step does not show; controls that pages share are not even sent."""
    hide_by_key([widget_key(page, field.name) for field in page_view(page).fields.all if not is_offered(field.name)])


def teacher_notes(lesson: Lesson) -> list[tuple[str, str]]:
    """List what a lesson says to the teacher: the title of a step, or of the lesson, and its note."""
    steps = [
        (texts.NOTE_ON_STEP.format(number=number, title=step.title), step.notes) for number, step in enumerate(lesson.steps, 1)
    ]
    return [(title, note) for title, note in [(lesson.title, lesson.notes), *steps] if note]


def show_ways(name: str, lesson: Lesson, number: int, answered: bool) -> None:
    """Link to the view below, the next step, the previous one, and out of the lesson; what is to be done is filled."""
    with st.container(horizontal=True, vertical_alignment="center", key="lesson_ways"):
        waits = waits_for_change(name, lesson, number)
        if answered:
            with st.container(width="content"):
                way_down(lesson.steps[number - 1], waits)
        if number < len(lesson.steps):
            with st.container(width="content", key="lesson_next" if answered and not waits else "lesson_skip"):
                step_link(name, number + 1, texts.NEXT_STEP if answered else texts.SKIP_STEP, ":material/arrow_forward:")
        elif answered and not is_locked():
            show_ways_on(name)
        if number > 1:
            with st.container(key="lesson_previous", width="content"):
                step_link(name, number - 1, texts.PREVIOUS_STEP, ":material/arrow_back:")
        leave_link(texts.END_LESSON if number == len(lesson.steps) and answered else texts.LEAVE_LESSON)
        if not is_locked() and DRAFT in st.session_state and name in st.session_state.get(OWN_LESSONS, {}):
            st.page_link(contents.page("lesson_editor").path, label=texts.BACK_TO_WRITING, icon=":material/edit_note:")


@st.fragment
def way_down(step: Step, waits: bool) -> None:
    """Link to the view below the step; assets/shell scrolls to it: the map, or the first picture."""
    asks_map = grid_of(step.question) is not None and "changes" not in step.view
    key, look = f"lesson_below_{'map' if asks_map else 'picture'}", "primary" if waits else "secondary"
    st.button(texts.SEE_BELOW, key=key, icon=":material/arrow_downward:", type=look)


def show_ways_on(name: str) -> None:
    """Link on from the end of a lesson: to the next one that ships, and to a page for an own sentence."""
    names = names_in_order()
    if name in names[:-1]:
        following = names[names.index(name) + 1]
        label = texts.NEXT_LESSON.format(title=escape_markdown(shipped_lesson(following).title))
        with st.container(width="content", key="lesson_next"):
            step_link(following, 1, label, ":material/arrow_forward:")
    page = contents.page(contents.FORMER_HOME)
    link_to(page.path, texts.TRY_OWN_SENTENCE.format(page=page.name), ":material/search:", level_in_link())


def leave_link(label: str) -> None:
    """Link to the list of lessons, out of this one."""
    link_to(contents.page("learn").path, label, ":material/logout:", level_in_link())


def link_to(path: str, label: str, icon: str, address: dict[str, str]) -> None:
    """Link to a page. In a frame by a button: a link would leave `embed=true` behind, which no link can name."""
    if not st.context.is_embedded:
        st.page_link(path, label=label, icon=icon, query_params=address)
    elif st.button(label, icon=icon, type="tertiary"):
        st.switch_page(path, query_params=address)


def step_link(name: str, number: int, label: str, icon: str) -> None:
    """Link to a step of a lesson."""
    step = find_lesson(name).steps[number - 1]
    link_to(contents.page(step.page).path, label, icon, step_address(name, number))


def class_link(name: str, label: str) -> None:
    """Link to where a teacher opens a room for a lesson."""
    st.page_link(
        contents.page("classroom").path, label=label, icon=":material/groups:", query_params=level_in_link() | {FOR_CLASS: name}
    )
