"""A mask chosen by its name or painted by hand, and the head of a BERT that it is laid on."""

import streamlit as st

from pages.ui import cache, mask_grid
from pages.ui.address import key
from tx_core import mask_kinds, padded_run
from tx_core.models import DEFAULT

KINDS = {"causal": "Causal", "padding": "Padding", "combined": "Causal and padding", "window": "Window", "none": "None",
         "painted": "Painted"}  # fmt: skip


def take_painting(page: str) -> None:
    """Keep what the reader painted, as the mask of the page."""
    painted = mask_grid.painted_mask(key(page, "grid"), st.session_state[key(page, "tokens")])
    if painted is not None:
        st.session_state[key(page, "mask")] = mask_grid.mask_to_link(painted)
        st.session_state[key(page, "kind")] = "painted"


def empty_a_row(page: str, head: padded_run.MaskedHead) -> None:
    """Leave the token in the middle nowhere to look, whatever the mask was."""
    changed = mask_kinds.forbid_row(head.mask, len(head.tokens) // 2)
    st.session_state[key(page, "mask")] = mask_grid.mask_to_link(changed.numpy())
    st.session_state[key(page, "kind")] = "painted"


def add_padding(page: str) -> None:
    """A mask that hides padding shows nothing without any."""
    if st.session_state[key(page, "kind")] in ("padding", "combined") and not st.session_state[key(page, "padding")]:
        st.session_state[key(page, "padding")] = 3


def ask_head(page: str, text: str) -> padded_run.MaskedHead:
    """Ask for a mask and a head; give the head's real scores on the sentence and the mask laid on them."""
    engine, held = cache.engine(DEFAULT), st.session_state
    st.segmented_control("Mask", list(KINDS), key=key(page, "kind"), format_func=KINDS.get, required=True,
                         on_change=add_padding, args=(page,))  # fmt: skip
    layer, head, padding, width = st.columns([2, 2, 3, 3])
    layer = layer.selectbox("Layer", range(1, engine.num_layers + 1), key=key(page, "layer"))
    head = head.selectbox("Head", range(1, engine.num_heads + 1), key=key(page, "head"))
    padding = padding.slider("Padding tokens behind the sentence", 0, 8, key=key(page, "padding"))
    if held[key(page, "kind")] == "window":
        width.slider("Neighbours on either side", 0, 8, key=key(page, "width"))
    found = cache.remember((page, text, padding), lambda: padded_run.padded_scores(engine, text, padding))
    held[key(page, "tokens")] = len(found.tokens)
    kind, painted, tokens = held[key(page, "kind")], held[key(page, "mask")], len(found.tokens)
    if kind == "painted" and painted:
        mask = mask_kinds.fit_mask(mask_grid.mask_from_link(painted), tokens)
    else:
        mask = mask_kinds.mask_of_kind("none" if kind == "painted" else kind, tokens, found.real, held[key(page, "width")])
    return found.under(mask, layer - 1, head - 1)


def tell_nowhere(page: str, head: padded_run.MaskedHead) -> None:
    """Say what becomes of tokens that may look nowhere, or make one."""
    if not head.nowhere:
        st.button("Leave one token nowhere to look", key=key(page, "empty"), icon=":material/visibility_off:",
                  on_click=empty_a_row, args=(page, head))  # fmt: skip
        return
    with st.container(border=True):
        names = ", ".join(f"'{head.tokens[query]}' (row {query + 1})" for query in head.nowhere)
        st.text(f"May look nowhere: {names}")
        st.markdown(
            "Softmax of a row of nothing but −∞ is 0 ÷ 0: not a number, and from there it spreads through the whole model. "
            "Ours gives such a row **zeros**: the token learns nothing from this head. With −10,000 in place of −∞ the row "
            "looks like real attention, because softmax does not notice when all scores of a row move together."
        )
