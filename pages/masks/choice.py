"""A mask chosen by its name or painted by hand, and the head of a BERT that it is laid on."""

from collections.abc import Callable, Mapping

import streamlit as st

from pages.ui.canvas import mask_grid
from pages.ui.canvas.foresight import Change, by_number, by_place
from pages.ui.shell import cache
from pages.ui.shell.address import widget_key
from tx_core.engine.catalogue import DEFAULT
from tx_core.lessons import masking
from tx_core.lessons import padding as padded_run

KINDS = {
    "causal": "Causal",
    "padding": "Padding",
    "combined": "Causal and padding",
    "window": "Window",
    "none": "None",
    "painted": "Painted",
}
SIZES = range(9)
"""Tokens of padding, and neighbours of a window."""


def take_painting(page: str) -> None:
    """Keep what the reader painted, as the mask of the page."""
    painted = mask_grid.painted_mask(widget_key(page, "grid"), st.session_state[widget_key(page, "tokens")])
    if painted is not None:
        st.session_state[widget_key(page, "mask")] = mask_grid.mask_to_link(painted)
        st.session_state[widget_key(page, "kind")] = "painted"


def empty_a_row(page: str, head: padded_run.MaskedHead) -> None:
    """Leave the token in the middle nowhere to look, whatever the mask was."""
    changed = masking.forbid_row(head.mask, len(head.tokens) // 2)
    st.session_state[widget_key(page, "mask")] = mask_grid.mask_to_link(changed.numpy())
    st.session_state[widget_key(page, "kind")] = "painted"


def add_padding(page: str) -> None:
    """A mask that hides padding shows nothing without any."""
    held = st.session_state
    held[widget_key(page, "padding")] = padding_for(held[widget_key(page, "kind")], held[widget_key(page, "padding")])


def padding_for(kind: str, padding: int) -> int:
    """Give the padding with which a kind of mask shows something."""
    return 3 if kind in ("padding", "combined") and not padding else padding


def ask_values(page: str, text: str) -> dict[str, object]:
    """Ask for a mask and a head; give them by the names of their fields, with the sentence."""
    engine, held = cache.engine(DEFAULT), st.session_state
    st.segmented_control(
        "Mask",
        list(KINDS),
        key=widget_key(page, "kind"),
        format_func=KINDS.get,
        required=True,
        on_change=add_padding,
        args=(page,),
    )
    layer, head, padding, width = st.columns([2, 2, 3, 3])
    layer = layer.selectbox("Layer", range(1, engine.num_layers + 1), key=widget_key(page, "layer"))
    head = head.selectbox("Head", range(1, engine.num_heads + 1), key=widget_key(page, "head"))
    padding = padding.slider("Padding tokens behind the sentence", SIZES[0], SIZES[-1], key=widget_key(page, "padding"))
    if held[widget_key(page, "kind")] == "window":
        width.slider("Neighbours on either side", SIZES[0], SIZES[-1], key=widget_key(page, "width"))
    kept = {name: held[widget_key(page, name)] for name in ("kind", "mask", "width")}
    return {"text": text, "layer": layer, "head": head, "padding": padding, **kept}


def ask_head(page: str, text: str) -> padded_run.MaskedHead:
    """Ask for a mask and a head; give the head's real scores on the sentence and the mask laid on them."""
    return masked_head(page, ask_values(page, text))


def masked_head(page: str, values: Mapping[str, object]) -> padded_run.MaskedHead:
    """Give the real scores of the head that `values` ask for, and the mask laid on them."""
    engine, (text, padding) = cache.engine(DEFAULT), (values["text"], values["padding"])
    found = cache.remember((page, text, padding), lambda: padded_run.padded_scores(engine, text, padding))
    kind, painted, tokens = values["kind"], values["mask"], len(found.tokens)
    if kind == "painted" and painted:
        mask = masking.fit_mask(mask_grid.mask_from_link(painted), tokens)
    else:
        mask = masking.mask_of_kind("none" if kind == "painted" else kind, tokens, found.real, values["width"])
    return found.under(mask, values["layer"] - 1, values["head"] - 1)


def foreseen_controls(values: Mapping[str, object], tokens: int) -> dict[str, Callable[[str], Change]]:
    """Tell how what the browser says of these controls is read."""

    def kind(told: str) -> Change:
        chosen = by_place("kind", list(KINDS))(told)["kind"]
        return {"kind": chosen, "padding": padding_for(chosen, values["padding"])}

    def painted(told: str) -> Change:
        mask = mask_grid.parse_mask(told, tokens)
        if mask is None:
            raise ValueError("a painted mask must be 0 and 1 for each pair of tokens")
        return {"kind": "painted", "mask": mask_grid.mask_to_link(mask)}

    return {"kind": kind, "painted": painted, "padding": by_number("padding", SIZES), "width": by_number("width", SIZES)}


def tell_nowhere(page: str, head: padded_run.MaskedHead) -> None:
    """Say what becomes of tokens that may look nowhere, or make one."""
    if not head.nowhere:
        st.button(
            "Leave one token nowhere to look",
            key=widget_key(page, "empty"),
            icon=":material/visibility_off:",
            on_click=empty_a_row,
            args=(page, head),
        )
        return
    with st.container(border=True):
        names = ", ".join(f"'{head.tokens[query]}' (row {query + 1})" for query in head.nowhere)
        st.text(f"May look nowhere: {names}")
        st.markdown(
            "Softmax of a row of nothing but −∞ is 0 ÷ 0: not a number, and from there it spreads through the whole model. "
            "Ours gives such a row **zeros**: the token learns nothing from this head. With −10,000 in place of −∞ the row "
            "looks like real attention, because softmax does not notice when all scores of a row move together."
        )
