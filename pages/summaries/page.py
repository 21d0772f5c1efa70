"""What do all the heads do? A sentence summed up: heads by kind, attention through the layers, and its limits."""

import streamlit as st

from pages.ui.shell.frame import open_page

PAGE = "summaries"
badge = open_page(PAGE)

# The title is on its way: what follows takes longer to import.
from pages.summaries.attribution import TOP_K
from pages.summaries.parts import PARTS
from pages.summaries.texts import COLOURS, FIRST_TEXT
from pages.ui.canvas.attention_view import heads_to_link, token_to_link
from pages.ui.panels import view_options
from pages.ui.panels.parts_page import PartsPage, parts_page
from pages.ui.panels.tokens import SPECIAL_FIELD
from pages.ui.shell import controls
from pages.ui.shell.address import Field, choice_field, number_field, text_field, widget_key

FIELDS = (
    text_field("text", FIRST_TEXT),
    text_field("pair"),
    Field("model", "embedded", controls.read_model),
    SPECIAL_FIELD,
    choice_field("part", tuple(PARTS)),
    choice_field("colour", tuple(COLOURS)),
    Field("heads", [(0, 1)], view_options.read_heads, heads_to_link),
    Field("token", None, view_options.read_focus, token_to_link),
    number_field("rank", 1, 1, TOP_K),
)
WAYS = ("attention", "fill_mask", "heads_and_blocks")


def forget_token() -> None:
    """The chosen token has another position."""
    st.session_state[widget_key(PAGE, "token")] = None


parts_page(PartsPage(PAGE, FIELDS, PARTS, WAYS, on_reading=forget_token, weights=False), badge)
