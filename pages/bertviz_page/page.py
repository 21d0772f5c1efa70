"""How does bertviz draw it? The three views of the well-known tool, on the same run as all other pages."""

import streamlit as st

from pages.ui.shell.frame import open_page

PAGE = "bertviz_page"
badge = open_page(PAGE)

# The title is on its way: what follows imports torch.
from pages.bertviz_page import texts, views
from pages.bertviz_page.frame import bertviz_export, show_view
from pages.ui.export.menu import export_menu
from pages.ui.export.texts import TITLE_WITH_WEB_PAGE
from pages.ui.panels.texts import SECOND_SENTENCE, STACK_LABELS
from pages.ui.panels.tokens import SPECIAL_FIELD, ask_special_tokens, note_special_tokens, warn_of_unknown
from pages.ui.shell import cache, controls
from pages.ui.shell.address import (
    Field,
    choice_field,
    read_view,
    restore_hidden_fields,
    text_field,
    widget_binding,
    widget_key,
    write_view,
)
from pages.ui.shell.controls import engine_of
from pages.ui.shell.frame import explain, page_links, share_link, show_engine
from pages.ui.shell.level import offered_options
from pages.ui.shell.metrics import page_run
from tx_core.engine.engine import with_special_tokens
from tx_core.errors import CheckpointProblem, ExplorerError, ModelUnavailable

FIELDS = (
    text_field("text", texts.FIRST_TEXT),
    text_field("pair"),
    Field("model", "embedded", controls.read_model),
    SPECIAL_FIELD,
    choice_field("picture", tuple(texts.VIEWS)),
    choice_field("stack", tuple(STACK_LABELS)),
    *views.FIELDS,
)


def forget_token() -> None:
    """Clear the chosen token: positions change with the text."""
    st.session_state[widget_key(PAGE, "token")] = 0


@st.fragment
@page_run(PAGE)
def show(model: str, special: bool, text: str, pair: str) -> None:
    """Show the chosen view; a click in here reruns only this."""
    restore_hidden_fields(PAGE, FIELDS)
    st.segmented_control(
        texts.ASK_VIEW,
        offered_options("picture", list(texts.VIEWS), st.session_state[widget_key(PAGE, "picture")]),
        format_func=texts.VIEWS.get,
        required=True,
        **widget_binding(widget_key(PAGE, "picture")),
    )
    view = st.session_state[widget_key(PAGE, "picture")]
    st.markdown(texts.DESCRIPTIONS[view])
    try:
        keep = ("weights", "query", "key", "scores") if view == "neuron" else ("weights",)
        trace = cache.trace_with(cache.engine(model, special_tokens=special), text, pair, keep=keep)
        drawing = show_view(PAGE, view, trace)
        export_menu(PAGE, {texts.VIEWS[view]: lambda: bertviz_export(trace, view, drawing)}, TITLE_WITH_WEB_PAGE)
    except ExplorerError as error:
        explain(error)
    end_page(text, pair)


def end_page(text: str, pair: str) -> None:
    """Put the view into the address, and offer its link and other pages."""
    write_view(PAGE, FIELDS, {})
    page_links(text, pair, "attention", "self_attention", "heads_and_blocks")
    share_link()


read_view(PAGE, FIELDS, {})
first, second, third = controls.offered_columns({"text": 5, "pair": 4, "model": 3})
with first:
    text = controls.sentence(widget_key(PAGE, "text"), on_change=forget_token)
with second:
    pair = controls.sentence(widget_key(PAGE, "pair"), SECOND_SENTENCE, on_change=forget_token)
with third:
    model = controls.model(widget_key(PAGE, "model"))
try:
    with st.container(horizontal=True, vertical_alignment="center", gap="medium"):
        special = ask_special_tokens(PAGE, forget_token)
        counted = st.empty()
    with controls.wait_for(model):
        engine = with_special_tokens(engine_of(badge, model), special)
    show_engine(badge, engine.title, engine.device)
    counted.caption(controls.budget(engine, text, pair), width="content")
    note_special_tokens(engine, special, pair)
    warn_of_unknown([engine.encode(text, pair or None)], model, widget_key(PAGE, "model"))
except ExplorerError as error:
    explain(error)
    if isinstance(error, ModelUnavailable | CheckpointProblem):
        controls.offer_default_model(widget_key(PAGE, "model"))
    end_page(text, pair)
else:
    show(model, special, text, pair)
