"""The boxes in which a lesson is written; what they hold is kept in the draft, also while the reader is on another page."""

from collections.abc import Callable
from zlib import crc32

import streamlit as st
from pydantic import ValidationError

from pages import contents
from pages.lesson_editor import texts
from pages.lesson_editor.draft import (
    Fields,
    ask_box_name,
    box_name,
    boxes_of,
    first_ask,
    is_first_ask,
    measures_for,
    question_of,
    remember_draft,
    step_box_name,
)
from pages.ui.panels.lesson_question import compute, engine_of_step, reveal
from pages.ui.panels.tokens import escape_markdown
from pages.ui.shell import cache
from tx_core.analysis.sentences import distinct_names
from tx_core.classroom.lesson_file import DIFFICULTIES, MAX_LONG, Step
from tx_core.classroom.measures import MAX_SHORT
from tx_core.classroom.questions import QUESTION_KINDS
from tx_core.errors import ExplorerError

FIRST_PAGES = ("attention", "fill_mask", "self_attention", "masks")
"""Pages on which a lesson may begin."""


def ask_about(draft: Fields) -> None:
    """Draw the boxes of the lesson itself: title, language, difficulty, minutes, description and notes."""
    name = box_name(str(draft["id"]))
    st.subheader(texts.ABOUT, anchor=False)
    title, language, difficulty, minutes = st.columns([4, 2, 2, 2])
    with title:
        _line(draft, "title", texts.TITLE, name)
    with language:
        _line(draft, "language", texts.LANGUAGE, name, help=texts.LANGUAGE_HELP)
    with difficulty:
        draft["level"] = st.selectbox(texts.DIFFICULTY, DIFFICULTIES, DIFFICULTIES.index(draft["level"]), key=f"{name}_level")
    with minutes:
        draft["minutes"] = st.number_input(texts.MINUTES, 1, 600, draft["minutes"], key=f"{name}_minutes")
    _lines(draft, "about", texts.DESCRIPTION, name)
    _lines(draft, "notes", texts.NOTES, name)


def ask_steps(draft: Fields) -> dict[int, ExplorerError]:
    """Draw the steps to be ordered and written; return the errors of questions that the model cannot answer, by step number."""
    st.subheader(texts.STEPS, anchor=False)
    steps = draft["steps"]
    if not steps:
        st.text(texts.NO_STEPS)
    st.caption(f":material/add: {texts.HOW_TO_ADD}")
    if not steps:
        with st.container(horizontal=True, vertical_alignment="center"):
            st.text(texts.BEGIN_ON)
            for page in map(contents.page, FIRST_PAGES):
                st.page_link(page.path, label=page.name)
    problems = {}
    for place, step in enumerate(steps):
        with st.container(border=True):
            _heading(steps, place)
            problems[place + 1] = _ask_step(step, place + 1)
    return {number: problem for number, problem in problems.items() if problem}


def _heading(steps: list[Fields], place: int) -> None:
    number, step = place + 1, steps[place]
    page = contents.page(str(step["page"]))
    st.markdown(f"**{texts.STEP.format(number=number, page=page.name)}**")
    with st.container(horizontal=True, vertical_alignment="center"):
        for label, icon, other in ((texts.UP, "arrow_upward", place - 1), (texts.DOWN, "arrow_downward", place + 1)):
            st.button(
                label.format(number=number),
                key=f"lesson_editor_{icon}_{step['id']}",
                icon=f":material/{icon}:",
                disabled=not 0 <= other < len(steps),
                on_click=move_step,
                args=(steps, step["id"], other),
            )
        st.button(
            texts.REMOVE.format(number=number),
            key=f"lesson_editor_remove_{step['id']}",
            icon=":material/delete:",
            on_click=remove_for_good,
            args=(steps, step["id"]),
        )
        st.page_link(page.path, label=texts.OPEN_VIEW, icon=":material/open_in_new:", query_params=step["view"])


def move_step(steps: list[Fields], step: object, place: int) -> None:
    """Move the step of this id to a place. A second click, made before the page has answered the first, changes nothing."""
    moved = [one for one in steps if one["id"] == step]
    remove_step(steps, step)
    steps[place:place] = moved


def remove_step(steps: list[Fields], step: object) -> None:
    """Remove the step of this id, if it is still there."""
    steps[:] = [one for one in steps if one["id"] != step]


def remove_for_good(steps: list[Fields], step: object) -> None:
    """Remove a step after storing the draft for undo."""
    remember_draft()
    remove_step(steps, step)


def _ask_step(step: Fields, number: int) -> ExplorerError | None:
    name = step_box_name(str(step["id"]))
    _line(step, "title", texts.STEP_TITLE.format(number=number), name)
    _lines(step, "text", texts.STEP_TEXT.format(number=number), name)
    kinds = list(texts.KINDS)
    step["kind"] = st.selectbox(
        texts.KIND.format(number=number), kinds, kinds.index(step["kind"]), format_func=texts.KINDS.get, key=f"{name}_kind"
    )
    problem = None
    if step["kind"] == "none":
        step["measure"] = "none"
    else:
        problem = _ask_question(step, number, name)
    with st.expander(texts.MORE, key=f"{name}_more"):
        _lines(step, "then", texts.THEN.format(number=number), name)
        ways = [way for way in texts.DONE if way != "answer" or step["kind"] != "none"]
        step["done"] = st.selectbox(
            texts.DONE_WHEN.format(number=number),
            ways,
            ways.index(step["done"]) if step["done"] in ways else 0,
            format_func=texts.DONE.get,
            key=f"{name}_done_{step['kind'] != 'none'}",
        )
        _line(step, "controls", texts.CONTROLS.format(number=number), name)
        _lines(step, "notes", texts.STEP_NOTES.format(number=number), name)
        if step["measure"] != "none":
            _line(step, "of_changes", texts.MEASURE_BOXES["changes"].format(number=number), name)
        view = " · ".join(f"{key}={value}" for key, value in step["view"].items())
        st.caption(escape_markdown(texts.VIEW.format(view=view)))
    return problem


