"""How a reader looks at attention: which heads, what is merged, hidden, focused and drawn. One set for each page that asks."""

from collections.abc import Sequence
from dataclasses import dataclass

import streamlit as st

from pages.ui.canvas.attention_view import SCALES, Head, heads_from_link, heads_to_link, token_from_link, token_to_link
from pages.ui.shell import controls
from pages.ui.shell.address import Field, choice_field, flag_field, number_field, widget_binding, widget_key
from pages.ui.shell.lazy_popover import lazy_popover

MAX_LAYERS_OR_HEADS = 1000
MAX_LINKED_TOKENS = 100_000
MAX_DRAWN_LINES = 200
SHOWN = {"both": "Both", "heatmap": "Heatmap", "lines": "Lines"}
STACKS = {
    "self": "Within the text",
    "decoder": "Within what the decoder reads",
    "cross": "From the decoder to the text",
}


@dataclass(frozen=True)
class ViewOptions:
    """What a page remembers of the way its reader looks: heads are (layer, head) from 0, focus is a piece's place."""

    stack: str
    heads: tuple[Head, ...]
    words: bool
    hide: bool
    show: str
    lines: int
    scale: str
    focus: int | None

    @classmethod
    def of(cls, page: str) -> "ViewOptions":
        """Read the options of a page from its session, before or after their widgets are drawn."""
        held = {name: st.session_state[widget_key(page, name)] for name in cls.__dataclass_fields__}
        return cls(**held | {"heads": tuple(held["heads"])})


def view_fields(heads: Sequence[Head]) -> tuple[Field, ...]:
    """Describe how options stand in an address; the heads of the first visit are the page's own."""
    return (
        choice_field("stack", tuple(STACKS)),
        Field("heads", list(heads), read_heads, heads_to_link),
        flag_field("words"),
        flag_field("hide"),
        choice_field("show", tuple(SHOWN)),
        number_field("lines", 40, 1, MAX_DRAWN_LINES),
        choice_field("scale", SCALES),
        Field("focus", None, read_focus, token_to_link),
    )


def read_heads(written: str) -> list[Head]:
    """Read heads as a link names them; ValueError where none is named. The model may still lack them."""
    heads = heads_from_link(written, MAX_LAYERS_OR_HEADS, MAX_LAYERS_OR_HEADS)
    if heads_to_link(heads) != written or not heads:
        raise ValueError("heads must be written like 4-5 or 1-2_1-3")
    return heads


def read_focus(written: str) -> int:
    """Read the place of the focused piece; ValueError for anything else. The text may still be shorter."""
    place = token_from_link(written, MAX_LINKED_TOKENS)
    if place is None:
        raise ValueError("focus must be the place of a token, counted from 1")
    return place


def ask_stack(page: str, kinds: Sequence[str]) -> int:
    """Let the reader choose among the attentions of a model that has several; give the number of the chosen one."""
    name = widget_key(page, "stack")
    if st.session_state[name] not in kinds:
        st.session_state[name] = kinds[0]
    if len(kinds) > 1:
        st.segmented_control("Attention", kinds, format_func=STACKS.get, required=True, **widget_binding(name))
    return kinds.index(st.session_state[name])


def drop_missing(page: str, num_layers: int, num_heads: int, num_tokens: int) -> list[str]:
    """Let go of heads and of a focus that this run does not have; say so in one sentence each."""
    told = []
    if not controls.keep_existing_heads(widget_key(page, "heads"), num_layers, num_heads):
        told.append(f"This model has {num_layers} layers of {num_heads} heads: heads beyond that are left out.")
    place = st.session_state[widget_key(page, "focus")]
    if place is not None and place >= num_tokens:
        st.session_state[widget_key(page, "focus")] = None
        told.append(f"This text has {num_tokens} tokens: there is no token {place + 1:,} to focus.")
    return told


def ask_view(page: str) -> None:
    """Let the reader merge pieces and hide special tokens; what is drawn, and how, opens beside that."""
    with st.container(horizontal=True, vertical_alignment="center"):
        st.toggle(
            "Whole words",
            **widget_binding(widget_key(page, "words")),
            help="Show words instead of the pieces that the model reads.",
        )
        st.toggle("Hide special tokens", **widget_binding(widget_key(page, "hide")), help="Leave out [CLS], [SEP] and the like.")
        _ask_drawing(page)


def _ask_drawing(page: str) -> None:
    """Let the reader choose what is drawn, how many lines, and in which colours."""
    opened = lazy_popover("Lines and colours", icon=":material/tune:", key=widget_key(page, "drawing_opened"), height=260)
    if opened is None:
        return
    with opened:
        st.segmented_control(
            "Show", list(SHOWN), format_func=SHOWN.get, required=True, **widget_binding(widget_key(page, "show"))
        )
        st.slider("Strongest links drawn as lines", 1, MAX_DRAWN_LINES, **widget_binding(widget_key(page, "lines")))
        st.selectbox(
            "Colours",
            SCALES,
            format_func=str.capitalize,
            **widget_binding(widget_key(page, "scale")),
            help="All four can be told apart with any kind of colour vision.",
        )
