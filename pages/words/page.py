"""What do these words mean? The glossary: the terms of all pages, group by group, with links to views that show them."""

import streamlit as st

from pages import contents
from pages.ui.shell import texts
from pages.ui.shell.frame import open_page
from pages.ui.shell.glossary import GROUPS
from pages.ui.shell.level import level_in_link
from pages.ui.shell.two_kinds import show_two_kinds

PAGE = "words"

open_page(PAGE)
show_two_kinds()
for group in GROUPS:
    st.subheader(group.title, anchor=False)
    st.markdown("\n".join(texts.TERM.format(name=term.name, meaning=term.meaning) for term in group.terms))
    with st.container(horizontal=True):
        for key, settings in group.views.items():
            page = contents.page(key)
            label = texts.SEE.format(question=page.question)
            st.page_link(page.path, label=label, query_params=settings | level_in_link(), icon=":material/visibility:")
st.caption(texts.NOT_AN_EXPLANATION)
