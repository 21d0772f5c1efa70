"""Where do I begin? The lessons: each leads through views of the other pages, and asks before it shows."""

import streamlit as st

from pages.ui.shell.frame import open_page

PAGE = "learn"
open_page(PAGE)

# The title is on its way: what follows takes longer to import.
from pages.ui.panels import texts
from pages.ui.panels.lesson import class_link, is_finished, names_in_order, shipped_lesson, step_link, teacher_notes
from pages.ui.stage.tokens import escape_markdown

for name in names_in_order():
    lesson = shipped_lesson(name)
    with st.container(border=True):
        st.subheader(lesson.title, anchor=False)
        st.caption(texts.LESSON_DETAILS.format(minutes=lesson.minutes, steps=len(lesson.steps), level=lesson.level))
        if is_finished(name, lesson):
            st.markdown(f":material/check_circle: {texts.LESSON_FINISHED}")
        st.text(lesson.about)
        with st.container(horizontal=True, vertical_alignment="center"):
            with st.container(key=f"learn_lesson_next_{name}", width="content"):  # a button, as assets/page.css draws it
                step_link(name, 1, texts.BEGIN, ":material/school:")
            class_link(name, texts.USE_IN_CLASS)
        notes = teacher_notes(lesson)
        if notes:
            folded = st.expander(texts.TEACHER_NOTES, key=f"learn_notes_{name}", on_change="rerun")
            for title, note in notes if folded.open else ():  # they tell answers: not even sent before somebody asks
                folded.text(title)
                folded.caption(escape_markdown(note))
st.caption(texts.HOW_LESSONS_WORK)
st.caption(texts.FOR_TEACHERS)
