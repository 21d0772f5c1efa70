"""The ways on from the start page."""

import streamlit as st

from pages import contents
from pages.start import texts
from pages.ui.shell.level import level_in_link


def show_doors() -> None:
    """Draw a card for each way on, and the link for teachers."""
    with st.container(horizontal=True, key="start_doors"):
        for door in texts.DOORS:
            with st.container(border=True, gap="xsmall", key=f"start_door_{door.page}"):
                settings = door.settings | level_in_link()
                st.page_link(contents.page(door.page).path, label=f"**{door.name}**", icon=door.icon, query_params=settings)
                st.markdown(door.promise)
    st.page_link(contents.page("next_word").path, label=texts.WRITES, icon=":material/edit:", query_params=level_in_link())
    st.page_link(contents.page("learn").path, label=texts.FOR_TEACHERS, icon=":material/groups:", query_params=level_in_link())
