"""The link of the current view, and whether it is too long to be given."""

from collections.abc import Sequence
from urllib.parse import urlencode, urlsplit, urlunsplit

import streamlit as st

MAX_LINK_CHARACTERS = 6000
"""Characters: a tenth of what this server takes (64 KiB), because what passes links on may take far less."""


def link_with(parameters: Sequence[tuple[str, str]]) -> str:
    """Write the address of the current page with these parameters."""
    scheme, host, path, _, _ = urlsplit(st.context.url or "")
    return urlunsplit((scheme, host, path, urlencode(parameters), ""))


def note_length(length: int) -> None:
    """Remember how long the link of the view just written would be."""
    st.session_state["link_too_long"] = length if length > MAX_LINK_CHARACTERS else 0


def too_long() -> int:
    """Give the length of the link that the view just written would need; 0 where it could be given."""
    return st.session_state.get("link_too_long", 0)


def tell_length() -> int:
    """Give what too_long gives, and remember that the page says so."""
    length = st.session_state["link_told"] = too_long()
    return length


def told_otherwise() -> bool:
    """Tell whether a text grew too long for the address, or fits again, since the page was drawn; False while it is drawn."""
    return bool(st.session_state.get("link_told", too_long())) != bool(too_long())
