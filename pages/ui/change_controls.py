"""Change something: switch off what is looked at, hide what is focused, bend the softmax; chips that take it back."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import streamlit as st

from pages.ui import changes
from pages.ui.address import key
from pages.ui.changes import Change, Changes, Kind, StackNames
from pages.ui.controls import head_name
from pages.ui.view_options import ViewOptions
from pages.ui.word_pills import as_typed

if TYPE_CHECKING:  # the core imports torch: only a page that computes waits for it
    from tx_core.trace import AttentionStack, Trace

TEMPERATURES = ("0.1", "0.25", "0.5", "0.75", "1", "1.5", "2", "3", "5", "10")
NORMALISERS = {"softmax": "Softmax", "sparse": "Sparse", "hard": "Hard"}
CANNOT_TELL = (
    "What happens when something is taken away tells what this run rested on. It does not tell what the model would have "
    "learned without it, and two heads can stand in for each other: switch off either and little changes."
)


def asked(page: str) -> Changes:
    """Give the reader's changes."""
    return tuple(st.session_state[key(page, "changes")])


def stack_names(trace: "Trace") -> list[StackNames]:
    """Describe the stacks of a run, as changes are named by them."""
    return [
        StackNames(stack.kind, len(stack.weights), stack.query_tokens.tokens, stack.key_tokens.tokens) for stack in trace.stacks
    ]


def keep_fitting(page: str, trace: "Trace") -> list[str]:
    """Take changes back that this run cannot have, or that named tokens of an earlier text; say so in a sentence each."""
    from tx_core.interventions import fitting

    source, told = trace.attention.key_tokens, []
    text, held = (trace.model, source.text, source.pair), asked(page)
    before = st.session_state.get(f"{page}_changed_in")
    st.session_state[f"{page}_changed_in"] = text
    if before not in (None, text) and not _named_in_address(*text) and any(change.places for change in held):
        held = changes.without_places(held)
        told.append(changes.PLACES_TAKEN_BACK)
    num_heads = trace.attention.weights.shape[1]
    sizes = [stack.weights.shape[2:] for stack in trace.stacks for _ in stack.weights]
    _, missing = fitting(changes.interventions(held), num_heads, sizes)
    if missing:
        held = tuple(change for change in held if not fitting(changes.interventions([change]), num_heads, sizes)[1])
    st.session_state[key(page, "changes")] = held
    return [*told, *missing]


def _named_in_address(model: str, text: str, pair: str | None) -> bool:
    """Tell whether text and changes came together, by a link or the browser's Back; a text just typed is not there yet."""
    asked_for = st.query_params
    texts = (asked_for.get("text"), asked_for.get("second"))
    return text in texts and (asked_for.get("pair") or None) == (pair or None) and asked_for.get("model", "embedded") == model


def change_bar(page: str, trace: "Trace", number: int) -> None:
    """Let the reader act on the heads and the token that are looked at in stack `number`."""
    stack = trace.stacks[number]
    first = sum(len(earlier.weights) for earlier in trace.stacks[:number])
    options = ViewOptions.of(page)
    heads = [(layer + first, head) for layer, head in options.heads]
    which = head_name(options.heads[0]) if len(heads) == 1 else f"these {len(heads)} heads"
    focused = _focused(stack, options)
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        with st.popover("Change something", icon=":material/science:"):
            _ask_heads(page, heads, which)
            _ask_token(page, stack, options, first)
            _ask_softmax(page, len(stack.weights), first)
            st.caption(CANNOT_TELL)
        _toggle(page, f"{which[0].lower()}{which[1:]}", "Switch off", "Switch on again", "off", heads)
        if focused and stack.kind == "self":
            label = " ".join(stack.key_tokens.tokens[place] for place in focused)
            wanted = [Change("hide", places=(place,)) for place in focused]
            _button(page, f"Hide “{label}”", "hide_focused", wanted, icon=":material/visibility_off:")


def chips(page: str, trace: "Trace") -> None:
    """List the active changes, each of which one click takes back, and a way to take back all.

    Their place is there while they are not: else the first one would move what follows, and an open popover would close.
    """
    active, names = asked(page), stack_names(trace)
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key=f"{page}_chips"):
        if not active:
            return
        st.markdown("**Changed:**")
        for change in active:
            st.button(
                as_typed(changes.in_words(change, names)), key=f"{page}_chip_{changes.write_changes([change])}",
                icon=":material/close:", help="Take this change back",
                on_click=_put, args=(page, changes.without(active, change)),
            )  # fmt: skip
        st.button("Reset", key=f"{page}_changes_reset", icon=":material/undo:", on_click=_put, args=(page, ()),
                  help="Take all changes back")  # fmt: skip
        if len(active) >= changes.MOST_CHANGES:
            st.caption(f"{changes.MOST_CHANGES} changes are the most at a time: take one back to make another.")


def _ask_heads(page: str, heads: Sequence[tuple[int, int]], which: str) -> None:
    st.markdown(f"**{which[0].upper()}{which[1:]}**")
    layers = sorted({layer for layer, _ in heads})
    with st.container(horizontal=True, gap="small"):
        named = [Change("even", *head) for head in heads]
        _button(page, "Make even", "even", named, help="Its queries look at every token alike.")
        if len(layers) == 1:
            _button(page, "Switch off its whole layer", "layer_off", [Change("off", layers[0])])
            _button(page, "Make its whole layer even", "layer_even", [Change("even", layers[0])])


