"""The ways on from the start page."""

import streamlit as st

from pages import contents
from pages.start import texts
from pages.ui.shell.level import level_in_link


def show_doors() -> None:
    """Draw a card for each way on, and the link for teachers."""
    for column, door in zip(st.columns(len(texts.DOORS)), texts.DOORS, strict=True):
        with column.container(border=True):
            label, settings = f"**{door.name}:** {door.promise}", door.settings | level_in_link()
            st.page_link(contents.page(door.page).path, label=label, icon=door.icon, query_params=settings, width="stretch")
    st.page_link(contents.page("next_word").path, label=texts.WRITES, icon=":material/edit:", query_params=level_in_link())
    st.page_link(contents.page("learn").path, label=texts.FOR_TEACHERS, icon=":material/groups:", query_params=level_in_link())
