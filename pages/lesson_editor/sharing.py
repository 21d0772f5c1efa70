"""What becomes of a written lesson: played, saved as a file, shared as a link and as a QR code; and opened again."""

import re
from collections.abc import Mapping
from functools import partial
from html import escape

import streamlit as st

from pages import contents
from pages.lesson_editor import texts
from pages.lesson_editor.draft import Fields, boxes_of, draft_of, file_of, replace_draft
from pages.ui.panels.lesson import class_link, find_lesson, keep_own_lesson, names_in_order, shipped_lesson, step_link
from pages.ui.shell.address import HELD, LESSON, LOCK, PRESENT, STEP, link_with
from pages.ui.shell.controls import download_button, qr_code
from pages.ui.shell.frame import explain
from pages.ui.stage.browser_texts import EXPORT
from tx_core.classroom.lesson_file import Lesson, pack_lesson, with_line
from tx_core.errors import ExplorerError, LessonProblem
from tx_core.settings import host_settings

MAX_QR_CHARACTERS = 1200
"""Of a link whose code a camera still reads from a projector: 121 × 121 squares at most."""
FILE_TYPES = ["yaml", "yml"]
MAX_FILE_NAME = 60
OPENED = "lesson_editor_opened"
"""Session entry: the lesson's file that was opened last, which the box for files forgets on another page."""


def offer_lesson(draft: Fields, problems: Mapping[int, ExplorerError]) -> None:
    """Offer the lesson in every form, or say in which line of its file what is wrong.

    problems: why the model cannot answer the questions of some steps, by number.
    """
    st.subheader(texts.RESULT, anchor=False)
    written = file_of(draft)
    try:
        name = keep_own_lesson(written.encode())
    except LessonProblem as problem:
        st.markdown(f":orange[:material/info:] **{texts.PROBLEM}**")
        st.text(name_empty_boxes(draft) or str(problem))
    else:
        lesson = find_lesson(name)
        if problems:
            st.markdown(f":orange[:material/info:] **{texts.MODEL_PROBLEM}**")
            st.text("\n".join(str(with_line(problem, written, number)) for number, problem in problems.items()))
        with st.container(horizontal=True, vertical_alignment="center"):
            step_link(name, 1, texts.PREVIEW, ":material/play_arrow:")
            class_link(name, texts.USE_IN_CLASS)
            download_button(texts.SAVE, written, file_name(lesson.title))
        _offer_link(lesson)
    with st.expander(texts.FILE, key="lesson_editor_written"):
        st.code(written, language=None, line_numbers=True, wrap_lines=True)


def file_name(title: str) -> str:
    """Return the name of a lesson's file: its title, without what a file system may refuse."""
    named = re.sub(r"[^\w-]+", "-", title).strip("-")[:MAX_FILE_NAME]
    return f"{named or 'lesson'}.yaml"


def name_empty_boxes(draft: Fields) -> str:
    """Name the boxes that must be filled and are empty, as they are labelled; "" where there are none."""
    wanted = [(texts.TITLE, draft["title"]), (texts.DESCRIPTION, draft["about"])]
    for number, step in enumerate(draft["steps"], 1):
        labels = {"title": texts.STEP_TITLE, "text": texts.STEP_TEXT}
        if step["kind"] != "none":
            labels["ask"] = texts.ASK
            labels |= {f"of_{box}": texts.MEASURE_BOXES[box] for box in boxes_of(str(step["measure"])) if box != "changes"}
        wanted += [(label.format(number=number), step[field]) for field, label in labels.items()]
    empty = [label for label, written in wanted if not str(written).strip()]
    template = texts.EMPTY_BOX if len(empty) == 1 else texts.EMPTY_BOXES
    return template.format(box="; ".join(empty)) if empty else ""


def _offer_link(lesson: Lesson) -> None:
    """Offer a link that holds the lesson, and its QR code."""
    try:
        packed = pack_lesson(lesson)
    except LessonProblem as problem:
        st.text(str(problem))
        return
    locked = st.checkbox(texts.LOCKED, key="lesson_editor_locked")
    present = st.checkbox(texts.PRESENT, key="lesson_editor_present")
    more = {LOCK: "1"} if locked else {}
    more |= {PRESENT: "1"} if present else {}
    link = link_with({LESSON: packed, STEP: "1"} | more, contents.page(lesson.steps[0].page))
    st.text(texts.LINK)
    st.code(link, language=None, wrap_lines=True)
    st.text(texts.FRAME)
    frame = EXPORT["frame"].format(link=escape(f"{link}&embed=true"), title=escape(lesson.title))
    st.code(frame, language=None, wrap_lines=True)
    if host_settings().frame_ancestors == "'self'":
        st.caption(EXPORT["noFrames"])
    if len(link) <= MAX_QR_CHARACTERS:
        st.image(qr_code(link), alt=texts.QR_ALT, caption=texts.QR_ALT, width=320)
    else:
        st.caption(texts.TOO_LONG_FOR_QR.format(length=len(link), limit=MAX_QR_CHARACTERS))
    st.caption(texts.LINK_LIMIT)


def open_lessons() -> None:
    """Offer to begin with a lesson that ships or to open one from a file."""
    names = names_in_order()
    with st.container(horizontal=True, vertical_alignment="bottom"):
        name = st.selectbox(
            texts.SHIPPED, names, index=None, format_func=lambda one: shipped_lesson(one).title, key="lesson_editor_shipped"
        )
        if name:
            st.button(texts.COPY, key="lesson_editor_copy", on_click=replace_draft, args=(draft_of(shipped_lesson(name)),))
    # Last: its box grows when its script has come.
    forget = partial(st.session_state.pop, OPENED, None)
    if file := st.file_uploader(texts.LOAD, FILE_TYPES, key="lesson_editor_file", on_change=forget):
        st.session_state[OPENED] = file.getvalue()
    if OPENED in st.session_state:
        _offer_file(st.session_state[OPENED])


def _offer_file(written: bytes) -> None:
    try:
        name = keep_own_lesson(written)
        st.session_state[HELD] = True
    except LessonProblem as problem:
        explain(problem)
        return
    lesson = find_lesson(name)
    st.text(texts.LOADED.format(title=lesson.title, steps=len(lesson.steps), minutes=lesson.minutes))
    with st.container(horizontal=True, vertical_alignment="center"):
        step_link(name, 1, texts.PLAY_FILE, ":material/play_arrow:")
        class_link(name, texts.USE_IN_CLASS)
        st.button(texts.EDIT_FILE, key="lesson_editor_edit", on_click=replace_draft, args=(draft_of(lesson),))
