"""How do I make a lesson of my own? Collected views with texts and questions, as a file, a link and a QR code."""

import streamlit as st

from pages.ui.shell.frame import open_page

PAGE = "lesson_editor"
open_page(PAGE)

# The title is on its way: what follows takes longer to import.
from pages.lesson_editor import texts
from pages.lesson_editor.draft import current_draft, keep_in_browser, new_draft, replace_draft, say_what_is_kept
from pages.lesson_editor.forms import ask_about, ask_steps
from pages.lesson_editor.sharing import offer_lesson, open_lessons

draft = current_draft()
say_what_is_kept()
ask_about(draft)
problems = ask_steps(draft)
if draft["steps"]:
    offer_lesson(draft, problems)
st.divider()
open_lessons()
if draft["steps"]:
    st.button(texts.START_ANEW, key="lesson_editor_new", on_click=replace_draft, args=(new_draft(),))
keep_in_browser(draft)
