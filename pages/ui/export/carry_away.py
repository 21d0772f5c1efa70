"""Carry away what is on the screen: as a figure, as numbers, as a web page, as Python that computes it again."""

from collections.abc import Callable
from typing import TYPE_CHECKING

import streamlit as st

from pages.ui.shell.address import widget_binding, widget_key
from pages.ui.shell.frame import explain
from tx_core.errors import ExplorerError

if TYPE_CHECKING:
    from pages.ui.export.exhibit import Exhibit, Offered

FORMS = ("Figure", "Numbers", "Web page", "Python")


def carry_away(page: str, offered: "Offered", forms: str = "figure, numbers, web page, Python") -> None:
    """Offer the views of a page in every form; nothing is made until it is opened.

    forms: in which ones, as the title says. Call it where the views were drawn, so that it follows every click.
    """
    opened = st.expander(f"Carry it away: {forms}", key=widget_key(page, "carry"), on_change="rerun")
    if opened.open:
        with opened:
            try:
                _show(page, offered)
            except ExplorerError as problem:  # what is no longer remembered may not be had again
                explain(problem)


def _show(page: str, offered: "Offered") -> None:
    name = next(iter(offered))
    if len(offered) > 1:
        name = _ask(page, "carry_what", "What to carry away", list(offered))
    exhibit = offered[name]()
    forms = [form for form in FORMS if _has(exhibit, form)]
    form = _ask(page, "carry_form", "In which form", forms)
    _draw()[form](page, exhibit)


def _ask(page: str, name: str, label: str, options: list[str]) -> str:
    """Let the reader choose; a choice that this view does not have gives way to the first."""
    if st.session_state.get(widget_key(page, name)) not in options:
        st.session_state[widget_key(page, name)] = options[0]
    return st.segmented_control(
        label, options, required=True, label_visibility="collapsed", **widget_binding(widget_key(page, name))
    )


def _has(exhibit: "Exhibit", form: str) -> bool:
    missing = {"Figure": exhibit.picture is None, "Web page": exhibit.alone is None}
    return not missing.get(form, False)


def _draw() -> dict[str, "Callable[[str, Exhibit], None]"]:
    from pages.ui.export.numbers import numbers
    from pages.ui.export.picture import picture
    from pages.ui.export.python import python
    from pages.ui.export.web_page import web_page

    return {"Figure": picture, "Numbers": numbers, "Web page": web_page, "Python": python}
