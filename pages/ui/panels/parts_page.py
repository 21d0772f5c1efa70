"""A page in parts: one sentence or two, a choice of parts, and the chosen part drawn with the embedded model, or another."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from pages.ui.panels import texts
from pages.ui.panels.tokens import SPECIAL_FIELD, ask_special_tokens, note_special_tokens, warn_of_unknown_in
from pages.ui.shell import cache, controls
from pages.ui.shell.address import Field, read_view, widget_key, write_view
from pages.ui.shell.controls import engine_of, live
from pages.ui.shell.frame import ask_part, explain, page_links, share_link, show_engine
from tx_core.engine.engine import Engine, with_special_tokens
from tx_core.errors import CheckpointProblem, ExplorerError, ModelUnavailable

MODEL = "embedded"


@dataclass(frozen=True)
class Part:
    """One part of a page.

    Attributes:
        title: what its button says.
        draw: draws it from the page's key, the engine, the sentence and the second sentence; runs again with its controls.
        introduce: writes what stands above it and follows no control of it: its text, equations and code.
    """

    title: str
    draw: Callable[[str, Engine, str, str], None]
    introduce: Callable[[Engine], None] | None = None


@dataclass(frozen=True)
class PartsPage:
    """What makes such a page its own.

    Attributes:
        page: its key.
        fields: what its address holds, with text, pair and part among them, model where the reader may choose one, and
            SPECIAL_FIELD where special tokens may be left out.
        parts: by the names that the address gives them, in the order of their buttons.
        ways: the keys of the pages that it leads to.
        on_part: runs when another part is chosen.
        families: where given, the reader chooses among models of these.
        engine: the class of the engines that its parts can ask; by default any.
        on_reading: runs when special tokens are left out or added again.
        close: writes what stands below every part.
        weights: whether its parts compute with the model's weights themselves.
    """

    page: str
    fields: Sequence[Field]
    parts: Mapping[str, Part]
    ways: tuple[str, ...]
    on_part: Callable[[], None] | None = None
    families: tuple[str, ...] = ()
    engine: type = object
    on_reading: Callable[[], None] | None = None
    close: Callable[[Engine], None] | None = None
    weights: bool = True


def _ask_inputs(view: PartsPage, chooses_model: bool) -> tuple[str, str, str, bool]:
    """Ask for both sentences, for a model where the page has a choice, and whether special tokens are added."""
    widths = {"text": 5, "pair": 4, "model": 3} if chooses_model else {"text": 3, "pair": 2}
    first, second, *third = controls.offered_columns(widths)
    with first:
        text = controls.sentence(widget_key(view.page, "text"))
        special = ask_special_tokens(view.page, view.on_reading) if SPECIAL_FIELD in view.fields else True
    with second:
        pair = controls.sentence(widget_key(view.page, "pair"), texts.SECOND_SENTENCE)
    if not chooses_model:
        return text, pair, MODEL, special
    with third[0]:
        return text, pair, controls.model(widget_key(view.page, "model"), view.families), special


def parts_page(view: PartsPage, badge: DeltaGenerator) -> None:
    """Show the whole page below its title, down to its link. badge: where `open_page` names the engine."""
    read_view(view.page, view.fields, {})
    chooses_model = any(field.name == "model" for field in view.fields)
    text, pair, model, special = _ask_inputs(view, chooses_model)
    part = ask_part(view.page, texts.PART, {name: part.title for name, part in view.parts.items()}, view.on_part)
    try:
        with controls.wait_for(model):
            engine = with_special_tokens(engine_of(badge, model, weights=view.weights), special)
        if not isinstance(engine, view.engine):
            raise ModelUnavailable(texts.NEEDS_OWN_BERT.format(model=engine.title))
        show_engine(badge, engine.title, engine.device)
    except ExplorerError as problem:
        explain(problem)
        if chooses_model and isinstance(problem, ModelUnavailable | CheckpointProblem):
            controls.offer_default_model(widget_key(view.page, "model"))
    else:
        note_special_tokens(engine, special, pair)
        warn_of_unknown_in(engine, text, pair=pair, key=widget_key(view.page, "model") if chooses_model else "")
        if introduce := view.parts[part].introduce:
            introduce(engine)
        live(view.page, view.fields, _draw, view, part, model, special, text, pair)
        if view.close:
            view.close(engine)
    write_view(view.page, view.fields, {})
    page_links(text, pair, *view.ways)
    share_link()


def explain_built_in() -> None:
    """Explain why a page computes with the built-in model only, and which pages take others."""
    info = cache.engine(MODEL).info
    st.caption(texts.BUILT_IN_ONLY.format(size=info.hidden_size, width=info.hidden_size // info.num_heads))


def _draw(view: PartsPage, part: str, model: str, special: bool, text: str, pair: str) -> None:
    engine = cache.engine(model, special_tokens=special, weights=view.weights)
    view.parts[part].draw(view.page, engine, text, pair)
