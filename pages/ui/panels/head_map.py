"""One stack of attention as its reader looks at it: the map of the chosen heads, in numbers, in a sentence and as a table."""

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import streamlit as st
from jaxtyping import Float

from pages.ui.panels import texts
from pages.ui.panels.changes import active_changes
from pages.ui.panels.tokens import numbered_tokens
from pages.ui.panels.view_options import ViewOptions
from pages.ui.shell import cache, controls
from pages.ui.shell.address import is_offered
from pages.ui.shell.controls import download_button
from tx_core.analysis import sentences, views
from tx_core.analysis.comparison import describe_largest_change
from tx_core.analysis.views import View
from tx_core.transformer.interventions import Intervention, unmasked_padding
from tx_core.transformer.trace import AttentionStack

SMALLEST_SHARE = 1e-3
"""Of a row's attention that counts as having gone somewhere."""


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
        padding: how many [PAD] the last column stands for, which no trace keeps; 0 for none.
    """

    view: View
    heads: tuple[controls.Head, ...]
    weights: Float[np.ndarray, "query key"]
    description: str
    before: Float[np.ndarray, "query key"] | None = None
    unchanged: View | None = None
    padding: int = 0

    @property
    def queries(self) -> tuple[str, ...]:
        """The tokens that attend."""
        return self.view.queries

    @property
    def keys(self) -> tuple[str, ...]:
        """The tokens that are attended to."""
        return self.view.keys


def head_map(page: str, stack: AttentionStack, identity: tuple, unchanged: AttentionStack | None = None) -> HeadMap:
    """Return the map of the heads that the page's options (view_options) name; the stack must have them.

    identity: names the run, its model first. unchanged: the same stack of the run without the reader's changes.
    """
    options = ViewOptions.of(page)
    identity = (*identity, stack.kind, options.words, options.hide)
    view = prepared_view(stack, identity, options)
    if unchanged is None:
        weights = views.mean_of_heads(view.weights, list(options.heads))
        description = _describe_heads(options.heads, _describe(view, weights, view.row_of(options.focus)))
        return HeadMap(view, options.heads, weights, description)
    plain = prepared_view(unchanged, (*identity, "unchanged"), options)
    if padding := drawn_padding(active_changes(page), view):
        plain, view = (views.with_padding(one, padding) for one in (plain, view))
    return changed_map(plain, view, options.heads, options, padding)


def changed_map(plain: View, changed: View, heads: Sequence[controls.Head], options: ViewOptions, padding: int = 0) -> HeadMap:
    """Return the map of heads before and after the reader's changes, and the largest change in a sentence.

    padding: how many [PAD] the last column of both views stands for.
    """
    before, after = (views.mean_of_heads(view.weights, list(heads)) for view in (plain, changed))
    focus = changed.row_of(options.focus)
    largest = describe_largest_change(before, after, changed.queries, changed.keys, focus, rescaled=changed.hides_special)
    description = _describe_heads(heads, largest)
    if padding:
        rows = slice(None) if focus is None else focus
        description += " " + texts.TO_PADDING.format(padding=padding, share=float(after[rows, -1].mean()))
    return HeadMap(changed, tuple(heads), after, description, before, plain, padding)


def prepared_view(stack: AttentionStack, identity: tuple, options: ViewOptions) -> View:
    """Return the view that the options ask for; from the cache where it differs from the run's own weights.

    Without options it shows the run's own array: that costs nothing to make, and kept a second time it would
    count twice, so that a long text's run and its view pushed each other out.
    """
    if not (options.words or options.hide):
        return views.view(stack)
    return cache.get_or_compute(
        ("view", *identity), lambda: views.view(stack, merge_words=options.words, hide_special=options.hide)
    )


def _describe_heads(heads: Sequence[controls.Head], description: str) -> str:
    """Return a description with the name of its head, or the number of its heads."""
    name = controls.head_name(heads[0]) if len(heads) == 1 else texts.MEAN_OF_HEADS.format(count=len(heads))
    return texts.HEAD_DESCRIPTION.format(head=name, description=description)


def _describe(view: View, weights: Float[np.ndarray, "query key"], focus: int | None) -> str:
    if focus is not None:
        return sentences.describe_query(weights, view.queries, view.keys, focus, rescaled=view.hides_special)
    return sentences.describe_strongest_link(
        weights, view.queries, view.keys, view.query_special, view.key_special, rescaled=view.hides_special
    )


def drawn_padding(changes: Sequence[Intervention], changed: View) -> int:
    """Return how many [PAD] a column of the map stands for: 0 unless leaving out their mask is all that was changed.

    Attention that reaches no padding, as in a causal model or from a decoder to its own sentence, gets no column.
    """
    reached = bool((changed.weights.sum(axis=-1) < 1 - SMALLEST_SHARE).any())
    return unmasked_padding(changes) if reached and len(changes) == 1 and not changed.hides_special else 0


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
    """Return the weights as CSV with six decimals; labels begin with a number, so no spreadsheet takes one for a formula."""
    file = io.StringIO()
    table = csv.writer(file)
    table.writerow(["query \\ key", *columns])
    table.writerows([label, *(f"{share:.6f}" for share in row)] for label, row in zip(rows, weights, strict=True))
    return file.getvalue()