def _ask_question(step: Fields, number: int, name: str) -> ExplorerError | None:
    asked = st.container()  # filled last: the question names what is chosen below it
    for field in QUESTION_KINDS[str(step["kind"])].fields:
        FIELD_BOXES[field](step, number, name)
    fitting = measures_for(str(step["kind"]))
    if step["measure"] not in fitting:
        step["measure"] = fitting[0] if fitting else "none"
    if len(fitting) > 1:
        step["measure"] = st.selectbox(
            texts.MEASURE.format(number=number),
            fitting,
            fitting.index(step["measure"]),
            format_func=texts.MEASURES.get,
            key=f"{name}_measure_{step['kind']}",
        )
    _ask_measured(step, number, name)
    with asked:
        _ask(step, number)
    return _show_answer(step, number)


def _ask_options(step: Fields, number: int, name: str) -> None:
    _lines(step, "options", texts.OPTIONS.format(number=number), name)


def _ask_tolerance(step: Fields, number: int, name: str) -> None:
    label = texts.TOLERANCE.format(number=number)
    step["tolerance"] = st.number_input(label, 0.0, 1e6, float(step["tolerance"]), key=f"{name}_tolerance")


FIELD_BOXES: dict[str, Callable[[Fields, int, str], None]] = {"options": _ask_options, "tolerance": _ask_tolerance}
"""The box of each field that is for some kinds of question."""


def _ask(step: Fields, number: int) -> None:
    """Draw the box of the question's text; a suggested one follows what is chosen."""
    key = f"{ask_box_name(step)}_ask"
    written = st.session_state.get(key, step["ask"] or first_ask(step))  # a box that the writer has emptied stays empty
    st.session_state[key] = first_ask(step) if written and is_first_ask(str(written)) else written
    step["ask"] = st.text_input(texts.ASK.format(number=number), max_chars=MAX_SHORT, key=key) or ""


def _ask_measured(step: Fields, number: int, name: str) -> None:
    """Ask what the model's answer is measured on; tokens are chosen among those of the text."""
    for box in boxes_of(str(step["measure"])):
        label = texts.MEASURE_BOXES[box].format(number=number)
        if box == "changes":  # for those who know how an address writes them, see below
            continue
        tokens = _tokens(step) if box in ("query", "key") else []
        if not tokens:
            _line(step, f"of_{box}", label, name)
            continue
        place = tokens.index(step[f"of_{box}"]) if step[f"of_{box}"] in tokens else None
        key = f"{name}_of_{box}_{crc32(str(step['of_text']).encode())}"  # another text has other tokens
        step[f"of_{box}"] = st.selectbox(label, tokens, place, key=key, placeholder=texts.CHOOSE_TOKEN) or ""


def _tokens(step: Fields) -> list[str]:
    """Return token labels of the text that a question is about; empty where the model cannot read it."""
    try:
        shown = Step.model_validate({"title": "-", "text": "-", "page": step["page"], "view": step["view"]})
        trace = cache.trace_with(engine_of_step(shown), str(step["of_text"]))
    except (ExplorerError, ValidationError):
        return []
    return distinct_names(trace.attention.key_tokens.tokens)


def _show_answer(step: Fields, number: int) -> ExplorerError | None:
    """Show the model's answer to the question, or show and return the error; nothing while it is incomplete."""
    try:
        view = {name: step[name] for name in ("page", "view")}
        written = Step.model_validate({"title": "-", "text": "-", "question": question_of(step)} | view)
    except ValidationError:
        return None  # the line of the file is said below
    try:
        answer = compute(written)
    except ExplorerError as problem:
        st.markdown(f":orange[:material/info:] **{texts.NO_ANSWER.format(number=number)}**")
        st.text(str(problem))
        return problem
    if answer is None:
        return None
    said = texts.ANSWER.format(answer=reveal(written.question, answer))
    options = [option.casefold() for option in written.question.options]
    if options and answer.right.casefold() not in options:
        said = f"{said} {texts.NOT_AN_OPTION.format(answer=answer.right)}"
    st.text(said)
    return None


def _line(fields: Fields, field: str, label: str, name: str, *, help: str | None = None) -> None:
    """Draw a box of one line for a field of the draft, and keep what it holds."""
    fields[field] = st.text_input(label, fields[field], MAX_SHORT, key=f"{name}_{field}", help=help) or ""


def _lines(fields: Fields, field: str, label: str, name: str) -> None:
    """Draw a box of several lines for a field of the draft, and keep what it holds."""
    fields[field] = st.text_area(label, fields[field], height=90, max_chars=MAX_LONG, key=f"{name}_{field}") or ""