def _ask_token(page: str, stack: "AttentionStack", options: ViewOptions, first: int) -> None:
    st.markdown("**A token, or a link between two**")
    keys, queries = stack.key_tokens.tokens, stack.query_tokens.tokens
    layer, head = options.heads[0]
    places = {"layer": (layer + first, None), "head": (layer + first, head)}
    names = {"all": "Everywhere", "layer": f"In layer {layer + 1}", "head": f"In layer {layer + 1}, head {head + 1}"}
    looked_at = st.selectbox(
        "Token that is looked at", range(len(keys)), key=_fitted(key(page, "change_key"), len(keys)),
        format_func=lambda place: f"{place + 1} {keys[place]}",
    )  # fmt: skip
    scope = st.selectbox("Where", list(names), key=key(page, "change_scope"), format_func=names.get)
    everywhere = {"self": ("hide", "cut"), "cross": ("hide",), "decoder": ()}[stack.kind]
    if scope == "all" and len(everywhere) < 2:
        st.caption("Within a decoder, and for links from it, choose a layer or a head.")
    at = places.get(scope, (None, None))
    if scope != "all" or "hide" in everywhere:
        _button(page, "Hide this token", "hide", [Change("hide", *at, places=(looked_at,))], icon=":material/visibility_off:")
    looking = st.selectbox(
        "Token that looks at it", range(len(queries)), key=_fitted(key(page, "change_query"), len(queries)),
        format_func=lambda place: f"{place + 1} {queries[place]}",
    )  # fmt: skip
    if scope != "all" or "cut" in everywhere:
        _button(page, "Cut this link", "cut", [Change("cut", *at, places=(looking, looked_at))], icon=":material/link_off:")


def _ask_softmax(page: str, layers: int, first: int) -> None:
    st.markdown("**How scores become weights**")
    options = [None, *range(first, first + layers)]
    name = key(page, "change_layer")
    if st.session_state.get(name) not in options:
        st.session_state[name] = None
    layer = st.selectbox(
        "Layers", options, key=name, format_func=lambda at: "All layers" if at is None else f"Layer {at - first + 1}"
    )
    active = {change.kind: change for change in asked(page) if change.of_softmax and change.layer == layer}
    heat, how = key(page, "change_temperature"), key(page, "change_normaliser")
    now = f"{active['temperature'].value:g}" if "temperature" in active else "1"
    st.session_state[heat] = now
    st.session_state[how] = next((kind for kind in ("sparse", "hard") if kind in active), "softmax")

    def take_temperature() -> None:
        _put(page, changes.added(asked(page), Change("temperature", layer, value=float(st.session_state[heat]))))

    def take_normaliser() -> None:
        kept = tuple(one for one in asked(page) if one.kind not in ("sparse", "hard") or one.layer != layer)
        chosen = st.session_state[how]
        _put(page, kept if chosen == "softmax" else changes.added(kept, Change(chosen, layer)))

    st.select_slider(
        "Temperature", sorted({*TEMPERATURES, now}, key=float), key=heat, on_change=take_temperature,
        help="Scores are divided by it: below 1 the largest takes more, above 1 all become alike.",
    )  # fmt: skip
    st.segmented_control(
        "Shares by", list(NORMALISERS), key=how, format_func=NORMALISERS.get, required=True, on_change=take_normaliser,
        help="Sparse: sparsemax, which gives most tokens exactly nothing. Hard: all to the best score.",
    )  # fmt: skip


def _toggle(page: str, which: str, act: str, undo: str, kind: Kind, heads: Sequence[tuple[int, int]]) -> None:
    """One button that makes a change of all chosen heads, or takes it back where it is made."""
    wanted = [Change(kind, *head) for head in heads]
    if set(wanted) <= set(asked(page)):
        kept = tuple(change for change in asked(page) if change not in wanted)
        st.button(f"{undo}: {which}", key=f"{page}_{kind}", icon=":material/toggle_on:", on_click=_put, args=(page, kept))
        return
    _button(page, f"{act} {which}", kind, wanted, icon=":material/toggle_off:")


def _button(
    page: str, label: str, name: str, wanted: Sequence[Change], *, icon: str | None = None, help: str | None = None
) -> None:
    """Offer changes in one click; there already, they cannot be made again."""
    active = asked(page)

    def make() -> None:
        found = asked(page)
        for change in wanted:
            found = changes.added(found, change)
        _put(page, found)

    made = set(wanted) <= set(active)
    st.button(as_typed(label), key=f"{page}_make_{name}", icon=icon, help=help, on_click=make, disabled=made)


def _put(page: str, found: Changes) -> None:
    st.session_state[key(page, "changes")] = found


def _fitted(name: str, size: int) -> str:
    if st.session_state.get(name, 0) >= size:
        st.session_state[name] = 0
    return name


def _focused(stack: "AttentionStack", options: ViewOptions) -> tuple[int, ...]:
    """Give the pieces that are focused: one, or those of its word where words are shown whole."""
    from tx_core.views import word_groups

    if options.focus is None:
        return ()
    if not options.words:
        return (options.focus,)
    return next(group for group in word_groups(stack.query_tokens) if options.focus in group)
