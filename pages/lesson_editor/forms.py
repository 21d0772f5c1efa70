"""The boxes in which a lesson is written; what they hold is kept in the draft, also while the reader is on another page."""

import streamlit as st

from pages import contents
from pages.lesson_editor import texts
from pages.lesson_editor.draft import Fields, boxes_of, measures_for
from pages.ui.panels.tokens import escape_markdown

LEVELS = ("beginner", "intermediate", "advanced")
MAX_SHORT, MAX_LONG = 300, 3000


def ask_about(draft: Fields) -> None:
    """Let the writer say what the lesson is."""
    name = f"lesson_editor_{draft['id']}"
    st.subheader(texts.ABOUT, anchor=False)
    title, language, level, minutes = st.columns([4, 2, 2, 2])
    with title:
        _line(draft, "title", texts.TITLE, name)
    with language:
        _line(draft, "language", texts.LANGUAGE, name, help=texts.LANGUAGE_HELP)
    with level:
        draft["level"] = st.selectbox(texts.LEVEL, LEVELS, LEVELS.index(draft["level"]), key=f"{name}_level")
    with minutes:
        draft["minutes"] = st.number_input(texts.MINUTES, 1, 600, draft["minutes"], key=f"{name}_minutes")
    _lines(draft, "about", texts.DESCRIPTION, name)
    _lines(draft, "notes", texts.NOTES, name)


def ask_steps(draft: Fields) -> None:
    """Let the writer order the steps, and write each."""
    st.subheader(texts.STEPS, anchor=False)
    steps = draft["steps"]
    if not steps:
        st.text(texts.NO_STEPS)
    st.caption(f":material/add: {texts.HOW_TO_ADD}")
    for place, step in enumerate(steps):
        with st.container(border=True):
            _heading(steps, place)
            _ask_step(step, place + 1)


def _heading(steps: list[Fields], place: int) -> None:
    number, step = place + 1, steps[place]
    with st.container(horizontal=True, vertical_alignment="center"):
        st.text(texts.STEP.format(number=number, page=contents.page(str(step["page"])).name))
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
            on_click=remove_step,
            args=(steps, step["id"]),
        )


def move_step(steps: list[Fields], step: object, place: int) -> None:
    """Move the step of this id to a place. A second click, made before the page has answered the first, changes nothing."""
    moved = [one for one in steps if one["id"] == step]
    remove_step(steps, step)
    steps[place:place] = moved


def remove_step(steps: list[Fields], step: object) -> None:
    """Remove the step of this id, if it is still there."""
    steps[:] = [one for one in steps if one["id"] != step]


def _ask_step(step: Fields, number: int) -> None:
    name = f"lesson_editor_step_{step['id']}"
    view = " · ".join(f"{key}={value}" for key, value in step["view"].items())
    st.caption(escape_markdown(texts.VIEW.format(number=number, view=view)))
    _line(step, "title", texts.STEP_TITLE.format(number=number), name)
    _lines(step, "text", texts.STEP_TEXT.format(number=number), name)
    kinds = list(texts.KINDS)
    step["kind"] = st.selectbox(
        texts.KIND.format(number=number), kinds, kinds.index(step["kind"]), format_func=texts.KINDS.get, key=f"{name}_kind"
    )
    if step["kind"] == "none":
        step["measure"] = "none"
    else:
        _ask_question(step, number, name)
    with st.expander(texts.MORE, key=f"{name}_more"):
        _lines(step, "then", texts.THEN.format(number=number), name)
        _line(step, "controls", texts.CONTROLS.format(number=number), name)
        _lines(step, "notes", texts.STEP_NOTES.format(number=number), name)


def _ask_question(step: Fields, number: int, name: str) -> None:
    _line(step, "ask", texts.ASK.format(number=number), name)
    if step["kind"] == "choice":
        _lines(step, "options", texts.OPTIONS.format(number=number), name)
    if step["kind"] == "number":
        step["tolerance"] = st.number_input(
            texts.TOLERANCE.format(number=number), 0.0, 1e6, float(step["tolerance"]), key=f"{name}_tolerance"
        )
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
    for box in boxes_of(str(step["measure"])):
        _line(step, f"of_{box}", texts.MEASURE_BOXES[box].format(number=number), name)


def _line(fields: Fields, field: str, label: str, name: str, *, help: str | None = None) -> None:
    """Draw a box of one line for a field of the draft, and keep what it holds."""
    fields[field] = st.text_input(label, fields[field], MAX_SHORT, key=f"{name}_{field}", help=help) or ""


def _lines(fields: Fields, field: str, label: str, name: str) -> None:
    """Draw a box of several lines for a field of the draft, and keep what it holds."""
    fields[field] = st.text_area(label, fields[field], height=90, max_chars=MAX_LONG, key=f"{name}_{field}") or ""
