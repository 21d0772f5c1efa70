"""What opens under “Change something”: heads and layers, a token or a link, the softmax."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import streamlit as st

from pages.ui.panels import changes
from pages.ui.panels.held_changes import asked, change_button, put
from pages.ui.panels.view_options import ViewOptions
from pages.ui.shell.address import widget_key
from pages.ui.shell.lazy_popover import lazy_popover
from tx_core.transformer.interventions import SETTING, Intervention

if TYPE_CHECKING:  # the core imports torch: only a page that computes waits for it
    from tx_core.transformer.trace import AttentionStack, Encoding

TEMPERATURES = ("0.1", "0.25", "0.5", "0.75", "1", "1.5", "2", "3", "5", "10")
NORMALISERS = {"softmax": "Softmax", "sparse": "Sparse", "hard": "Hard"}
CANNOT_TELL = (
    "What happens when something is taken away tells what this run rested on. It does not tell what the model would have "
    "learned without it, and two heads can stand in for each other: switch off either and little changes."
)


def ask_change(page: str, stack: "AttentionStack", options: ViewOptions, first: int, which: str) -> None:
    """Offer every change of a run, in a popover.

    first: the number of the stack's first layer in the whole model. which: the name of the heads that are looked at.
    """
    opened = lazy_popover("Change something", icon=":material/science:", key=widget_key(page, "change_opened"), height=600)
    if opened is None:
        return
    with opened:
        _ask_heads(page, [(layer + first, head) for layer, head in options.heads], which)
        _ask_token(page, stack, options, first)
        _ask_softmax(page, len(stack.weights), first)
        st.caption(CANNOT_TELL)


def _ask_heads(page: str, heads: Sequence[tuple[int, int]], which: str) -> None:
    st.markdown(f"**{which[0].upper()}{which[1:]}**")
    layers = sorted({layer for layer, _ in heads})
    with st.container(horizontal=True, gap="small"):
        named = [Intervention("uniform", *head) for head in heads]
        change_button(page, "Set to uniform", "uniform", named, help="Its queries look at every token alike.")
        if len(layers) == 1:
            change_button(page, "Switch off its whole layer", "layer_off", [Intervention("off", layers[0])])
            change_button(page, "Set its whole layer to uniform", "layer_uniform", [Intervention("uniform", layers[0])])


def _ask_token(page: str, stack: "AttentionStack", options: ViewOptions, first: int) -> None:
    st.markdown("**A token, or a link between two**")
    layer, head = options.heads[0]
    places = {"layer": (layer + first, None), "head": (layer + first, head)}
    names = {"all": "Everywhere", "layer": f"In layer {layer + 1}", "head": f"In layer {layer + 1}, head {head + 1}"}
    _begin_at_focus(page, stack, options.focus)
    for_key, for_query = st.columns(2)
    with for_key:
        looked_at = _ask_place(page, "change_key", "Token that is looked at", stack.key_tokens.tokens)
    with for_query:
        looking = _ask_place(page, "change_query", "Token that looks at it", stack.query_tokens.tokens)
    scope = st.selectbox("Where", list(names), key=widget_key(page, "change_scope"), format_func=names.get, persist_state="page")
    everywhere = {"self": ("hidden", "cut"), "cross": ("hidden",), "decoder": ()}[stack.kind]
    if scope == "all" and len(everywhere) < 2:
        st.caption("Within a decoder, and for links from it, choose a layer or a head.")
    at = places.get(scope, (None, None))
    with st.container(horizontal=True, gap="small"):
        if scope != "all" or "hidden" in everywhere:
            wanted = [Intervention("hidden", *at, positions=(looked_at,))]
            change_button(page, "Hide this token", "hidden", wanted, icon=":material/visibility_off:")
        if scope != "all" or "cut" in everywhere:
            wanted = [Intervention("cut", *at, positions=(looking, looked_at))]
            change_button(page, "Cut this link", "cut", wanted, icon=":material/link_off:")


def _begin_at_focus(page: str, stack: "AttentionStack", focus: int | None) -> None:
    """Bring the boxes to the focused token whenever that is another one, or of another text; what was chosen since stays."""
    now = (focus, stack.query_tokens.tokens, stack.key_tokens.tokens)
    if st.session_state.get(f"{page}_change_begun") == now:
        return
    st.session_state[f"{page}_change_begun"] = now
    st.session_state[widget_key(page, "change_query")] = _first_word(stack.query_tokens) if focus is None else focus
    own = stack.kind == "self" and focus is not None and focus not in stack.key_tokens.blanks
    st.session_state[widget_key(page, "change_key")] = focus if own else _first_word(stack.key_tokens)


def _first_word(tokens: "Encoding") -> int:
    """Find the first token that is neither special nor a blank; the very first where there is none."""
    return next((place for place, special in enumerate(tokens.special) if not special and place not in tokens.blanks), 0)


def _ask_place(page: str, name: str, label: str, tokens: Sequence[str]) -> int:
    return st.selectbox(
        label,
        range(len(tokens)),
        key=_fitted(widget_key(page, name), len(tokens)),
        persist_state="page",
        format_func=lambda place: f"{place + 1} {tokens[place]}",
    )


def _fitted(name: str, size: int) -> str:
    if st.session_state.get(name, 0) >= size:
        st.session_state[name] = 0
    return name


def _ask_softmax(page: str, layers: int, first: int) -> None:
    st.markdown("**How scores become weights**")
    options = [None, *range(first, first + layers)]
    name = widget_key(page, "change_layer")
    if st.session_state.get(name) not in options:
        st.session_state[name] = None
    layer = st.selectbox(
        "Layers",
        options,
        key=name,
        persist_state="page",
        format_func=lambda at: "All layers" if at is None else f"Layer {at - first + 1}",
    )
    active = {change.kind: change for change in asked(page) if change.kind in SETTING and change.layer == layer}
    heat, how = widget_key(page, "change_temperature"), widget_key(page, "change_normaliser")
    now = f"{active['temperature'].value:g}" if "temperature" in active else "1"
    st.session_state[heat] = now
    st.session_state[how] = next((kind for kind in ("sparse", "hard") if kind in active), "softmax")

    def take_temperature() -> None:
        put(page, changes.added(asked(page), Intervention("temperature", layer, value=float(st.session_state[heat]))))

    def take_normaliser() -> None:
        kept = tuple(one for one in asked(page) if one.kind not in ("sparse", "hard") or one.layer != layer)
        chosen = st.session_state[how]
        put(page, kept if chosen == "softmax" else changes.added(kept, Intervention(chosen, layer)))

    st.select_slider(
        "Temperature",
        sorted({*TEMPERATURES, now}, key=float),
        key=heat,
        on_change=take_temperature,
        help="Scores are divided by it: below 1 the largest takes more, above 1 all become alike.",
    )
    st.segmented_control(
        "Shares by",
        list(NORMALISERS),
        key=how,
        format_func=NORMALISERS.get,
        required=True,
        on_change=take_normaliser,
        help="Sparse: sparsemax, which gives most tokens exactly nothing. Hard: all to the best score.",
    )
