"""The export menu of a page: its views as a figure, data, a web page, or code."""

from dataclasses import replace

import streamlit as st

from pages.ui.export import texts
from pages.ui.export.data import show_data
from pages.ui.export.figure import show_figure
from pages.ui.export.records import Export, Exports, one_line
from pages.ui.export.web_page import show_web_page
from pages.ui.shell.address import is_offered, view_link, widget_binding, widget_key
from pages.ui.shell.frame import explain
from pages.ui.shell.level import is_hidden
from tx_core.errors import ExplorerError

COLLECTOR = "export_collector"
"""Session entry of a visit without a browser: a function that takes what a menu would offer, instead of drawing it."""
CODE_KINDS = {"project": texts.PROJECT_CODE, "transformers": texts.TRANSFORMERS_CODE}


def export_menu(page: str, exports: Exports, title: str = texts.TITLE, *, place: str = "") -> None:
    """Offer the views of a page in every form; nothing is made before the menu is opened.

    Call it where the views were drawn, so that it follows every click. place: tells several menus of a page apart.
    """
    if collect := st.session_state.get(COLLECTOR):
        collect(exports)
        return
    if not is_offered("export"):
        return
    name = f"{page}_{place}" if place else page
    title = texts.PICTURE_TITLE if is_hidden("forms") else title
    menu = st.expander(title, key=widget_key(name, "export"), on_change="rerun")
    if menu.open:
        with menu:
            try:
                _show(name, exports, view_link(page))
            except ExplorerError as problem:  # a run that left the cache may fail when it is repeated
                explain(problem)


def _show(page: str, exports: Exports, link: str) -> None:
    name = next(iter(exports))
    if len(exports) > 1:
        name = _choose(page, "export_view", texts.ASK_VIEW, list(exports))
    export = replace(exports[name](), link=link)
    forms = {texts.FIGURE: show_figure, texts.DATA: show_data, texts.WEB_PAGE: show_web_page, texts.CODE: show_code}
    if export.figure is None:
        del forms[texts.FIGURE]
    if is_hidden("forms") and export.figure is not None:
        show_figure(page, export)
        return
    form = _choose(page, "export_form", texts.ASK_FORM, list(forms))
    forms[form](page, export)


def _choose(page: str, name: str, label: str, options: list[str]) -> str:
    """Let the reader choose; a choice that this view does not have gives way to the first option."""
    if st.session_state.get(widget_key(page, name)) not in options:
        st.session_state[widget_key(page, name)] = options[0]
    return st.segmented_control(
        label, options, required=True, label_visibility="collapsed", **widget_binding(widget_key(page, name))
    )


def show_code(page: str, export: Export) -> None:
    """Show the code, ready to be copied; every kind ends with the numbers on the screen."""
    kind, code = "project", export.code
    if code.transformers:
        kind = st.segmented_control(
            texts.ASK_CODE,
            list(CODE_KINDS),
            format_func=CODE_KINDS.get,
            default="project",
            required=True,
            key=widget_key(page, "code_kind"),
            label_visibility="collapsed",
        )
    write = code.transformers if kind == "transformers" else code.project
    title, _, rest = write().partition("\n")
    source = texts.SOURCE_COMMENT.format(source=one_line(export.origin))
    # Streamlit's colours for Python are too pale in the light theme.
    st.code("\n".join([title, source, rest]), language=None, wrap_lines=True)
    note = texts.NEEDS_PROJECT if kind == "project" else code.omitted
    st.caption(f"{note} {code.result}".strip())
