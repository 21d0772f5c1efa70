"""What the parts of the summaries page ask for: a head, a token, a blank; and what all of them say of attention."""

from typing import TYPE_CHECKING

import streamlit as st

from pages.ui.panels.attention_table import numbered
from pages.ui.shell import controls
from pages.ui.shell.address import widget_key

if TYPE_CHECKING:  # the core imports torch: only a part that computes waits for it
    from tx_core.transformer.trace import Encoding, Trace

NO_EXPLANATION = (
    "Attention is not an explanation: other weights can give the same prediction (Jain & Wallace 2019), though weights that "
    "a model has learned are not arbitrary, either (Wiegreffe & Pinter 2019)."
)

ENCODER_ONLY = (
    "This model has an encoder and a decoder, and what you see is its encoder: a second sentence, which its decoder reads, "
    "changes nothing here. "
)


def tell(what: str, trace: "Trace | None" = None) -> None:
    """Say under a picture what it can tell and what it cannot. trace: the run whose first attention alone is shown."""
    several = trace is not None and len(trace.stacks) > 1
    st.caption(f":material/info: {ENCODER_ONLY if several else ''}{what}")


def ask_head(page: str, layers: int, heads: int) -> controls.Head:
    """Let the reader choose a head by name; give (layer, head) from 0. Of several, as a link may name them, the first counts."""
    name = widget_key(page, "heads")
    if not controls.keep_existing_heads(name, layers, heads):
        st.info(f"This model has {layers} layers of {heads} heads: a head beyond that is left out.")
    st.session_state[name] = st.session_state[name][:1]
    return controls.layer_and_heads(name, layers, heads)[0]


def ask_token(page: str, encoding: "Encoding", label: str, *, last: bool = False) -> int:
    """Let the reader choose a token; give its place from 0. It begins at the first blank, or else at the first or last word."""
    return _ask_place(page, encoding, range(len(encoding)), label, last=last)


def ask_blank(page: str, encoding: "Encoding") -> int:
    """Give the place of the blank, which the reader chooses where there are several."""
    return _ask_place(page, encoding, encoding.blanks, "Blank")


def _ask_place(page: str, encoding: "Encoding", places: "range | tuple[int, ...]", label: str, *, last: bool = False) -> int:
    name, named = widget_key(page, "token"), widget_key(page, "token_named")
    if st.session_state[name] not in places:
        st.session_state[name] = None
    own = [place for place in places if not encoding.special[place]]
    first = next(iter((*encoding.blanks, *(reversed(own) if last else own), *places)))
    chosen = first if st.session_state[name] is None else st.session_state[name]
    st.session_state[named] = chosen

    def take() -> None:
        st.session_state[name] = st.session_state[named]

    if len(places) > 1:
        labels = numbered(encoding.tokens)
        st.selectbox(label, places, format_func=lambda place: labels[place], key=named, on_change=take)
    return chosen


def head_named(head: controls.Head) -> str:
    """Name a head within a sentence."""
    return controls.head_name(head)[0].lower() + controls.head_name(head)[1:]
