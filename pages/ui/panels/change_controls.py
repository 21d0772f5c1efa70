"""The controls by which a reader changes a run: buttons for what is looked at, and a panel with every other change."""

from collections.abc import Sequence

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from pages.ui.panels import texts
from pages.ui.panels.changes import active_changes, apply_changes, with_change
from pages.ui.panels.tokens import escape_markdown
from pages.ui.panels.view_options import ViewOptions
from pages.ui.shell import cache
from pages.ui.shell.address import is_offered, widget_key
from pages.ui.shell.controls import ask_option, choice_box
from pages.ui.shell.level import is_hidden
from tx_core.analysis.views import word_groups
from tx_core.transformer.interventions import NEEDS_POSITIONS, Head, Intervention, unmasked_padding
from tx_core.transformer.trace import AttentionStack, Encoding, Trace

PADDINGS = (0, 1, 2, 4, 8, 16, 32, 64)
"""Numbers of padding tokens that are offered; 0 for none."""
ATTENTION_TEMPERATURES = ("0.1", "0.25", "0.5", "0.75", "1", "1.5", "2", "3", "5", "10")
EVERYWHERE = {"self": ("hidden", "cut"), "cross": ("hidden",), "decoder": ()}
"""The kinds of interventions on tokens that can act in all layers, by the kind of attention that is looked at."""


def change_row(page: str) -> tuple[DeltaGenerator, DeltaGenerator]:
    """Make space in one row for `change_heads` and `hide_focused`; assets/page.css sets their buttons side by side."""
    row = st.container(horizontal=True, vertical_alignment="center", gap="small", key=widget_key(page, "change_row"))
    return row.container(horizontal=True, gap="small", key=widget_key(page, "change_heads")), row.empty()


def change_heads(page: str, trace: Trace, number: int) -> None:
    """Draw the buttons that change the chosen heads of stack `number`, and the one that opens all changes."""
    if is_offered("changes"):
        _off_button(page, ViewOptions.of(page).heads, _first_layer(trace, number))
        if not is_hidden("change_panel"):
            _panel_button(page)
    else:
        st.empty()  # a part may write only where it wrote when the whole page ran


def hide_focused(page: str, stack: AttentionStack) -> None:
    """Draw the button that masks the focused token, or its whole word where words are shown whole."""
    offered = stack.kind == "self" and is_offered("changes") and not is_hidden("change_panel")
    positions = _focused_positions(stack, ViewOptions.of(page)) if offered else ()
    if not positions:
        st.empty()  # a part may write only where it wrote when the whole page ran
        return
    label = texts.HIDE_FOCUSED.format(token=" ".join(stack.key_tokens.tokens[position] for position in positions))
    hidden = [Intervention("hidden", positions=(position,)) for position in positions]
    _change_button(page, label, "hidden_focused", hidden, icon=":material/visibility_off:")


def change_panel(page: str, trace: Trace, number: int) -> None:
    """Offer every change of a run, while the panel is open."""
    if not is_offered("changes") or is_hidden("change_panel"):
        return
    with st.container(key=widget_key(page, "change_panel")):  # assets/page.css docks it at the bottom of a phone's screen
        if st.session_state.get(widget_key(page, "change_opened")):
            _panel(page, trace, trace.stacks[number], ViewOptions.of(page), _first_layer(trace, number))


def change_bar(page: str, trace: Trace, number: int) -> None:
    """Draw the row and the panel at once."""
    of_heads, of_token = change_row(page)
    with of_heads:
        change_heads(page, trace, number)
    with of_token:
        hide_focused(page, trace.stacks[number])
    change_panel(page, trace, number)


def _first_layer(trace: Trace, number: int) -> int:
    """Count the layers of the stacks before one, through the whole model."""
    return sum(len(earlier.weights) for earlier in trace.stacks[:number])


def _in_model(heads: Sequence[Head], first: int) -> list[Head]:
    """Return heads of a stack with their layers numbered through the whole model."""
    return [(layer + first, head) for layer, head in heads]


def _heads_text(heads: Sequence[Head], one: str, several: str) -> str:
    """Fill the template for one head or for several."""
    layer, head = heads[0]
    return one.format(layer=layer + 1, head=head + 1) if len(heads) == 1 else several.format(count=len(heads))


def _off_button(page: str, heads: Sequence[Head], first: int) -> None:
    """Draw the button that switches the chosen heads off, or on again where all of them are off."""
    off, changes = [Intervention("off", *head) for head in _in_model(heads, first)], active_changes(page)
    if not set(off) <= set(changes):
        label = _heads_text(heads, texts.SWITCH_OFF_HEAD, texts.SWITCH_OFF_HEADS)
        _change_button(page, label, "off", off, icon=":material/toggle_off:")
        return
    label = _heads_text(heads, texts.SWITCH_ON_HEAD, texts.SWITCH_ON_HEADS)
    kept = tuple(change for change in changes if change not in off)
    st.button(label, key=f"{page}_off", icon=":material/toggle_on:", on_click=apply_changes, args=(page, kept))


