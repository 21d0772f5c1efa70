"""One stack of attention as its reader looks at it: the map of the chosen heads, in numbers."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from pages.ui.panels.changes import active_changes
from pages.ui.panels.view_options import ViewOptions
from pages.ui.shell import cache, controls
from tx_core.analysis import views
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
        before: the weights of the run without the reader's changes, where both are shown.
        unchanged: the view of that run, with the weights of all heads.
        padding: how many [PAD] the last column stands for, which no trace keeps; 0 for none.
    """

    view: View
    heads: tuple[controls.Head, ...]
    weights: Float[np.ndarray, "query key"]
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
        return HeadMap(view, options.heads, views.mean_of_heads(view.weights, list(options.heads)))
    plain = prepared_view(unchanged, (*identity, "unchanged"), options)
    if padding := drawn_padding(active_changes(page), view):
        plain, view = (views.with_padding(one, padding) for one in (plain, view))
    return changed_map(plain, view, options.heads, padding)


def changed_map(plain: View, changed: View, heads: Sequence[controls.Head], padding: int = 0) -> HeadMap:
    """Return the map of heads before and after the reader's changes. padding: how many [PAD] the last column stands for."""
    before, after = (views.mean_of_heads(view.weights, list(heads)) for view in (plain, changed))
    return HeadMap(changed, tuple(heads), after, before, plain, padding)


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


def drawn_padding(changes: Sequence[Intervention], changed: View) -> int:
    """Return how many [PAD] a column of the map stands for: 0 unless leaving out their mask is all that was changed.

    Attention that reaches no padding, as in a causal model or from a decoder to its own sentence, gets no column.
    """
    reached = bool((changed.weights.sum(axis=-1) < 1 - SMALLEST_SHARE).any())
    return unmasked_padding(changes) if reached and len(changes) == 1 and not changed.hides_special else 0
