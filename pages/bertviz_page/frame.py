"""One of bertviz's views in its frame: which attentions and layers it gets, and what is said of what is left out."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import streamlit as st

from pages.bertviz_page import choice as bertviz_choice
from pages.bertviz_page.choice import Extent
from pages.ui.canvas.framed import framed_choice, is_published, publish, show_framed
from pages.ui.panels import view_options
from pages.ui.shell.address import widget_binding, widget_key
from tx_core.errors import TextProblem

if TYPE_CHECKING:  # the core imports torch: only a page that computes waits for it
    from tx_core.transformer.trace import AttentionStack, Trace

MAX_REMEMBERED_VIEWS = 12
"""Drawings that a visitor's session finds again without drawing anew."""


@dataclass(frozen=True)
class ViewOfBertviz:
    """The name of a view, and what a reader sees and does in it."""

    name: str
    told: str


VIEWS = {
    "head": ViewOfBertviz(
        "Head view",
        (
            "All heads of a layer at once, a colour each: a line is the stronger the more the left token looks at the right one. "
            "Point at a token to follow it; click a colour to switch a head off, twice to see it alone."
        ),
    ),
    "model": ViewOfBertviz(
        "Model view",
        ("A small picture for every head, a row for each layer: look for patterns that repeat. Click one to enlarge it."),
    ),
    "neuron": ViewOfBertviz(
        "Neuron view",
        (
            "How one head comes by its weights: point at a token and click its +, and see its query, the keys of all tokens, and "
            "their products dimension by dimension (blue: above zero, orange: below)."
        ),
    ),
}


@dataclass(frozen=True)
class Drawn:
    """What a drawing shows: its attentions, the chosen layer, from 0, whether it holds that layer alone, and the choice."""

    stacks: "tuple[AttentionStack, ...]"
    layer: int
    alone: bool
    choice: str = ""


def drawing(page: str, view: str, trace: "Trace") -> Drawn:
    """Ask for what the view needs, and draw it; raise TextProblem where that would be too much for a browser."""
    from pages.bertviz_page.sizes import one_layer_only

    stacks = _stacks(page, view, trace)
    layers = len(stacks[0].weights)
    alone = one_layer_only(view, stacks)
    name = widget_key(page, "layer")
    if st.session_state[name] > layers:
        st.info(f"There are {layers} layers here: the last one is shown instead of layer {st.session_state[name]:,}.")
        st.session_state[name] = layers
    if alone:
        st.info(f"All {layers} layers at once would be too heavy for a browser at this length: one at a time is drawn.")
        st.selectbox("Layer", range(1, layers + 1), width=160, **widget_binding(name))
    st.caption("The picture is bertviz's own and counts layers and heads from 0, the rest of this app from 1.")
    layer = st.session_state[name] - 1
    only = layer if alone else None
    word = _published(page, view, trace, stacks, only)
    choice = _show(page, view, word, len(trace.attention.query_tokens), Extent.of(stacks, only))
    return Drawn(tuple(stacks), layer, alone, choice)


def _stacks(page: str, view: str, trace: "Trace") -> list["AttentionStack"]:
    """Give all attentions where bertviz takes them together; else let the reader choose one."""
    counts = {len(stack.weights) for stack in trace.stacks}
    if len(trace.stacks) > 1 and view != "neuron" and len(counts) == 1:
        return list(trace.stacks)
    fitting = [stack for stack in trace.stacks if view != "neuron" or stack.kind != "cross"]
    if len(fitting) < len(trace.stacks):
        st.caption("The neuron view draws attention within one text: from the decoder to the text it has no picture.")
    return [fitting[view_options.ask_stack(page, [stack.kind for stack in fitting])]]


def _published(page: str, view: str, trace: "Trace", stacks: list["AttentionStack"], only: int | None) -> str:
    """Publish the drawing, or find it still published; give its word. only: the one layer that it holds, None for all."""
    dark = st.context.theme.type == "dark"
    source = trace.attention.query_tokens
    kinds = tuple(stack.kind for stack in stacks)
    identity = (trace.model, trace.device, source.text, source.pair, view, kinds, only, dark)
    known: dict[tuple, str] = st.session_state.setdefault(f"{page}_drawn", {})
    if (word := known.get(identity)) is None or not is_published(word):
        from pages.bertviz_page.views import draw

        document = draw(view, stacks, None if only is None else [only], dark=dark)
        try:
            known[identity] = publish(document, word)  # under the same word: a frame that shows it stays as it is
        except ValueError as full:
            raise TextProblem("This drawing is too large to be kept: shorten the text.") from full
        while len(known) > MAX_REMEMBERED_VIEWS:
            known.pop(next(iter(known)))
    return known[identity]


def _show(page: str, view: str, word: str, tokens: int, extent: Extent) -> str:
    """Show the drawing with what is chosen in it, which the reader may change there; give the choice."""
    name = widget_key(page, "frame")

    def take_choice() -> None:
        chosen = bertviz_choice.read_choice(view, framed_choice(name), extent) or {}
        st.session_state.update({widget_key(page, field): value for field, value in chosen.items()})

    held = {field.name: st.session_state[widget_key(page, field.name)] for field in bertviz_choice.FIELDS}
    choice = bertviz_choice.choice_line(view, held, extent)
    show_framed(word, f"bertviz: {VIEWS[view].name.lower()} of {tokens} tokens", key=name, choice=choice, on_choose=take_choice)
    return choice