def _change_button(
    page: str, label: str, name: str, new: Sequence[Intervention], *, icon: str | None = None, help: str | None = None
) -> None:
    """Draw a button that makes changes; it is disabled while they are active."""

    def add() -> None:
        changes = active_changes(page)
        for change in new:
            changes = with_change(changes, change)
        apply_changes(page, changes)

    active = set(new) <= set(active_changes(page))
    st.button(escape_markdown(label), key=f"{page}_make_{name}", icon=icon, help=help, on_click=add, disabled=active)


def _focused_positions(stack: AttentionStack, options: ViewOptions) -> tuple[int, ...]:
    """Return the position in focus, or those of its whole word where words are shown whole."""
    if options.focus is None:
        return ()
    if not options.words:
        return (options.focus,)
    return next(group for group in word_groups(stack.query_tokens) if options.focus in group)


def _panel_button(page: str) -> None:
    """Open or close the panel of all changes."""
    key = widget_key(page, "change_opened")
    opened = bool(st.session_state.get(key))

    def turn() -> None:
        st.session_state[key] = not opened

    icon = ":material/keyboard_arrow_up:" if opened else ":material/science:"
    label = texts.CLOSE_CHANGES if opened else texts.CHANGE_SOMETHING
    st.button(label, key=f"{page}_change_turn", icon=icon, on_click=turn)


def _panel(page: str, trace: Trace, stack: AttentionStack, options: ViewOptions, first: int) -> None:
    """Offer every change of a run. first: the number of the stack's first layer in the whole model."""
    with st.container(border=True):
        _head_controls(page, options.heads, first)
        _token_controls(page, stack, options, first)
        _softmax_controls(page, len(stack.weights), first)
        _run_controls(page, trace.model)
        st.caption(texts.CHANGES_LIMITS)

        def close() -> None:
            st.session_state[widget_key(page, "change_opened")] = False

        st.button(texts.CLOSE, key=f"{page}_change_close", icon=":material/close:", on_click=close)


def _head_controls(page: str, heads: Sequence[Head], first: int) -> None:
    st.markdown(_heads_text(heads, texts.CHOSEN_HEAD, texts.CHOSEN_HEADS))
    layers = {layer + first for layer, _ in heads}
    with st.container(horizontal=True, gap="small"):
        uniform = [Intervention("uniform", *head) for head in _in_model(heads, first)]
        _change_button(page, texts.SET_TO_UNIFORM, "uniform", uniform, help=texts.SET_TO_UNIFORM_HELP)
        if len(layers) == 1:
            (layer,) = layers
            _change_button(page, texts.SWITCH_OFF_LAYER, "layer_off", [Intervention("off", layer)])
            _change_button(page, texts.SET_LAYER_TO_UNIFORM, "layer_uniform", [Intervention("uniform", layer)])


def _token_controls(page: str, stack: AttentionStack, options: ViewOptions, first: int) -> None:
    st.markdown(texts.TOKEN_OR_LINK)
    _start_at_focus(page, stack, options.focus)
    for_key, for_query = st.columns(2)
    with for_key:
        key = _position_box(page, "change_key", texts.CHANGED_KEY, stack.key_tokens.tokens)
    with for_query:
        query = _position_box(page, "change_query", texts.CHANGED_QUERY, stack.query_tokens.tokens)
    layer, head = options.heads[0]
    scope = choice_box(
        texts.CHANGE_SCOPE,
        list(texts.CHANGE_SCOPES),
        key=widget_key(page, "change_scope"),
        format_func=lambda name: texts.CHANGE_SCOPES[name].format(layer=layer + 1, head=head + 1),
        persist_state="page",
    )
    offered = EVERYWHERE[stack.kind] if scope == "all" else ("hidden", "cut")
    if len(offered) < 2:
        st.caption(texts.SCOPE_IN_DECODER)
    at = {"layer": (layer + first, None), "head": (layer + first, head)}.get(scope, (None, None))
    with st.container(horizontal=True, gap="small"):
        if "hidden" in offered:
            hidden = [Intervention("hidden", *at, positions=(key,))]
            _change_button(page, texts.HIDE_TOKEN, "hidden", hidden, icon=":material/visibility_off:")
        if "cut" in offered:
            cut = [Intervention("cut", *at, positions=(query, key))]
            _change_button(page, texts.CUT_LINK, "cut", cut, icon=":material/link_off:")


