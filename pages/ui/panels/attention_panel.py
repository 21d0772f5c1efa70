"""All heads of a run as a wall, the chosen ones as heatmap and lines, and the same in words and numbers."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import streamlit as st
from jaxtyping import Float

from pages.ui.canvas import maps_at_hand
from pages.ui.canvas.attention_view import Wall, attention_map, chosen_heads, focused_token, head_wall
from pages.ui.canvas.packing import thumbnails
from pages.ui.panels import view_options
from pages.ui.panels.attention_change import show_change
from pages.ui.panels.view_options import ViewOptions
from pages.ui.panels.word_pills import as_typed
from pages.ui.shell import cache, controls
from pages.ui.shell.address import widget_key

if TYPE_CHECKING:  # the core imports torch: only a page that computes waits for it
    from tx_core.analysis.views import View
    from tx_core.transformer.trace import AttentionStack

HOW_MERGED = (
    "Whole words: attention to a word is the sum over its pieces, attention from a word the mean over its pieces "
    "(Clark et al. 2019)."
)

NO_EXPLANATION = "Attention is not an explanation: a weight tells what is mixed in, not what decided."

NOTHING_ELSE = "Nothing is hidden: one side consists of special tokens only, and without them there would be nothing to see."


@dataclass(frozen=True)
class Shown:
    """What stands on the screen: the weights of one head, or the mean of several, with the view that they are of.

    heads: (layer, head), counted from 0. told: the picture in a sentence. before: the same of the run without the
    reader's changes, where both are shown.
    """

    view: "View"
    heads: tuple[controls.Head, ...]
    weights: Float[np.ndarray, "query key"]
    told: str
    before: Float[np.ndarray, "query key"] | None = None

    @property
    def queries(self) -> tuple[str, ...]:
        """The tokens that look."""
        return self.view.queries

    @property
    def keys(self) -> tuple[str, ...]:
        """The tokens that are looked at."""
        return self.view.keys


def attention_panel(
    page: str,
    stack: "AttentionStack",
    identity: tuple,
    unchanged: "AttentionStack | None" = None,
    act: Callable[[], None] | None = None,
) -> Shown:
    """Let the reader explore one stack; give what is shown in the end. `identity` names the run in the cache.

    unchanged: the same stack of the run without the reader's changes, to show both and the difference.
    act: draws what the reader can do with the chosen heads, under their names.
    The page's options (view_options) must stand in the session, with heads that the stack has. Call it in a fragment: a
    click on the wall then runs only this.
    """
    from tx_core.analysis import views

    options = ViewOptions.of(page)
    identity = (*identity, stack.kind, options.words, options.hide)
    view = prepared_view(stack, identity, options)
    heads, before = list(options.heads), None
    weights = views.mean_of_heads(view.weights, heads)
    with st.container(key=widget_key(page, "wall_and_map")):  # assets/page.css sets its second part beside the others
        at_hand = maps_at_hand.offer(identity, view.weights) if unchanged is None else None
        _wall(page, view, identity, options, at_hand)
        with st.container():
            if unchanged is None:
                told = _map(page, view, weights, options, at_hand)
                st.caption(_small_print(view, weights, heads, options))
            else:
                plain = prepared_view(unchanged, (*identity, "unchanged"), options)
                before = views.mean_of_heads(plain.weights, heads)
                told = show_change(page, plain, view, heads, options)
        controls.layer_and_heads(widget_key(page, "heads"), *view.weights.shape[:2])
        if act is not None:
            act()
        view_options.ask_view(page)
    return Shown(view, tuple(heads), weights, told, before)


def prepared_view(stack: "AttentionStack", identity: tuple, options: ViewOptions) -> "View":
    """Give the view that the reader asked for, from the cache where it has weights of its own.

    Without options it shows the run's own array: that costs nothing to make, and kept a second time it would
    count twice, so that a long text's run and its view pushed each other out.
    """
    from tx_core.analysis import views

    if not (options.words or options.hide):
        return views.view(stack)
    return cache.remember(("view", *identity), lambda: views.view(stack, merge_words=options.words, hide_special=options.hide))


def _wall(page: str, view: "View", identity: tuple, options: ViewOptions, at_hand: str | None) -> None:
    num_layers, num_heads = view.weights.shape[:2]
    name = widget_key(page, "wall")

    def take_heads() -> None:
        if heads := chosen_heads(name, num_layers, num_heads):
            st.session_state[widget_key(page, "heads")] = heads

    small = cache.remember(("wall", *identity), lambda: thumbnails(view.weights))
    head_wall(small, options.heads, scale=options.scale, key=name, on_choose=take_heads, at_hand=at_hand)


def _map(page: str, view: "View", weights: Float[np.ndarray, "query key"], options: ViewOptions, at_hand: str | None) -> str:
    heads = options.heads
    name, focus = widget_key(page, "map"), view.row_of(options.focus)
    which = controls.head_name(heads[0]) if len(heads) == 1 else f"Mean of {len(heads)} heads"
    told = f"{which}. {_told(view, weights, focus)}"
    st.text(told)

    def take_focus() -> None:
        row = focused_token(name, len(view.queries))
        st.session_state[widget_key(page, "focus")] = None if row is None else view.query_places[row][0]

    attention_map(
        view.queries,
        view.keys,
        weights,
        label=told,
        scale=options.scale,
        strongest=options.lines,
        show=options.show,
        focus=focus,
        key=name,
        on_focus=take_focus,
        wall=Wall(widget_key(page, "wall"), heads, at_hand),
    )
    return told


def _told(view: "View", weights: Float[np.ndarray, "query key"], focus: int | None) -> str:
    from tx_core.analysis import sentences

    if focus is not None:
        return sentences.where_one_looks(weights, view.queries, view.keys, focus, rescaled=view.hides_special)
    return sentences.strongest_link(
        weights, view.queries, view.keys, view.query_special, view.key_special, rescaled=view.hides_special
    )


def _small_print(
    view: "View", weights: Float[np.ndarray, "query key"], heads: Sequence[controls.Head], options: ViewOptions
) -> str:
    from tx_core.analysis import sentences, views

    notes = []
    if view.kind == "self" and not view.hides_special:
        notes.append(sentences.where_it_goes(weights, view.key_special))
    if marks := dict.fromkeys(token for token, special in zip(view.keys, view.key_special, strict=True) if special):
        notes.append(f"Special tokens ({as_typed(', '.join(marks))}) are marks of the model's own, not words of the text.")
    if options.hide and not view.hides_special:
        notes.append(NOTHING_ELSE)
    if view.hides_special:
        hidden = float(views.mean_of_heads(view.hidden_share, heads).mean())
        notes.append(
            f"Special tokens are hidden. They took {hidden:.2f} of the attention on average; "
            "what is left of each row was scaled to sum to 1 again."
        )
    merged = [HOW_MERGED] if options.words else []
    return " ".join([*notes, *merged, NO_EXPLANATION])
