"""Python that computes what is on the screen: once with this project's core, once with the transformers library alone."""

import streamlit as st

from pages.ui.export.exhibit import Exhibit
from pages.ui.shell.address import widget_key

WAYS = {"core": "With this project", "library": "With transformers alone"}


def python(page: str, exhibit: Exhibit) -> None:
    """Show the code, ready to be copied, or why there is none; both ways end with the numbers on the screen."""
    way = st.segmented_control(
        "Which Python",
        list(WAYS),
        format_func=WAYS.get,
        default="core",
        required=True,
        key=widget_key(page, "python_way"),
        label_visibility="collapsed",
    )
    write = exhibit.python.core if way == "core" else exhibit.python.library
    if write is None:
        st.markdown(exhibit.python.why_not)
        return
    st.code(write(), language=None, wrap_lines=True)  # the colours of Streamlit for Python are too pale on light
    if way == "library" and exhibit.python.why_not:
        st.caption(exhibit.python.why_not)
    st.caption(exhibit.python.told)
