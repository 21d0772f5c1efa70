"""A page in parts: one sentence or two, a choice of parts, and the chosen part drawn with the embedded model, or another."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import streamlit as st

from pages.ui.panels.attention_table import warn_of_unknown_in
from pages.ui.shell import cache, controls
from pages.ui.shell.address import Field, read_view, tell_not_understood, widget_binding, widget_key, write_view
from pages.ui.shell.frame import engine_of, explain, open_page, share_link, show_engine, ways_on
from pages.ui.shell.live import live
from tx_core.errors import CheckpointProblem, ExplorerError, ModelUnavailable

if TYPE_CHECKING:  # the core imports torch: the title is painted without it
    from tx_core.engine.engine import Engine

MODEL = "embedded"

Draw = Callable[[str, "Engine", str, str], None]
"""Draws a part from the page's key, the engine, the sentence and the second sentence."""
Tell = Callable[["Engine"], None]
"""Writes what stands above a part and follows no control of it: its text, equations and code."""


@dataclass(frozen=True)
class PartsPage:
    """What makes such a page its own.

    fields: with text, pair and part among them, and model where the reader may choose one. parts: their titles, in order.
    drawings: gives how each part is drawn, importing what that takes only when asked. ways: the pages that it leads to.
    on_part: runs when another part is chosen. texts: gives what stands above each part, in the same manner.
    """

    page: str
    fields: Sequence[Field]
    parts: Mapping[str, str]
    drawings: Callable[[], Mapping[str, Draw]]
    ways: tuple[str, ...]
    on_part: Callable[[], None] | None = None
    texts: Callable[[], Mapping[str, Tell]] = dict


def parts_page(view: PartsPage) -> None:
    """Show the whole page, from its question to its link."""
    badge = open_page(view.page)
    read_view(view.page, view.fields, {})
    tell_not_understood(view.page)
    chooses_model = any(field.name == "model" for field in view.fields)
    first, second, *third = st.columns([5, 4, 3] if chooses_model else [3, 2])
    with first:
        text = controls.sentence(widget_key(view.page, "text"))
    with second:
        pair = controls.sentence(widget_key(view.page, "pair"), "Second sentence (optional)")
    model = MODEL
    if chooses_model:
        with third[0]:
            model = controls.model(widget_key(view.page, "model"))
    part = st.segmented_control(
        "Part",
        list(view.parts),
        format_func=view.parts.get,
        required=True,
        label_visibility="collapsed",
        **widget_binding(widget_key(view.page, "part"), view.on_part),
    )
    try:
        with controls.wait_for(model):
            engine = engine_of(badge, model)
        show_engine(badge, engine.title, engine.device)
    except ExplorerError as problem:
        explain(problem)
        if chooses_model and isinstance(problem, ModelUnavailable | CheckpointProblem):
            controls.offer_default_model(widget_key(view.page, "model"))
    else:
        warn_of_unknown_in(engine, text, pair=pair)
        if part in (texts := view.texts()):
            texts[part](engine)
        live(view.page, view.fields, _look, view, part, model, text, pair)
    write_view(view.page, view.fields, {})
    ways_on(text, pair, *view.ways)
    share_link()


def _look(view: PartsPage, part: str, model: str, text: str, pair: str) -> None:
    view.drawings()[part](view.page, cache.engine(model), text, pair)
