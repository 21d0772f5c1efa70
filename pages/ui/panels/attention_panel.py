"""All heads of a run as a wall, the chosen ones as heatmap and lines, and the same in words and numbers.

Below them, what the reader's changes do to attention: before, after and the difference, and the heads that moved most.
"""

import csv
import io
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import streamlit as st
from jaxtyping import Float

from pages import contents
from pages.ui.canvas import prefetch
from pages.ui.canvas.attention_view import (
    ClassGuesses,
    Wall,
    attention_map,
    before_after,
    chosen_heads,
    focused_token,
    head_wall,
    heads_to_link,
)
from pages.ui.canvas.head_table import describe_grammar
from pages.ui.canvas.packing import thumbnails
from pages.ui.panels import texts, view_options
from pages.ui.panels.changes import active_changes
from pages.ui.panels.tokens import escape_markdown, numbered_tokens
from pages.ui.panels.view_options import ViewOptions
from pages.ui.shell import cache, controls
from pages.ui.shell.address import CLASS_GUESSES, is_offered, widget_key
from pages.ui.shell.controls import download_button
from pages.ui.shell.frame import page_link
from pages.ui.shell.level import is_hidden
from pages.ui.shell.numbers import weight
from tx_core.analysis import sentences, views
from tx_core.analysis.comparison import describe_largest_change, most_changed_heads
from tx_core.analysis.views import View
from tx_core.transformer.interventions import write_interventions
from tx_core.transformer.trace import AttentionStack


@dataclass(frozen=True)
class HeadMap:
    """The attention map on the screen: the weights of one head, or the mean of several.

    Attributes:
        view: the view that the map is of: its tokens, and the weights of all heads.
        heads: the heads as (layer, head), counted from 0.
        weights: the weights that are drawn, shape (query, key).
        description: the map in a sentence.
        before: the weights of the run without the reader's changes, where both are shown.
        unchanged: the view of that run, with the weights of all heads.
    """

    view: View
    heads: tuple[controls.Head, ...]
    weights: Float[np.ndarray, "query key"]
    description: str
    before: Float[np.ndarray, "query key"] | None = None
    unchanged: View | None = None

    @property
    def queries(self) -> tuple[str, ...]:
        """The tokens that attend."""
        return self.view.queries

    @property
    def keys(self) -> tuple[str, ...]:
        """The tokens that are attended to."""
        return self.view.keys


def _nothing() -> None:
    """Draw nothing."""


@dataclass(frozen=True)
class PanelParts:
    """What a page adds to the panel; each function draws.

    Attributes:
        first: what heads the wall's column and stays in sight while the page is scrolled; None for nothing. It may choose the
            heads that are shown.
        actions: what the reader can do with the chosen heads, under their names.
        above_map: what stands above the map.
        last: what ends the wall's column.
    """

    first: Callable[[], None] | None = None
    actions: Callable[[], None] = _nothing
    above_map: Callable[[], None] = _nothing
    last: Callable[[], None] = _nothing


NO_PARTS = PanelParts()


def attention_panel(
    page: str,
    stack: AttentionStack,
    identity: tuple,
    unchanged: AttentionStack | None = None,
    parts: PanelParts = NO_PARTS,
) -> HeadMap:
    """Let the reader explore one stack; give the map that is shown in the end. `identity` names the run, its model first.

    unchanged: the same stack of the run without the reader's changes, to show both and the difference.
    Nothing that a click adds stands above what was clicked: the page never moves under its reader.
    The page's options (view_options) must stand in the session, with heads that the stack has. Call it in a fragment: a
    click on the wall then runs only this.
    """
    with st.container(key=widget_key(page, "wall_and_map")):  # assets/page.css sets the two parts side by side
        rail = st.container(key=widget_key(page, "rail"))
        if parts.first:
            with rail:
                parts.first()
        options = ViewOptions.of(page)
        identity = (*identity, stack.kind, options.words, options.hide)
        view = prepared_view(stack, identity, options)
        heads, before, plain = list(options.heads), None, None
        weights = views.mean_of_heads(view.weights, heads)
        maps_path = prefetch.offer_head_maps(identity, view.weights) if unchanged is None else None
        with rail:
            _fill_rail(page, view, identity, options, maps_path, parts)
        with st.container(key=widget_key(page, "stage")):
            parts.above_map()
            if unchanged is None:
                description = _map(page, view, weights, options, maps_path)
                st.caption(_small_print(view, weights, heads, options, model=identity[0]))
            else:
                plain = prepared_view(unchanged, (*identity, "unchanged"), options)
                before = views.mean_of_heads(plain.weights, heads)
                description = show_change(page, plain, view, heads, options)
    return HeadMap(view, tuple(heads), weights, description, before, plain)


