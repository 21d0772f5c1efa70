"""The sentence that a visitor typed last goes along to the pages opened next, also by the list at the side."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import streamlit as st

if TYPE_CHECKING:
    from pages.ui.address import Field

TYPED = "typed"
ALONG = ("text", "pair")
"""Fields, on any page, of a sentence and of the second one that it is read with."""


def typed_elsewhere(fields: Sequence["Field"], left: Mapping[str, object]) -> dict[str, str]:
    """Give what comes along to a page of these fields; nothing where the visitor typed another sentence before.

    left: its fields as the visitor left them, if ever.
    """
    sentence = fields[0]
    if sentence.name != ALONG[0] or left.get(sentence.name, sentence.default) != sentence.default:
        return {}
    typed = st.session_state.get(TYPED, {})
    return {field.name: typed[field.name] for field in fields if field.name in typed}


def remember_typed(fields: Sequence["Field"], values: Mapping[str, object], left: Mapping[str, object]) -> None:
    """Keep a page's new sentence for others; the one that the page begins with, or none, is not worth taking along."""
    first = fields[0].default
    if fields[0].name != ALONG[0] or values[ALONG[0]] == left.get(ALONG[0], first):
        return
    own = values[ALONG[0]] not in ("", first)
    st.session_state[TYPED] = {name: values[name] for name in ALONG if own and values.get(name)}
