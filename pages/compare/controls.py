"""The controls of A and B: what differs once for each side, everything else once for both."""

from collections.abc import Callable

import streamlit as st

from pages.compare import texts
from pages.compare.runs import nearest_head
from pages.compare.state import (
    MAX_UNTRAINED_MODELS,
    PARTS,
    SCALES,
    VARIES,
    Head,
    forget_words,
    name_head,
    pin,
    set_first_difference,
    swap,
)
from pages.ui.panels.changes import Changes, StackNames, describe_change
from pages.ui.panels.tokens import ask_special_tokens
from pages.ui.panels.view_options import MAX_LAYERS_OR_HEADS
from pages.ui.shell import cache, controls
from pages.ui.shell.address import widget_binding, widget_key
from pages.ui.shell.level import is_hidden, offered_options
from tx_core.errors import ExplorerError
from tx_core.transformer.interventions import Intervention


def ask_sides(page: str) -> None:
    """Ask what differs, what A and B are, what they share, and the colours of both."""
    st.pills(
        texts.ASK_VARIES,
        offered_options("vary", list(VARIES), st.session_state[widget_key(page, "vary")]),
        format_func=texts.VARIES.get,
        required=True,
        **widget_binding(widget_key(page, "vary"), lambda: set_first_difference(page)),
    )
    varied = VARIES[st.session_state[widget_key(page, "vary")]]
    if "text" not in varied:
        _ask(page, "text", "", "")
        _ask(page, "pair", "", "")
    for column, suffix in zip(st.columns(2, gap="medium"), ("", "_b"), strict=True):
        with column:
            for part in varied:
                _ask(page, part, suffix, "B" if suffix else "A")
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        for part in PARTS:
            if part in ("model", "seed", "head") and part not in varied:
                with st.container(width=230):
                    _ask(page, part, "", "")
        if not is_hidden("scale"):
            with st.popover(texts.COLOURS, icon=":material/palette:"):
                st.selectbox(texts.COLOURS_LABEL, SCALES, format_func=str.capitalize, **widget_binding(widget_key(page, "scale")))
    if "changes" not in varied and (active := st.session_state[widget_key(page, "changes")]):
        _tell_changes(page, active)


def ask_look(page: str) -> None:
    """Offer to pin and swap the sides, and ask how both are read."""
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        _ask_buttons(page)
        st.toggle(
            texts.HIDE_SPECIAL,
            **widget_binding(widget_key(page, "hide"), lambda: forget_words(page)),
            help=texts.HIDE_SPECIAL_HELP,
        )
        ask_special_tokens(page, lambda: forget_words(page))
        st.toggle(
            texts.TWO_SENTENCES,
            **widget_binding(widget_key(page, "two"), lambda: forget_words(page)),
            help=texts.TWO_SENTENCES_HELP,
        )


def _ask(page: str, part: str, suffix: str, side: str) -> None:
    """Draw the control of one part. side: "A" or "B", "" for what both share."""
    name = widget_key(page, f"{part}{suffix}")
    ask: dict[str, Callable[[], object]] = {
        "text": lambda: _ask_text(page, name, side),
        "pair": lambda: _ask_pair(page, name, side),
        "model": lambda: _ask_model(name, side),
        "head": lambda: _ask_head(name, st.session_state[widget_key(page, f"model{suffix}")], side),
        "seed": lambda: controls.choice_box(
            texts.WEIGHTS[side], range(MAX_UNTRAINED_MODELS + 1), format_func=_name_weights, **widget_binding(name)
        ),
        "changes": lambda: _ask_changes(name, st.session_state[widget_key(page, "model")], side),
    }
    ask[part]()


def _ask_text(page: str, name: str, side: str) -> None:
    label, placeholder = texts.SIDE_SENTENCES.get(side, texts.SENTENCE), texts.SAME_AS_A if side == "B" else ""
    controls.sentence(name, label, placeholder=placeholder, on_change=lambda: forget_words(page))


def _ask_pair(page: str, name: str, side: str) -> None:
    if st.session_state[widget_key(page, "two")]:
        label = texts.SIDE_SECOND_SENTENCES.get(side, texts.SECOND_SENTENCE)
        controls.sentence(name, label, on_change=lambda: forget_words(page))


def _ask_model(name: str, side: str) -> None:
    if side:
        st.markdown(f"**{side}**")
    model = controls.model(name)
    try:
        with controls.wait_for(model):
            cache.engine(model)
    except ExplorerError:
        controls.offer_default_model(name)  # explained where the map would be


def _ask_head(name: str, model: str, side: str) -> None:
    try:
        engine = cache.engine(model)
    except ExplorerError:
        return
    head: Head = nearest_head(st.session_state[name], engine.info.num_layers, engine.info.num_heads)
    if head != st.session_state[name]:
        st.session_state[name] = head
        st.caption(texts.NEAREST_HEAD.format(model=engine.title, layers=engine.info.num_layers, heads=engine.info.num_heads))
    options = [(layer, head) for layer in range(engine.info.num_layers) for head in (None, *range(engine.info.num_heads))]
    controls.choice_box(texts.HEADS[side], options, format_func=name_head, **widget_binding(name))


def _ask_changes(name: str, model: str, side: str) -> None:
    """Offer heads and layers to switch off; changes that came by a link are offered as they are."""
    try:
        engine = cache.engine(model)
    except ExplorerError:
        return
    one: list[Changes] = [
        (Intervention("off", layer, head),)
        for layer in range(engine.info.num_layers)
        for head in (None, *range(engine.info.num_heads))
    ]
    now = tuple(st.session_state[name])
    options = [(), *one, *([now] if now and now not in one else [])]
    controls.choice_box(texts.SWITCHED_OFF[side], options, format_func=name_changes, **widget_binding(name))


def name_changes(active: Changes) -> str:
    """Return what is switched off, in words, or any other changes of a link; tokens go by their positions."""
    if not active:
        return texts.NOTHING
    if len(active) == 1 and active[0].kind == "off":
        layer, head = active[0].layer, active[0].head
        return texts.ALL_HEADS.format(layer=layer + 1) if head is None else controls.head_name((layer, head))
    return changes_in_full(active)


def changes_in_full(active: Changes) -> str:
    """Return every change in full; tokens go by their positions, since A and B may be of two texts."""
    return "; ".join(describe_change(change, [StackNames("self", MAX_LAYERS_OR_HEADS, (), ())]) for change in active)


def _ask_buttons(page: str) -> None:
    st.button(
        texts.PIN,
        key=f"{page}_pin",
        icon=":material/push_pin:",
        on_click=pin,
        args=(page,),
        help=texts.PIN_HELP,
    )
    st.button(texts.SWAP, key=f"{page}_swap", icon=":material/swap_horiz:", on_click=swap, args=(page,))


def _tell_changes(page: str, active: Changes) -> None:
    def reset() -> None:
        st.session_state[widget_key(page, "changes")] = ()

    single = len(active) == 1
    with st.container(horizontal=True, vertical_alignment="center"):
        note = texts.BOTH_CHANGED_ONCE if single else texts.BOTH_CHANGED
        st.caption(note.format(changes=changes_in_full(active)))
        st.button(texts.UNDO_ONE if single else texts.UNDO_ALL, key=f"{page}_reset", on_click=reset)


def _name_weights(seed: int) -> str:
    return texts.RANDOM.format(seed=seed) if seed else texts.TRAINED