def _fill_rail(page: str, view: View, identity: tuple, options: ViewOptions, maps_path: str | None, parts: PanelParts) -> None:
    """Draw what stands beside the map: the wall, the head that is looked at and what can be done with it, the options."""
    if parts.first:
        _head_and_actions(page, view, parts)
    folded = is_hidden("wall")
    if is_offered("heads") and not folded:
        _wall(page, view, identity, options, maps_path)
    if not parts.first:
        _head_and_actions(page, view, parts)
    view_options.ask_view(page)
    if is_offered("heads") and folded:
        _folded_wall(page, view, identity, options, maps_path)
    parts.last()


def _head_and_actions(page: str, view: View, parts: PanelParts) -> None:
    controls.layer_and_heads(widget_key(page, "heads"), *view.weights.shape[:2])
    parts.actions()


def prepared_view(stack: AttentionStack, identity: tuple, options: ViewOptions) -> View:
    """Give the view that the reader asked for, from the cache where it has weights of its own.

    Without options it shows the run's own array: that costs nothing to make, and kept a second time it would
    count twice, so that a long text's run and its view pushed each other out.
    """
    if not (options.words or options.hide):
        return views.view(stack)
    return cache.get_or_compute(
        ("view", *identity), lambda: views.view(stack, merge_words=options.words, hide_special=options.hide)
    )


def _folded_wall(page: str, view: View, identity: tuple, options: ViewOptions, maps_path: str | None) -> None:
    """Offer the wall as one way to choose a head, drawn when it is opened."""
    num_layers, num_heads = view.weights.shape[:2]
    folded = st.expander(texts.CHOOSE_ON_WALL.format(heads=num_layers * num_heads), key=f"{page}_wall_opened", on_change="rerun")
    if folded.open:
        with folded:
            st.caption(texts.WALL_CAPTION.format(layers=num_layers, heads=num_heads))
            _wall(page, view, identity, options, maps_path)


def _wall(page: str, view: View, identity: tuple, options: ViewOptions, maps_path: str | None) -> None:
    num_layers, num_heads = view.weights.shape[:2]
    name = widget_key(page, "wall")

    def take_heads() -> None:
        if heads := chosen_heads(name, num_layers, num_heads):
            st.session_state[widget_key(page, "heads")] = heads

    small = cache.get_or_compute(("wall", *identity), lambda: thumbnails(view.weights))
    head_wall(
        small,
        options.heads,
        scale=options.scale,
        key=name,
        on_choose=take_heads,
        maps_path=maps_path,
        guesses=class_guesses(page),
    )


def _map(page: str, view: View, weights: Float[np.ndarray, "query key"], options: ViewOptions, maps_path: str | None) -> str:
    heads = options.heads
    name, focus = widget_key(page, "map"), view.row_of(options.focus)
    description = _describe_heads(heads, _describe(view, weights, focus))
    st.text(description)
    attention_map(
        view.queries,
        view.keys,
        weights,
        alt=description,
        scale=options.scale,
        strongest=options.lines,
        show=options.show,
        focus=focus,
        key=name,
        on_focus=lambda: _take_focus(page, name, view),
        wall=Wall(widget_key(page, "wall"), heads, maps_path),
        guesses=_guesses_on_map(page, view),
    )
    return description


def _take_focus(page: str, key: str, view: View) -> None:
    """Follow the token that the reader focused in the map `key`."""
    row = focused_token(key, len(view.queries))
    st.session_state[widget_key(page, "focus")] = None if row is None else view.query_places[row][0]


