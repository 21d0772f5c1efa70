"""What do these words mean? The words that all pages use, group by group, and the ways to views that show them."""

import streamlit as st

from pages import contents
from pages.ui.shell.frame import open_page
from pages.words.glossary import GROUPS

PAGE = "words"
NOT_AN_EXPLANATION = (
    "A warning that goes with all of them: a weight says what was mixed, not what decided. Attention is not an explanation."
)

open_page(PAGE)
for group in GROUPS:
    st.subheader(group.title, anchor=False)
    st.markdown("\n".join(f"- **{word.name}**: {word.meaning}" for word in group.words))
    with st.container(horizontal=True):
        for view in group.views:
            shown = contents.page(view.page)
            st.page_link(shown.path, label=f"See it: {shown.question}", query_params=view.settings, icon=":material/visibility:")
st.caption(f":material/info: {NOT_AN_EXPLANATION}")
