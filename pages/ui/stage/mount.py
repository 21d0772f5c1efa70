"""Mount a stage on its page, and take in what it reports: changes to compute, a view for a lesson, the first change of a step."""

from collections.abc import Callable, Mapping

import streamlit as st

from pages import contents
from pages.ui.shell import controls
from pages.ui.shell import texts as shell_texts
from pages.ui.shell.address import (
    ADDED_VIEWS,
    CHANGED_STEPS,
    DRAFT,
    MAX_ADDED_VIEWS,
    hand_over,
    is_locked,
    is_offered,
    pinned_view,
    remember_looks,
    shows_stage_alone,
    shows_step,
    widget_key,
)
from pages.ui.shell.fields import StageFields
from pages.ui.shell.frame import StageShown, new_id, open_address
from pages.ui.shell.level import ADVANCED, LEVEL_NOW, is_hidden
from pages.ui.shell.step import step_of_run
from pages.ui.stage import texts
from pages.ui.stage.charts import PAPER
from pages.ui.stage.scripts import STAGE_FILES, component
from tx_core.engine import catalogue
from tx_core.settings import app_version

Reported = Mapping[str, object]
CONTROLS = ("heads", "shows", "words", "hide", "show", "lines", "scale", "changes", "numbers", "dimensions", "export", "share")
HIDDEN_PARTS = ("wall", "details", "forms", "change_panel")
"""What a stage leaves out where a lesson's step or the level does not show it: by `is_offered`, and by `is_hidden`."""
BOXES_THAT_FOLLOW = ("table", "export_table", "scan_table", "similarity_table", "export")
"""What the reader may open below a stage and then shows numbers of the view: while it is open, the stage tells of every look."""

HEIGHTS = (560, 640)
"""Pixels kept for a stage, on a wide and on a narrow screen, so that what is below stays put."""


def mount(
    page: str,
    fields: StageFields,
    pack: Callable[[Mapping[str, object]], bytes],
    on_change: Callable[[Reported], None],
    *,
    script: str = "",
    is_empty: bool = False,
) -> None:
    """Draw a stage. pack: makes the message of the header that every stage has; on_change: takes in changes to compute.

    script: where it is not the one that the page begins with. is_empty: nothing could be computed for it, so that a class is not
    shown it.

    Raises StageShown where nothing else of the page is shown.
    """
    key, script = widget_key(page, "stage"), script or contents.page(page).script

    def reported(name: str) -> Reported:
        state = st.session_state.get(key)
        value = state.get(name) if isinstance(state, Mapping) else None
        return value if isinstance(value, Mapping) else {}

    def take(name: str, act: Callable[[Reported], None] = on_change) -> None:
        remember_looks(page, fields.looks, reported(name).get("view"))
        act(reported(name))

    def touched() -> None:
        if step and step.awaits:
            st.session_state.setdefault(CHANGED_STEPS, set()).add(step.awaits)

    step = step_of_run()
    header = common_header(page, fields)
    data = pack(header)
    if step and step.share and not is_empty:
        step.share(script, data)
    component(f"stage_{script}", script, "stage-box", heights=HEIGHTS)(
        key=key,
        data=data,
        on_interventions_change=lambda: take("interventions"),
        on_settings_change=lambda: take("settings"),
        on_added_change=lambda: take("added", lambda _: _add_view(page)),
        on_touched_change=touched,
        on_opened_change=lambda: open_address(reported("opened").get("address")),
        on_view_change=lambda: remember_looks(page, fields.looks, reported("view")),
    )
    if shows_stage_alone():
        raise StageShown
    begun = st.session_state.get(ADDED_VIEWS) or st.session_state.get(DRAFT, {}).get("steps")
    if begun and is_offered("share"):
        editor, added = contents.page("lesson_editor").path, len(st.session_state.get(ADDED_VIEWS, ()))
        with st.container(horizontal=True):
            if st.button(shell_texts.ADD_AND_WRITE, icon=":material/add:", key=widget_key(page, "add_to_lesson")):
                _add_view(page)  # its looks stand in the address, which this run has read
                st.switch_page(editor)
            if added:
                st.page_link(editor, label=shell_texts.WRITE_LESSON.format(count=added), icon=":material/edit_note:")
    if header["linkProblem"]:
        st.caption(f":material/link_off: {shell_texts.LINK_TOO_LONG_FOR_ADDRESS}")


def common_header(page: str, fields: StageFields) -> dict[str, object]:
    """Return what every stage is told: the address, the view on arrival, what is hidden, and how a file of it is coloured."""
    step = step_of_run()
    return {
        "page": page,
        "home": STAGE_FILES.address(),
        **hand_over(page, fields),
        "hidden": [*(name for name in CONTROLS if not is_offered(name)), *(name for name in HIDDEN_PARTS if is_hidden(name))],
        "level": st.session_state.get(LEVEL_NOW, ADVANCED),
        "alone": is_locked() or shows_step(),
        "awaited": bool(step and step.awaits),
        "follows": bool(step and step.follows) or any(st.session_state.get(widget_key(page, name)) for name in BOXES_THAT_FOLLOW),
        "paper": PAPER,
        "notices": [],
    }


def origin(model: str, revision: str = "") -> str:
    """Return for a caption which model, "" for none, and which version of the app drew it. revision: if not of this server."""
    app = f"{texts.APP} {app_version()};"
    if not model:
        return app
    title, revision = controls.model_title(model), revision or catalogue.revision(model)
    return f"{texts.MODEL_REVISION.format(model=title, revision=revision)}; {app}"


def _add_view(page: str) -> None:
    """Add the view to the lesson that the visitor writes."""
    added = [*st.session_state.get(ADDED_VIEWS, ()), {"id": new_id(), "page": page, "view": pinned_view(page)}]
    st.session_state[ADDED_VIEWS] = added[-MAX_ADDED_VIEWS:]