def _describe_heads(heads: Sequence[controls.Head], description: str) -> str:
    """Name the head, or count the heads, that a description is of."""
    name = controls.head_name(heads[0]) if len(heads) == 1 else texts.MEAN_OF_HEADS.format(count=len(heads))
    return texts.HEAD_DESCRIPTION.format(head=name, description=description)


def class_guesses(page: str) -> ClassGuesses | None:
    """Give what a class guessed about the sentence on the page and its model; None where it was another one, or nothing."""
    guesses = st.session_state.get(CLASS_GUESSES)
    asked_of = [st.session_state.get(widget_key(page, name)) for name in ("model", "text")]
    return guesses if guesses is not None and asked_of == [guesses.model, guesses.text] else None


def _guesses_on_map(page: str, view: View) -> dict[str, object] | None:
    guesses = class_guesses(page) if view.kind == "self" else None
    return guesses and guesses.on_map(sentences.distinct_names(view.keys), view.key_special)


def _describe(view: View, weights: Float[np.ndarray, "query key"], focus: int | None) -> str:
    if focus is not None:
        return sentences.describe_query(weights, view.queries, view.keys, focus, rescaled=view.hides_special)
    return sentences.describe_strongest_link(
        weights, view.queries, view.keys, view.query_special, view.key_special, rescaled=view.hides_special
    )


def _small_print(
    view: View, weights: Float[np.ndarray, "query key"], heads: Sequence[controls.Head], options: ViewOptions, *, model: str
) -> str:
    details = not is_hidden("details")
    notes = [] if details else [texts.HOW_TO_READ]
    if details and view.kind == "self" and not view.hides_special:
        notes.append(sentences.describe_average(weights, view.key_special))
    if details and view.kind == "self" and len(heads) == 1:
        notes.append(describe_grammar(model, heads[0]))
    if marks := dict.fromkeys(token for token, special in zip(view.keys, view.key_special, strict=True) if special):
        notes.append(texts.SPECIAL_TOKENS.format(tokens=escape_markdown(", ".join(marks))))
    if options.hide and not view.hides_special:
        notes.append(texts.NOTHING_HIDDEN)
    if view.hides_special:
        share = float(views.mean_of_heads(view.hidden_share, heads).mean())
        notes.append(texts.SPECIAL_HIDDEN.format(share=share))
    if options.words:
        notes.append(texts.HOW_MERGED)
    return " ".join([*notes, texts.NOT_AN_EXPLANATION])


def weights_table(head_map: HeadMap, *, key: str) -> None:
    """Offer the weights as a table, built only when it is opened, and as a CSV file."""
    if not is_offered("tables"):
        return
    expander = st.expander(texts.WEIGHTS_TABLE, key=key, on_change="rerun")
    if not expander.open:
        return
    rows, columns = numbered_tokens(head_map.queries), numbered_tokens(head_map.keys)
    with expander:
        st.caption(texts.WEIGHTS_TABLE_CAPTION)
        cells = head_map.weights.astype(float).round(4)
        st.dataframe({"": rows, **dict(zip(columns, cells.T, strict=True))}, hide_index=True)
        download_button(texts.DOWNLOAD_CSV, lambda: map_csv(rows, columns, head_map.weights), "attention.csv", key=f"{key}_csv")


def map_csv(rows: Sequence[str], columns: Sequence[str], weights: Float[np.ndarray, "query key"]) -> str:
    """Write the weights as CSV with six decimals; labels begin with a number, so no spreadsheet takes one for a formula."""
    file = io.StringIO()
    table = csv.writer(file)
    table.writerow(["query \\ key", *columns])
    table.writerows([label, *(f"{share:.6f}" for share in row)] for label, row in zip(rows, weights, strict=True))
    return file.getvalue()


MAX_CHANGED_HEADS = 8
PREDICTIONS = contents.page("fill_mask")


