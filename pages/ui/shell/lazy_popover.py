"""A popover whose inside is sent only while it is open: what is closed costs a click on anything else nothing."""

import streamlit as st
from streamlit.delta_generator import DeltaGenerator


def lazy_popover(label: str, *, icon: str, key: str, height: int) -> DeltaGenerator | None:
    """Offer a popover; give it while it is open, to be filled.

    height: about what it takes when it is filled, in pixels. The browser finds a place for it as soon as it is clicked, when
    the inside is still on its way; for an empty one, a strip at the edge of the window would do.
    """
    popover = st.popover(label, icon=icon, key=key, on_change="rerun")
    if popover.open:
        return popover
    popover.container(height=height, border=False)
    return None
