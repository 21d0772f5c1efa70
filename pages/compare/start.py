"""What B starts with when something else is to differ: never the same as A where a difference can be had."""

import streamlit as st

from pages.compare.state import Head, Side, forget_words, sides
from pages.ui.shell.address import widget_key
from tx_core.transformer.interventions import Intervention

FIRST_LAYER_OFF = (Intervention("off", 0),)


def begin(page: str) -> None:
    """Let go of the words that were looked at, and let B differ from A in what was just chosen to differ.

    What already differs stays. Another sentence, or another model, is the reader's to choose.
    """
    forget_words(page)
    one, other = sides(page)
    vary = st.session_state[widget_key(page, "vary")]
    if vary == "model" and one.model == other.model:
        st.session_state[widget_key(page, "head_b")] = one.head
    elif one == other:
        st.session_state.update({widget_key(page, name): value for name, value in _other(one, vary).items()})


def _other(one: Side, vary: str) -> dict[str, object]:
    """Give the part of B in which it differs from A."""
    return {
        "head": {"head_b": _another_head(one.head)},
        "untrained": {"seed_b": 0 if one.seed else 1},
        "changes": {"changes_b": () if one.changes else FIRST_LAYER_OFF},
    }.get(vary, {})


def _another_head(head: Head) -> Head:
    """Give another head of the same layer, or of a layer's mean another layer."""
    layer, number = head
    if number is None:
        return (1 if layer == 0 else 0), None
    return layer, 1 if number == 0 else 0