def show_change(page: str, plain: View, changed: View, heads: Sequence[controls.Head], options: ViewOptions) -> str:
    """Draw what the changes do to attention; return the change of the chosen heads in a sentence.

    First the heads that moved most, then the chosen heads before and after. A head that is switched off has nothing to show but
    zeros, so the head that moved most stands before it. Basic shows the chosen heads alone.
    """
    if is_hidden("details"):
        return _show_pair(page, plain, changed, tuple(heads), options, "before_after")
    moved = dict(most_changed_heads(plain.weights, changed.weights, MAX_CHANGED_HEADS))
    _offer_moved_heads(page, moved, len(changed.weights), heads)
    chosen, most = tuple(heads), next(iter(moved), None)
    if most is None or any(changed.weights[head].any() for head in chosen):
        return _show_pair(page, plain, changed, chosen, options, "before_after")
    st.markdown(texts.MOVED_MOST.format(head=controls.head_name(most)))
    _show_pair(page, plain, changed, (most,), options, "before_after_moved")
    st.markdown(texts.HEAD_OFF if len(chosen) == 1 else texts.HEADS_OFF)
    return _show_pair(page, plain, changed, chosen, options, "before_after")


def _show_pair(page: str, plain: View, changed: View, heads: Sequence[controls.Head], options: ViewOptions, part: str) -> str:
    """Draw two views of one text side by side, for these heads; return the change in a sentence."""
    before, after = (views.mean_of_heads(view.weights, heads) for view in (plain, changed))
    name, focus = widget_key(page, part), changed.row_of(options.focus)
    largest = describe_largest_change(before, after, changed.queries, changed.keys, focus, rescaled=changed.hides_special)
    description = " ".join(filter(None, [_describe_heads(heads, largest), _taken_by_padding(page, changed, after, focus)]))
    st.text(description)
    before_after(
        changed.queries,
        changed.keys,
        before,
        after,
        alt=description,
        scale=options.scale,
        focus=focus,
        key=name,
        on_focus=lambda: _take_focus(page, name, changed),
    )
    return description


def _taken_by_padding(page: str, changed: View, after: np.ndarray, focus: int | None) -> str:
    """Say how much attention goes to padding that is not drawn; "" unless leaving out its mask is all that was changed."""
    if changed.hides_special or [change.kind for change in active_changes(page)] != ["no_padding_mask"]:
        return ""
    rows = slice(None) if focus is None else slice(focus, focus + 1)
    return texts.TO_PADDING.format(share=1 - float(after[rows].sum(-1).mean()))


def _offer_moved_heads(page: str, moved: Mapping[controls.Head, float], layers: int, heads: Sequence[controls.Head]) -> None:
    """Offer the heads whose attention moved most, each to be looked at in one click."""
    if not moved:
        _explain_nothing_moved(page, layers, heads)
        return
    name = widget_key(page, "moved")
    st.session_state[name] = heads[0] if len(heads) == 1 and heads[0] in moved else None

    def choose() -> None:
        if head := st.session_state[name] or next(iter(heads), None):
            st.session_state[widget_key(page, "heads")] = [head]

    st.pills(
        texts.MOVED_HEADS,
        list(moved),
        key=name,
        on_change=choose,
        wrap=True,
        format_func=lambda head: texts.MOVED_HEAD.format(head=controls.head_name(head), share=weight(moved[head])),
        help=texts.MOVED_HEADS_HELP,
    )


def _explain_nothing_moved(page: str, layers: int, heads: Sequence[controls.Head]) -> None:
    """Say why no other head's attention moved, and link to the page that shows what the changes do."""
    changes = active_changes(page)
    if any(change.layer != layers - 1 for change in changes):
        st.caption(texts.NO_HEAD_MOVED)
        return
    off = {(change.layer, change.head) for change in changes if change.kind == "off"}
    is_off = not off.isdisjoint({*heads, *((layer, None) for layer, _ in heads)})
    template = texts.NOTHING_AFTER_LAST_LAYER_OFF if is_off else texts.NOTHING_AFTER_LAST_LAYER
    st.caption(template.format(layer=layers))
    if page == PREDICTIONS.key:
        return
    text_and_model = {name: st.session_state[widget_key(page, name)] for name in ("text", "model")}
    page_link(
        PREDICTIONS.key,
        texts.SEE_ON_PAGE.format(page=PREDICTIONS.name),
        text_and_model | {"changes": write_interventions(changes), "heads": heads_to_link(heads)},
        icon=":material/arrow_forward:",
    )
