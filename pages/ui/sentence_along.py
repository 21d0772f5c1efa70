"""The sentence that a visitor typed last goes along to the pages opened next, also by the list at the side."""

from collections.abc import Iterable, Mapping

import streamlit as st

TYPED = "typed"
ALONG = ("text", "pair")
"""Fields, on any page, of a sentence and of the second one that it is read with."""


def typed_elsewhere(first: str, names: Iterable[str], left: Mapping[str, object]) -> dict[str, str]:
    """Give what comes along to a page of these fields; nothing where the visitor typed another sentence before.

    first: the sentence that the page begins with. left: its fields as the visitor left them, if ever.
    """
    names = list(names)
    if names[0] != "text" or left.get("text", first) != first:
        return {}
    return {name: text for name, text in st.session_state.get(TYPED, {}).items() if name in names}


def remember_typed(first: str, values: Mapping[str, object], left: Mapping[str, object]) -> None:
    """Keep a page's new sentence for others; the one that the page begins with, or none, is not worth taking along."""
    if "text" not in values or values["text"] == left.get("text", first):
        return
    own = values["text"] not in ("", first)
    st.session_state[TYPED] = {name: values[name] for name in ALONG if own and values.get(name)}
