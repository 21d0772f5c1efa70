"""Carry away what is on the screen: as a figure, as numbers, as a web page, as Python that computes it again."""

from collections.abc import Callable
from typing import TYPE_CHECKING

import streamlit as st

from pages.ui.address import key
from pages.ui.carried import Carried
from pages.ui.view_options import ViewOptions

if TYPE_CHECKING:  # the core imports torch: only a page that computes waits for it
    from pages.ui.attention_panel import Shown
    from tx_core.trace import Trace


def carry_away(page: str, trace: "Trace", shown: "Shown") -> None:
    """Offer what the attention panel of a page shows, in every form; nothing is made until it is opened.

    trace: the run that the panel showed. Call it where the panel was called, so that it follows every click.
    """
    opened = st.expander("Carry it away: figure, numbers, web page, Python", key=key(page, "carry"), on_change="rerun")
    if not opened.open:
        return
    carried = Carried(trace, shown, ViewOptions.of(page))
    with opened:
        form = st.segmented_control(
            "What to carry away", list(_forms()), default="Figure", required=True, key=key(page, "carry_form"),
            label_visibility="collapsed",
        )  # fmt: skip
        _forms()[form](page, carried)


def _forms() -> dict[str, Callable[[str, Carried], None]]:
    from pages.ui.numbers_export import numbers
    from pages.ui.picture_export import picture
    from pages.ui.python_export import python
    from pages.ui.web_page_export import web_page

    return {"Figure": picture, "Numbers": numbers, "Web page": web_page, "Python": python}
