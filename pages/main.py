"""The main script of every visit: it builds the navigation and runs the requested page."""

import math
import time
from contextlib import suppress
from pathlib import Path

import streamlit as st

from pages.ui.shell.address import (
    ADDED_VIEWS,
    FOR_CLASS,
    HELD,
    LEAD,
    LESSON,
    LOST_AT,
    PLACE,
    ROOM,
    STEP,
    is_locked,
    is_presented,
    present_or_not,
)
from pages.ui.shell.admission import explain_waiting, is_admitted, pause_before_run
from pages.ui.shell.frame import StageShown, memory_explained, navigation, next_page, way_back
from pages.ui.shell.level import LEVEL_CHOSEN, hide_parts, hide_widgets, level_in_link, level_switch, settle_level
from pages.ui.shell.metrics import page_run
from pages.ui.shell.readiness import default_engine
from pages.ui.shell.session import came_by_history
from pages.ui.shell.start_page import NAVIGATION_SCRIPT, NOT_DRAWN, SIDEBAR_WIDTH, without_search
from pages.ui.shell.step import SHOWN
from pages.ui.shell.texts import LEAVE, SESSION_LOST
from pages.ui.stage.background_runs import keep_runs
from pages.ui.stage.scripts import STAGE_FILES

LOSS_SECONDS = 20.0
"""How long each run says that a server was lost."""
ASSETS = Path(__file__).parent.parent / "assets"
pause_before_run()
# Both are named before the navigation, which would otherwise have the browser fetch the page's icon from another origin.
st.set_page_config(layout="wide", page_icon=ASSETS / "icon.svg", initial_sidebar_state=SIDEBAR_WIDTH)
st.logo(ASSETS / "logo.svg", size="medium")
alone = is_locked() or st.context.is_embedded
page, chosen = navigation(listed=not alone)
if page.key == "classroom" and LESSON in st.query_params:  # this page shows no step: a room is to be opened
    st.query_params[FOR_CLASS] = st.query_params.pop(LESSON)
admitted = is_admitted()
waits = "" if admitted else "place"
if page.computes and default_engine.status.state == "warming up":
    waits = "model"
settle_level(page.key, came_by_history())
if alone:  # the start page keeps space for a list of pages
    st.html("<style>div:has(> div > main) { padding-left: 0 !important; }</style>")
elif PLACE in st.session_state and not {LESSON, ROOM, LEAD} & st.query_params.keys():
    path, address, label = way_back()
    st.sidebar.page_link(path, label=label, icon=":material/school:", query_params=address | level_in_link())

with st.container(key="level"):  # assets/page.css gives it no space
    if not alone and admitted:
        level_switch()
    browser = st.components.v2.component("navigation", js=NAVIGATION_SCRIPT)(
        key="navigation",
        data=without_search(
            {
                "page": page.key,
                "terms": STAGE_FILES.address("start-terms.js"),
                "held": HELD in st.session_state,
                "level": st.session_state.get(LEVEL_CHOSEN, ""),
                "notDrawn": NOT_DRAWN,
                "waits": waits,
                "leave": LEAVE,
                "words": LESSON in st.query_params or page.key == "classroom",
                # The browser runs the script where something is new.
                "shown": [is_presented(), st.query_params.get(STEP) if LESSON in st.query_params else None],
                "views": st.session_state.get(ADDED_VIEWS, []),
            }
        ),
        on_lost_change=lambda: None,
        on_again_change=lambda: None,
        on_presented_change=lambda: present_or_not(bool(st.session_state["navigation"].presented)),
    )
if browser.lost and HELD not in st.session_state:
    st.session_state[LOST_AT] = time.monotonic()
# A drawing that asked the lost server something asks again at once, and a run that does not say it takes the toast away.
if time.monotonic() - st.session_state.get(LOST_AT, -math.inf) < LOSS_SECONDS:
    st.toast(SESSION_LOST, icon=":material/link_off:", duration="infinite")

keep_runs()
if not admitted:
    explain_waiting()
    st.stop()
with page_run(page.key), memory_explained():
    in_lesson = LESSON in st.query_params
    if in_lesson:
        # Imported here: a page without a lesson does not wait for it before its title.
        from pages.ui.panels.lesson import hide_other_controls, lesson_step

        if not lesson_step():
            st.stop()
    else:
        st.session_state[SHOWN] = None
    hide_parts(page.key)
    if not in_lesson:
        hide_widgets(page.key)
    with st.container(key="page", gap="xsmall" if page.computes else "small"), suppress(StageShown):
        chosen.run()
    if in_lesson:
        hide_other_controls(page.key)
    elif not alone:
        next_page(page.key)
