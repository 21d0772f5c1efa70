"""The main script that every visit runs: it builds the navigation and hands over to the page asked for."""

from itertools import groupby
from pathlib import Path

import streamlit as st

from pages.ui.contents import PAGES

ASSETS = Path(__file__).parent.parent / "assets"
SIDEBAR_WIDTH = 230  # pixels; the pictures need the rest

st.set_page_config(layout="wide", page_icon=ASSETS / "icon.svg", initial_sidebar_state=SIDEBAR_WIDTH)
st.html(ASSETS / "page.css")

first, *others = PAGES
home = st.Page(first.path, title=first.name, url_path="start", default=True)
targets = {first.key: home} | {page.key: st.Page(page.path, title=page.name, url_path=page.key) for page in others}

# Streamlit serves the default page at / only; its own name in a link should lead there, too.
home_by_name = st.Page(lambda: None, title=first.name, url_path=first.key)

# Our own links instead of Streamlit's: its list of sections is not a list to a screen reader.
chosen = st.navigation([*targets.values(), home_by_name], position="hidden")
if chosen is home_by_name:
    st.switch_page(home, query_params={name: st.query_params.get_all(name) for name in st.query_params})
with st.sidebar:
    st.markdown("**Attention explorer**")
    for section, pages in groupby(PAGES, key=lambda page: page.section):
        st.caption(section)
        for page in pages:
            st.page_link(targets[page.key])
    close_on_phones = st.components.v2.component("navigation", js=(ASSETS / "navigation" / "close.js").read_text("utf-8"))
    close_on_phones(key="navigation", data=chosen.url_path)

chosen.run()
