"""All heads of a run as a wall, the chosen ones as heatmap and lines, and the same in words and numbers."""

from functools import partial

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from pages.ui.canvas.attention_view import (
    ClassGuesses,
    Wall,
    attention_map,
    chosen_heads,
    focused_token,
    head_wall,
)
from pages.ui.canvas.head_table import describe_grammar
from pages.ui.canvas.packing import thumbnails
from pages.ui.panels import texts, view_options
from pages.ui.panels.head_map import HeadMap, StackView, stack_view
from pages.ui.panels.tokens import escape_markdown
from pages.ui.shell import cache, controls
from pages.ui.shell.address import CLASS_GUESSES, is_offered, widget_key
from pages.ui.shell.controls import view_changed
from pages.ui.shell.level import is_hidden
from tx_core.analysis import sentences, views
from tx_core.analysis.views import View
from tx_core.transformer.trace import AttentionStack


def attention_panel(page: str, stack: AttentionStack, identity: tuple) -> HeadMap:
    """Draw one stack, to be explored; return the map that is shown. `identity` names the run, its model first.

    Nothing that a click adds stands above what was clicked: the page never moves under its reader.
    The page's options (view_options) must stand in the session, with heads that the stack has. Call it in a fragment: a
    click on the wall then runs only this.
    """
    rail, stage = _rail_and_stage(page)
    with rail:
        panel = stack_view(page, stack, identity)
        draw_wall(panel)
        choose_head(panel)
        choose_options(panel)
    with stage:
        draw_map(panel)
    return panel.shown


def _rail_and_stage(page: str) -> tuple[DeltaGenerator, DeltaGenerator]:
    with st.container(key=widget_key(page, "wall_and_map")):  # assets/page.css sets the two side by side
        return st.container(key=widget_key(page, "rail")), st.container(key=widget_key(page, "stage"))


def has_wall() -> bool:
    """Return whether the thumbnails of all heads are drawn: neither folded nor left out."""
    return is_offered("heads") and not is_hidden("wall")


def draw_wall(panel: StackView) -> None:
    """Draw the thumbnails of all heads, if they are to be drawn."""
    if has_wall():
        _wall(panel)


def choose_head(panel: StackView) -> None:
    """Draw the choice of a head by name."""
    changed = partial(view_changed, panel.page)
    controls.layer_and_heads(widget_key(panel.page, "heads"), *panel.sizes, on_change=changed)
    if not is_offered("heads"):
        st.empty()  # a part may write only where it wrote when the whole page ran


def choose_options(panel: StackView) -> None:
    """Ask how attention is drawn; where the wall is folded, offer it as one more way to choose a head."""
    view_options.ask_view(panel.page)
    if has_wall() or not is_offered("heads"):
        return
    layers, heads = panel.sizes
    folded = st.expander(
        texts.CHOOSE_ON_WALL.format(heads=layers * heads), key=widget_key(panel.page, "wall_opened"), on_change="rerun"
    )
    if folded.open:
        with folded:
            st.caption(texts.WALL_CAPTION.format(layers=layers, heads=heads))
            _wall(panel)


def _wall(panel: StackView) -> None:
    page, view, options = panel.page, panel.shown.view, panel.options
    name = widget_key(page, "wall")

    def take_heads() -> None:
        if heads := chosen_heads(name, *panel.sizes):
            st.session_state[widget_key(page, "heads")] = heads
            view_changed(page)

    small = cache.get_or_compute(("wall", *panel.identity), lambda: thumbnails(view.weights))
    head_wall(
        small,
        options.heads,
        scale=options.scale,
        key=name,
        on_choose=take_heads,
        maps_path=panel.maps_path,
        guesses=class_guesses(page),
    )


def draw_map(panel: StackView) -> None:
    """Draw the map of the chosen heads; describe it below."""
    page, shown, options = panel.page, panel.shown, panel.options
    name = widget_key(page, "map")
    st.text(shown.description)
    attention_map(
        shown.queries,
        shown.keys,
        shown.weights,
        alt=shown.description,
        scale=options.scale,
        strongest=options.lines,
        show=options.show,
        focus=shown.view.row_of(options.focus),
        key=name,
        on_focus=lambda: _store_focus(page, name, shown.view),
        wall=Wall(widget_key(page, "wall"), options.heads, panel.maps_path),
        guesses=_guesses_on_map(page, shown.view),
    )
    st.caption(_small_print(panel))


def _store_focus(page: str, key: str, view: View) -> None:
    """Store the token that the reader focused in the map `key`, as a position in the text."""
    row = focused_token(key, len(view.queries))
    st.session_state[widget_key(page, "focus")] = None if row is None else view.query_places[row][0]
    view_changed(page)


def class_guesses(page: str) -> ClassGuesses | None:
    """Return a class's guesses about the sentence and model on the page; None where there are none for it."""
    guesses = st.session_state.get(CLASS_GUESSES)
    asked_of = [st.session_state.get(widget_key(page, name)) for name in ("model", "text")]
    return guesses if guesses is not None and asked_of == [guesses.model, guesses.text] else None


def _guesses_on_map(page: str, view: View) -> dict[str, object] | None:
    guesses = class_guesses(page) if view.kind == "self" else None
    return guesses and guesses.on_map(sentences.distinct_names(view.keys), view.key_special)


def _small_print(panel: StackView) -> str:
    shown, options, details = panel.shown, panel.options, not is_hidden("details")
    view, weights, heads = shown.view, shown.weights, shown.heads
    notes = [] if details else [texts.HOW_TO_READ]
    if details and view.kind == "self" and not view.hides_special:
        notes.append(sentences.describe_average(weights, view.key_special))
    if details and view.kind == "self" and len(heads) == 1:
        notes.append(describe_grammar(panel.identity[0], heads[0]))
    if marks := dict.fromkeys(token for token, special in zip(view.keys, view.key_special, strict=True) if special):
        notes.append(texts.SPECIAL_TOKENS.format(tokens=escape_markdown(", ".join(marks))))
    if options.hide and not view.hides_special:
        notes.append(texts.NOTHING_HIDDEN)
    if view.hides_special:
        share = float(views.mean_of_heads(view.hidden_share, list(heads)).mean())
        notes.append(texts.SPECIAL_HIDDEN.format(share=share))
    if options.words:
        notes.append(texts.HOW_MERGED)
    return " ".join([*notes, texts.NOT_AN_EXPLANATION])
