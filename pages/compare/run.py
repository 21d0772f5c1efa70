"""Run one side of a comparison, and prepare what its map shows."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Float

from pages.compare.state import Head, Side
from pages.ui.shell import cache
from tx_core.errors import ModelUnavailable

if TYPE_CHECKING:  # the core imports torch: only a page that computes waits for it
    from tx_core.analysis.views import View
    from tx_core.analysis.word_comparison import Spelling
    from tx_core.engine.engine import Engine
    from tx_core.transformer.trace import Trace

KEEP = ("weights", "hidden")


@dataclass(frozen=True)
class Run:
    """A side that has been run: in whole words, with the weights of its head and the spelling of its words."""

    side: Side
    trace: "Trace"
    view: "View"
    spelled: "tuple[Spelling, ...]"
    weights: Float[np.ndarray, "word word"]


def run(side: Side, *, hide: bool) -> Run:
    """Run a side, or take the record of the same run; raise ExplorerError where it cannot be run."""
    from tx_core.analysis import views, word_comparison

    trained = cache.engine(side.model)
    identity = ("compared", side.model, side.seed, trained.device, side.text, side.pair or None, frozenset(side.changes))
    trace = cache.remember(
        identity,
        lambda: _with_weights(trained, side.seed).trace(side.text, side.pair or None, keep=KEEP, interventions=side.changes),
    )
    stack = trace.attention
    view = cache.remember((*identity, hide), lambda: views.view(stack, merge_words=True, hide_special=hide))
    spelled = word_comparison.spell_words(stack.query_tokens, view.query_places)
    return Run(side, trace, view, spelled, views.mean_of_heads(view.weights, heads_of(side.head, view.weights.shape[1])))


def _with_weights(trained: "Engine", seed: int) -> "Engine":
    """Give the model itself, or the same with random weights, which are drawn only where they are run."""
    from tx_core.engine.bert_engine import BertEngine
    from tx_core.lessons.untrained import untrained_engine

    if not seed:
        return trained
    if not isinstance(trained, BertEngine):
        raise ModelUnavailable("Only a BERT can be had with random weights here: choose a BERT, or the trained weights.")
    return untrained_engine(trained, seed)


def heads_of(head: Head, num_heads: int) -> list[tuple[int, int]]:
    """List the heads that a choice is the mean of."""
    layer, number = head
    return [(layer, every) for every in range(num_heads)] if number is None else [(layer, number)]


def nearest_head(head: Head, num_layers: int, num_heads: int) -> Head:
    """Give the head itself where the model has it, else the one nearest to it in number."""
    layer, number = head
    return min(layer, num_layers - 1), None if number is None else min(number, num_heads - 1)
