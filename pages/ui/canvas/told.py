"""What a component told the page: a choice, with the moment at which its reader made it."""

from collections.abc import Mapping

import streamlit as st


def told_value(key: str, name: str) -> object:
    """Give what the reader of the component `key` chose last; None before the first choice."""
    last = _told(key, name)
    return last.get("value") if isinstance(last, Mapping) else last


def told_at(key: str, name: str) -> int | None:
    """Give the moment of that choice: no two choices have the same, even where they choose the same."""
    last = _told(key, name)
    moment = last.get("at") if isinstance(last, Mapping) else None
    return moment if isinstance(moment, int) else None


def _told(key: str, name: str) -> object:
    state = st.session_state.get(key)
    return state.get(name) if isinstance(state, Mapping) else None
