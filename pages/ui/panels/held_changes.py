"""The changes that a page holds: read, made by a button, and let go where a run cannot have them."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import streamlit as st

from pages.ui.panels import changes
from pages.ui.panels.changes import Changes
from pages.ui.panels.tokens import escape_markdown
from pages.ui.shell.address import widget_key
from tx_core.transformer.interventions import Intervention, missing_part

if TYPE_CHECKING:  # the core imports torch: only a page that computes waits for it
    from tx_core.transformer.trace import Trace


def asked(page: str) -> Changes:
    """Give the reader's changes."""
    return tuple(st.session_state[widget_key(page, "changes")])


def put(page: str, found: Changes) -> None:
    """Take these for the reader's changes."""
    st.session_state[widget_key(page, "changes")] = found


def change_button(
    page: str, label: str, name: str, wanted: Sequence[Intervention], *, icon: str | None = None, help: str | None = None
) -> None:
    """Offer changes in one click; there already, they cannot be made again."""
    active = asked(page)

    def make() -> None:
        found = asked(page)
        for change in wanted:
            found = changes.added(found, change)
        put(page, found)

    made = set(wanted) <= set(active)
    st.button(escape_markdown(label), key=f"{page}_make_{name}", icon=icon, help=help, on_click=make, disabled=made)


def keep_fitting(page: str, trace: "Trace") -> list[str]:
    """Take changes back that this run cannot have, or that named tokens of an earlier text; say so in a sentence each."""
    source, told = trace.attention.key_tokens, []
    text, held = (trace.model, source.text, source.pair), asked(page)
    before = st.session_state.get(f"{page}_changed_in")
    st.session_state[f"{page}_changed_in"] = text
    if before not in (None, text) and not _named_in_address(*text) and any(change.positions for change in held):
        held = changes.without_places(held)
        told.append(changes.PLACES_TAKEN_BACK)
    num_heads = trace.attention.weights.shape[1]
    sizes = [stack.weights.shape[2:] for stack in trace.stacks for _ in stack.weights]
    missing = {change: missing_part(change, num_heads, sizes) for change in held}
    st.session_state[widget_key(page, "changes")] = tuple(change for change in held if not missing[change])
    return [*told, *dict.fromkeys(sentence for sentence in missing.values() if sentence)]


def _named_in_address(model: str, text: str, pair: str | None) -> bool:
    """Tell whether text and changes came together, by a link or the browser's Back; a text just typed is not there yet."""
    asked_for = st.query_params
    texts = (asked_for.get("text"), asked_for.get("second"))
    return text in texts and (asked_for.get("pair") or None) == (pair or None) and asked_for.get("model", "embedded") == model
