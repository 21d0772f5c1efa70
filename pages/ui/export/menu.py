"""The export menu of a page: the data and the code of its views. Figures and web pages are made by the stage of the page."""

from dataclasses import replace

import streamlit as st

from pages.ui.export import texts
from pages.ui.export.data import show_data
from pages.ui.export.records import Export, Exports
from pages.ui.shell.address import is_offered, set_values, view_link, widget_binding, widget_key
from pages.ui.shell.frame import explain
from pages.ui.shell.level import is_hidden
from pages.ui.stage.sources import one_line
from tx_core.errors import ExplorerError

CODE_KINDS = {"project": texts.PROJECT_CODE, "transformers": texts.TRANSFORMERS_CODE}


def export_menu(page: str, exports: Exports, title: str = texts.TITLE, *, place: str = "") -> None:
    """Offer data and code of the views of a page; nothing is made before the menu is opened.

    Call it where the views were drawn, so that it follows every click. place: tells several menus of a page apart.
    """
    if not is_offered("export") or is_hidden("forms"):
        return
    name = f"{page}_{place}" if place else page
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
    forms = {texts.DATA: show_data, texts.CODE: show_code}
    form = _choose(page, "export_form", texts.ASK_FORM, list(forms))
    forms[form](page, export)


def _choose(page: str, name: str, label: str, options: list[str]) -> str:
    """Ask for one of the options; a choice that this view lacks is replaced by the first."""
    if st.session_state.get(widget_key(page, name)) not in options:
        set_values(page, {name: options[0]})
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
    # Streamlit's colours for Python are too pale in the light theme.
    st.code(written(export, kind), language=None, wrap_lines=True)
    note = texts.NEEDS_PROJECT if kind == "project" else code.omitted
    st.caption(f"{note} {code.result}".strip())


def written(export: Export, kind: str) -> str:
    """Return the code of a view below comments on what it computes and needs. kind: of `CODE_KINDS`."""
    body = export.code.transformers() if kind == "transformers" else export.code.project()
    title = texts.CODE_TITLES[kind].format(title=one_line(export.title))
    return "\n".join([*(f"# {line}" for line in (title, one_line(export.origin), *export.needs(kind))), body])
