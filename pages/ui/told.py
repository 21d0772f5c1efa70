"""What a component told the page: a choice, with the moment at which its reader made it."""

from collections.abc import Mapping

import streamlit as st


def told(key: str, name: str) -> object:
    """Give what the component `key` told last, as it was told: no two choices are equal, even where they are the same."""
    state = st.session_state.get(key)
    return state.get(name) if isinstance(state, Mapping) else None


def told_value(key: str, name: str) -> object:
    """Give the choice itself; None before the first."""
    last = told(key, name)
    return last.get("value") if isinstance(last, Mapping) else last
