"""Nothing that was written or opened is lost without a word: the browser keeps a copy, and what was replaced comes back."""

import json
from collections.abc import Mapping
from copy import deepcopy

import streamlit as st

from pages.lesson_editor import texts
from pages.lesson_editor.draft import Fields, new_draft, new_step, restored_draft, restored_step
from pages.ui.canvas.component import component
from pages.ui.shell.address import ADDED_VIEWS, DRAFT
from pages.ui.shell.uploads import uploaded_file
from tx_core.classroom.lesson_file import MAX_STEPS, read_lesson, write_lesson
from tx_core.errors import LessonProblem

KEEPER = "lesson_editor_keeper"
SEEN, MAX_SEEN = "lesson_editor_seen", 500
"""Session entry of the ids of views that became steps: one that the writer removed does not come back."""
KNOWN_DRAFT, RESTORED, REPLACED = "lesson_editor_known", "lesson_editor_restored", "lesson_editor_replaced"
"""Session entries: the browser has been asked what it keeps; its draft was taken; the draft before the last large change."""
FILE_BOX, OPENED = "lesson_editor_file", "lesson_editor_opened"
"""The widget and the session entry of the lesson that was opened from a file and is not edited: its file, "" for none."""


def current_draft() -> Fields:
    """Return the lesson that this visitor writes, with the views that were added to it on other pages."""
    draft = st.session_state.setdefault(DRAFT, new_draft())
    add_steps(draft, [new_step(one["page"], one["view"], one["id"]) for one in st.session_state.pop(ADDED_VIEWS, ())])
    return draft


def add_steps(draft: Fields, steps: list[Fields]) -> None:
    """Add steps at the end of a draft, each view once."""
    seen = st.session_state.get(SEEN, [])
    new = [step for step in steps if step["id"] not in {*seen, *(one["id"] for one in draft["steps"])}]
    draft["steps"][:] = [*draft["steps"], *new][:MAX_STEPS]
    st.session_state[SEEN] = [*seen, *(step["id"] for step in new)][-MAX_SEEN:]


def keep_in_browser(draft: Fields) -> None:
    """Let the browser keep the draft until its tab is closed; in a new session, take over what it kept."""
    seen = [*st.session_state.get(SEEN, []), *(step["id"] for step in draft["steps"])]
    known = {"fresh": not st.session_state.get(KNOWN_DRAFT), "seen": seen, "opened": st.session_state.get(OPENED, "")}
    data = {"draft": draft, "refused": texts.NOT_KEPT} | known
    keeper = component("lesson_keeper", "lesson-keeper", "draft/keeper.js")
    keeper(key=KEEPER, data=json.loads(json.dumps(data)), on_found_change=take_found)


def take_found() -> None:
    """Take over what the browser kept of an earlier session: the draft, and views that were not yet steps of it."""
    reported = st.session_state.get(KEEPER)
    found = reported.get("found") if isinstance(reported, Mapping) else None
    found = found if isinstance(found, Mapping) else {}
    if not st.session_state.get(KNOWN_DRAFT):
        st.session_state[KNOWN_DRAFT] = True
        if restored := restored_draft(found.get("draft"), found.get("typed")):
            merge_draft(restored)
        if OPENED not in st.session_state and isinstance(opened := found.get("opened"), str):
            keep_opened(opened.encode(errors="replace"))
    views = found.get("views")
    steps = [restored_step(one) for one in (views if isinstance(views, list) else [])[:MAX_STEPS]]
    add_steps(st.session_state.setdefault(DRAFT, new_draft()), [step for step in steps if step])


def merge_draft(restored: Fields) -> None:
    """Edit the draft that came back, with the steps that this session has begun meanwhile."""
    kept = {step["id"] for step in restored["steps"]}
    begun = [step for step in st.session_state.get(DRAFT, {}).get("steps", []) if step["id"] not in kept]
    st.session_state[RESTORED] = restored != new_draft() | {"id": restored["id"]}
    restored["steps"] = [*restored["steps"], *begun][:MAX_STEPS]
    st.session_state[DRAFT] = restored


def keep_opened(written: bytes) -> None:
    """Keep a lesson from a file as long as the draft, until it is edited or another one is opened; none that cannot be read."""
    try:
        st.session_state[OPENED] = write_lesson(read_lesson(written))
    except LessonProblem:
        st.session_state[OPENED] = ""


def take_file() -> None:
    """Keep the lesson that stands in the box for files; an empty box keeps none."""
    file = uploaded_file(FILE_BOX)
    keep_opened(file.getvalue() if file else b"")


def replace_draft(draft: Fields) -> None:
    """Begin to edit another draft; the one before can be brought back."""
    remember_draft()
    st.session_state[DRAFT] = draft


def remember_draft() -> None:
    """Remember the draft as it is, before something large is taken out of it."""
    st.session_state[REPLACED] = deepcopy(st.session_state[DRAFT])
    st.session_state.pop(RESTORED, None)


def bring_back() -> None:
    """Edit the draft again that was replaced last; the present one can be brought back in its turn."""
    before = st.session_state.pop(REPLACED)
    remember_draft()
    st.session_state[DRAFT] = before


def say_what_is_kept() -> None:
    """Say that a draft came back from the browser, and offer to undo the last large change."""
    if st.session_state.get(RESTORED):
        st.caption(f":material/restore: {texts.RESTORED}")
    if REPLACED in st.session_state:
        st.button(texts.BRING_BACK, key="lesson_editor_bring_back", icon=":material/undo:", on_click=bring_back)
