"""The main script of every visit: it builds the navigation and runs the requested page."""

from pathlib import Path

import streamlit as st

from pages.contents import PAGES
from pages.ui.canvas.component import PATH, version, without_search
from pages.ui.canvas.question_view import show_class_results
from pages.ui.shell.address import (
    ADDED_VIEWS,
    AWAITED_CHANGE,
    CLASS_GUESSES,
    HELD,
    LEAD,
    LESSON,
    OFFERED,
    PLACE,
    ROOM,
    came_by_history,
    is_locked,
    is_presented,
    present_or_not,
    take_over,
)
from pages.ui.shell.admission import is_admitted, pause_before_run, wait_for_place
from pages.ui.shell.frame import (
    list_of_pages,
    memory_explained,
    navigation_page,
    needs_in_class,
    next_page,
    wanted_page,
    way_back,
)
from pages.ui.shell.level import (
    BASIC,
    LEVEL_CHOSEN,
    STEP_NEEDS,
    hide_parts,
    hide_widgets,
    level_in_link,
    level_switch,
    settle_level,
)
from pages.ui.shell.metrics import page_run
from pages.ui.shell.readiness import first_visit
from pages.ui.shell.session import has_lost_session, has_upload
from pages.ui.shell.start_page import NAVIGATION_SCRIPT, SIDEBAR_WIDTH
from pages.ui.shell.texts import SESSION_LOST

ASSETS = Path(__file__).parent.parent / "assets"
pause_before_run()
st.set_page_config(layout="wide", page_icon=ASSETS / "icon.svg", initial_sidebar_state=SIDEBAR_WIDTH)

targets = {page.key: navigation_page(page.key) for page in PAGES}

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
if not is_admitted():
    wait_for_place()
    st.stop()
key = next(key for key, target in targets.items() if target is chosen)
if settle_level(key, came_by_history()) == BASIC:
    st.html(ASSETS / "basic.css")
if is_presented():
    st.html(ASSETS / "present.css")
alone, level = is_locked() or is_presented(), level_in_link()
if alone:  # the start page keeps space for a list of pages
    st.html('<style>[data-testid="stAppViewContainer"] { padding-left: 0 !important; }</style>')
with st.container() if alone else st.sidebar:
    if not alone:
        st.html(list_of_pages(level))
    if PLACE in st.session_state and not {LESSON, ROOM, LEAD} & st.query_params.keys():
        path, address, label = way_back()
        st.page_link(path, label=label, icon=":material/school:", query_params=address | level)
    follow = st.components.v2.component("navigation", js=NAVIGATION_SCRIPT)
    browser = follow(
        key="navigation",
        data=without_search(
            {
                "page": chosen.url_path,
                "key": key,
                "parameters": level,
                "terms": "" if is_presented() else f"{PATH}/{version()}/terms/terms.js",
                "held": HELD in st.session_state or has_upload(),
                "level": st.session_state.get(LEVEL_CHOSEN, ""),
                "presenter": f"{PATH}/{version()}/presenter/presenter.js" if is_presented() else "",
                "views": st.session_state.get(ADDED_VIEWS, []),
            }
        ),
        on_resumed_change=lambda: None,
        on_presented_change=lambda: None,
        on_wanted_change=lambda: None,
    )
if wanted := wanted_page(browser.wanted):
    st.switch_page(targets[wanted[0]], query_params=wanted[1])
if browser.presented is not None:
    present_or_not(bool(browser.presented))
    st.rerun()
if take_over(browser.resumed, browser.resumed is not None and has_lost_session()):
    st.toast(SESSION_LOST, icon=":material/link_off:", duration="infinite")

if not alone:
    level_switch()
with first_visit, page_run(key), memory_explained():
    in_lesson = LESSON in st.query_params
    st.session_state[OFFERED] = st.session_state[CLASS_GUESSES] = None
    if in_lesson:
        # Imported here: a page without a lesson does not wait for it before its title.
        from pages.ui.panels.lesson import hide_other_controls, lesson_step

        if not lesson_step():
            st.stop()
    hide_parts(key, st.session_state[STEP_NEEDS] if in_lesson else needs_in_class(key))
    if not in_lesson:
        st.session_state[AWAITED_CHANGE] = None
        hide_widgets(key)
        show_class_results(key)
    chosen.run()
    if in_lesson:
        hide_other_controls(key)
    else:
        next_page(key)
