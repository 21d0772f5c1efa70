"""Ask for A and for B: what differs between them once for each, everything else once for both."""

from collections.abc import Callable

import streamlit as st

from pages.compare.run import nearest_head
from pages.compare.start import begin
from pages.compare.state import (
    MAX_UNTRAINED_MODELS,
    PARTS,
    SCALES,
    VARIES,
    Head,
    forget_words,
    name_head,
    pin,
    swap,
)
from pages.ui.panels.changes import Changes, StackNames, describe_change
from pages.ui.panels.view_options import MAX_LAYERS_OR_HEADS
from pages.ui.shell import cache, controls
from pages.ui.shell.address import widget_binding, widget_key
from tx_core.errors import ExplorerError
from tx_core.transformer.interventions import Intervention

NAMES = {
    "text": "Another sentence",
    "head": "Another layer or head",
    "untrained": "A model that nobody trained",
    "changes": "A part switched off",
    "model": "Another model",
}


def ask_sides(page: str) -> None:
    """Let the reader say what differs, what A and B are, and what they share."""
    st.pills(
        "What differs in B?",
        list(VARIES),
        format_func=NAMES.get,
        required=True,
        **widget_binding(widget_key(page, "vary"), lambda: begin(page)),
    )
    varied = VARIES[st.session_state[widget_key(page, "vary")]]
    if "text" not in varied:
        _ask(page, "text", "", "Sentence")
        _ask(page, "pair", "", "Second sentence")
    for column, suffix in zip(st.columns(2, gap="medium"), ("", "_b"), strict=True):
        with column:
            for part in varied:
                _ask(page, part, suffix, "B" if suffix else "A")
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        for part in PARTS:
            if part in ("model", "seed", "head") and part not in varied:
                with st.container(width=230):
                    _ask(page, part, "", "")
    if "changes" not in varied and (active := st.session_state[widget_key(page, "changes")]):
        _tell_changes(page, active)


def ask_look(page: str) -> None:
    """Let the reader exchange the sides, and say how both maps are drawn."""
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        _ask_buttons(page)
        st.toggle(
            "Hide special tokens",
            **widget_binding(widget_key(page, "hide"), lambda: forget_words(page)),
            help="Leave out [CLS], [SEP] and the like; what is left of each row is scaled to sum to 1 again.",
        )
        st.toggle(
            "Second sentences",
            **widget_binding(widget_key(page, "two"), lambda: forget_words(page)),
            help="Let the model read two sentences at once, in A and in B.",
        )
        with st.popover("Colours", icon=":material/palette:"):
            st.selectbox("Colours of A and B", SCALES, format_func=str.capitalize, **widget_binding(widget_key(page, "scale")))


def _ask(page: str, part: str, suffix: str, side: str) -> None:
    """Draw the control of one part of one side; `side` is its name, "" for what both share."""
    name = widget_key(page, f"{part}{suffix}")
    ask: dict[str, Callable[[], object]] = {
        "text": lambda: _ask_text(page, name, side, shared="text" not in VARIES[st.session_state[widget_key(page, "vary")]]),
        "pair": lambda: _ask_pair(page, name, side),
        "model": lambda: _ask_model(name, side),
        "head": lambda: _ask_head(name, st.session_state[widget_key(page, f"model{suffix}")], side),
        "seed": lambda: st.selectbox(
            _label("Weights", side), range(MAX_UNTRAINED_MODELS + 1), format_func=_name_weights, **widget_binding(name)
        ),
        "changes": lambda: _ask_changes(name, st.session_state[widget_key(page, "model")], side),
    }
    ask[part]()


def _ask_text(page: str, name: str, side: str, *, shared: bool) -> None:
    label = side if shared else f"Sentence {side}"
    controls.sentence(name, label, placeholder="The same as A" if side == "B" else "", on_change=lambda: forget_words(page))


def _ask_pair(page: str, name: str, side: str) -> None:
    if st.session_state[widget_key(page, "two")]:
        label = side if len(side) > 1 else f"Second sentence {side}"
        controls.sentence(name, f"{label} (optional)", on_change=lambda: forget_words(page))


def _ask_model(name: str, side: str) -> None:
    if side:
        st.markdown(f"**{side}**")
    model = controls.model(name)
    try:
        with controls.wait_for(model):
            cache.engine(model)
    except ExplorerError:
        controls.offer_default_model(name)  # why it cannot be had is told where its map would stand


def _ask_head(name: str, model: str, side: str) -> None:
    try:
        engine = cache.engine(model)
    except ExplorerError:
        return
    found: Head = nearest_head(st.session_state[name], engine.num_layers, engine.num_heads)
    if found != st.session_state[name]:
        st.session_state[name] = found
        st.caption(f"{engine.title} has {engine.num_layers} layers of {engine.num_heads} heads: the nearest is shown.")
    options = [(layer, head) for layer in range(engine.num_layers) for head in (None, *range(engine.num_heads))]
    st.selectbox(_label("Layer and head", side), options, format_func=name_head, **widget_binding(name))


def _ask_changes(name: str, model: str, side: str) -> None:
    """Offer heads and layers to switch off; changes that came by a link are offered as they are."""
    try:
        engine = cache.engine(model)
    except ExplorerError:
        return
    one: list[Changes] = [
        (Intervention("off", layer, head),) for layer in range(engine.num_layers) for head in (None, *range(engine.num_heads))
    ]
    now = tuple(st.session_state[name])
    options = [(), *one, *([now] if now and now not in one else [])]
    st.selectbox(_label("Switched off", side), options, format_func=name_changes, **widget_binding(name))


def name_changes(active: Changes) -> str:
    """Name what is switched off, or any other changes that a link brought, tokens by their places."""
    if not active:
        return "Nothing"
    if len(active) == 1 and active[0].kind == "off":
        layer, head = active[0].layer, active[0].head
        return f"All heads of layer {layer + 1}" if head is None else controls.head_name((layer, head))
    return tell_changes(active)


def tell_changes(active: Changes) -> str:
    """Say what was changed, each change in full, tokens by their places: A and B may be of two texts."""
    return "; ".join(describe_change(change, [StackNames("self", MAX_LAYERS_OR_HEADS, (), ())]) for change in active)


def _ask_buttons(page: str) -> None:
    st.button(
        "Pin B as A",
        key=f"{page}_pin",
        icon=":material/push_pin:",
        on_click=pin,
        args=(page,),
        help="A becomes what B is now; then change B further.",
    )
    st.button("Swap A and B", key=f"{page}_swap", icon=":material/swap_horiz:", on_click=swap, args=(page,))


def _tell_changes(page: str, active: Changes) -> None:
    def reset() -> None:
        st.session_state[widget_key(page, "changes")] = ()

    with st.container(horizontal=True, vertical_alignment="center"):
        made = "a change" if len(active) == 1 else "changes"
        st.caption(f"Both are run with {made}: {tell_changes(active)}.")
        st.button("Take it back" if len(active) == 1 else "Take them back", key=f"{page}_reset", on_click=reset)


def _label(what: str, side: str) -> str:
    return f"{what} {side}" if side else what


def _name_weights(seed: int) -> str:
    return f"Random weights {seed}" if seed else "Trained"
