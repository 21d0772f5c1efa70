"""Python that computes what is on the screen: once with this project's core, once with the transformers library alone."""

import streamlit as st

from pages.ui.export.exhibit import Exhibit
from pages.ui.shell.address import widget_key

WAYS = {"core": "With this project", "library": "With transformers alone"}
NEEDS_PROJECT = "This code needs this project: run it in the project's root folder."


def python(page: str, exhibit: Exhibit) -> None:
    """Show the code, ready to be copied; both ways end with the numbers on the screen."""
    way = _ask_way(page) if exhibit.python.library else "core"
    write = exhibit.python.library if way == "library" else exhibit.python.core
    st.code(write(), language=None, wrap_lines=True)  # the colours of Streamlit for Python are too pale on light
    if way == "core":
        st.caption(NEEDS_PROJECT)
    elif exhibit.python.why_not:
        st.caption(exhibit.python.why_not)
    st.caption(exhibit.python.told)


def _ask_way(page: str) -> str:
    return st.segmented_control(
        "Which Python",
        list(WAYS),
        format_func=WAYS.get,
        default="core",
        required=True,
        key=widget_key(page, "python_way"),
        label_visibility="collapsed",
    )