def _start_at_focus(page: str, stack: AttentionStack, focus: int | None) -> None:
    """Set both boxes to the token in focus whenever focus or text changes; what was chosen since then stays."""
    state = (focus, stack.query_tokens.tokens, stack.key_tokens.tokens)
    if st.session_state.get(f"{page}_change_begun") == state:
        return
    st.session_state[f"{page}_change_begun"] = state
    st.session_state[widget_key(page, "change_query")] = _first_word(stack.query_tokens) if focus is None else focus
    is_key = stack.kind == "self" and focus is not None and focus not in stack.key_tokens.blanks
    st.session_state[widget_key(page, "change_key")] = focus if is_key else _first_word(stack.key_tokens)


def _first_word(tokens: Encoding) -> int:
    """Return the position of the first token that is neither special nor a blank; 0 where there is none."""
    words = (place for place, special in enumerate(tokens.special) if not special and place not in tokens.blanks)
    return next(words, 0)


def _position_box(page: str, name: str, label: str, tokens: Sequence[str]) -> int:
    key = widget_key(page, name)
    if st.session_state.get(key, 0) >= len(tokens):
        st.session_state[key] = 0
    return choice_box(
        label,
        range(len(tokens)),
        key=key,
        persist_state="page",
        format_func=lambda position: f"{position + 1} {tokens[position]}",
    )


def _softmax_controls(page: str, layers: int, first: int) -> None:
    st.markdown(texts.SOFTMAX)
    layer = _layer_box(page, layers, first)
    active = {change.rule.setting: change for change in active_changes(page) if change.layer == layer}
    _temperature_slider(page, layer, active.get("temperature"))
    _normaliser_control(page, layer, active.get("normaliser"))


def _temperature_slider(page: str, layer: int | None, active: Intervention | None) -> None:
    key = widget_key(page, "change_temperature")
    st.session_state[key] = now = f"{active.value:g}" if active else "1"

    def set_temperature() -> None:
        new = Intervention("temperature", layer, value=float(st.session_state[key]))
        apply_changes(page, with_change(active_changes(page), new))

    st.select_slider(
        texts.SOFTMAX_TEMPERATURE,
        sorted({*ATTENTION_TEMPERATURES, now}, key=float),
        key=key,
        on_change=set_temperature,
        help=texts.SOFTMAX_TEMPERATURE_HELP,
    )


def _normaliser_control(page: str, layer: int | None, active: Intervention | None) -> None:
    key = widget_key(page, "change_normaliser")
    st.session_state[key] = active.kind if active else "softmax"

    def set_normaliser() -> None:
        kept = tuple(change for change in active_changes(page) if change != active)
        chosen = st.session_state[key]
        apply_changes(page, kept if chosen == "softmax" else with_change(kept, Intervention(chosen, layer)))

    ask_option(texts.NORMALISER, texts.NORMALISER_LABELS, key=key, on_change=set_normaliser, help=texts.NORMALISER_HELP)


def _run_controls(page: str, model: str) -> None:
    """Offer the changes of the whole run: a causal mask, no positions, and padding without its mask."""
    st.markdown(texts.WHOLE_RUN)
    can_omit_positions = cache.engine(model).info.can_omit_positions
    with st.container(horizontal=True, gap="small"):
        _change_button(page, texts.CAUSAL_MASK, "causal", [Intervention("causal")], help=texts.CAUSAL_MASK_HELP)
        if can_omit_positions:
            without = [Intervention("no_positions")]
            _change_button(page, texts.OMIT_POSITIONS, "no_positions", without, help=texts.OMIT_POSITIONS_HELP)
    if not can_omit_positions:
        st.caption(NEEDS_POSITIONS)
    key, now = widget_key(page, "change_padding"), unmasked_padding(active_changes(page))
    st.session_state[key] = now

    def set_padding() -> None:
        others = tuple(change for change in active_changes(page) if change.kind != "no_padding_mask")
        padding = st.session_state[key]
        apply_changes(page, with_change(others, Intervention("no_padding_mask", value=float(padding))) if padding else others)

    st.select_slider(
        texts.UNMASKED_PADDING,
        sorted({*PADDINGS, now}),
        key=key,
        on_change=set_padding,
        help=texts.UNMASKED_PADDING_HELP,
    )


def _layer_box(page: str, layers: int, first: int) -> int | None:
    """Ask for the layer whose softmax is changed; None for all layers."""
    options, key = [None, *range(first, first + layers)], widget_key(page, "change_layer")
    if st.session_state.get(key) not in options:
        st.session_state[key] = None
    return choice_box(
        texts.SOFTMAX_LAYERS,
        options,
        key=key,
        persist_state="page",
        format_func=lambda layer: texts.ALL_LAYERS if layer is None else texts.ONE_LAYER.format(layer=layer - first + 1),
    )
