"""The main script of every visit: it builds the navigation and runs the requested page."""

from itertools import groupby
from pathlib import Path

import streamlit as st

from pages.contents import PAGES
from pages.ui.shell.texts import APP_NAME

ASSETS = Path(__file__).parent.parent / "assets"
SIDEBAR_WIDTH = 230  # pixels; the pictures need the rest. A string here would stand on every page.

st.set_page_config(layout="wide", page_icon=ASSETS / "icon.svg", initial_sidebar_state=SIDEBAR_WIDTH)
st.html(ASSETS / "page.css")

first, *others = PAGES
home = st.Page(first.path, title=first.name, url_path="start", default=True)
targets = {first.key: home} | {
    page.key: st.Page(page.path, title=page.name, url_path=page.address or page.key) for page in others
}

# A link by a page's key works too where its address differs; the first page is served at / only.
by_key = {
    page.key: st.Page(lambda: None, title=page.name, url_path=page.key)
    for page in PAGES
    if targets[page.key].url_path != page.key
}

# Our own links: Streamlit's list of sections is no list to a screen reader.
chosen = st.navigation([*targets.values(), *by_key.values()], position="hidden")
if moved := next((key for key, page in by_key.items() if page is chosen), None):
    st.switch_page(targets[moved], query_params={name: st.query_params.get_all(name) for name in st.query_params})
with st.sidebar:
    st.markdown(f"**{APP_NAME}**")
    for section, pages in groupby(PAGES, key=lambda page: page.section):
        st.caption(section)
        for page in pages:
            st.page_link(targets[page.key])
    follow = st.components.v2.component("navigation", js=(ASSETS / "navigation" / "navigation.js").read_text("utf-8"))
    follow(key="navigation", data=chosen.url_path)

chosen.run()
