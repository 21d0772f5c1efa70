"""A popover whose content is sent only while it is open, so that a closed one costs other clicks nothing."""

import streamlit as st
from streamlit.delta_generator import DeltaGenerator


def lazy_popover(label: str, *, icon: str, key: str, height: int) -> DeltaGenerator | None:
    """Draw a popover; return it while it is open, to be filled, else None.

    height: its approximate height when filled, in pixels. The browser places it as soon as it is clicked, while the content
    is still on its way; an empty one could be placed in a strip at the edge of the window.
    """
    popover = st.popover(label, icon=icon, key=key, on_change="rerun")
    if popover.open:
        return popover
    popover.container(height=height, border=False)
    return None
