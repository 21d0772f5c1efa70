"""The attention panel as something to carry away: the map, or before, after and the difference, with its weights."""

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from pages.ui.canvas.attention_view import MAP, STYLE
from pages.ui.canvas.before_after import MODULE as BEFORE_AFTER
from pages.ui.export.carried import Carried
from pages.ui.export.core_snippet import core_snippet
from pages.ui.export.exhibit import Alone, Exhibit, Numbers, Offered, Python
from pages.ui.export.library_snippet import library_snippet
from pages.ui.panels.view_options import ViewOptions
from tx_core.analysis.weights_file import MOST, SavedWeights, to_csv, to_json, to_npz, weight_of

if TYPE_CHECKING:
    from pages.ui.panels.attention_panel import Shown
    from tx_core.transformer.trace import Trace

NAME = "The attention map"
FORMS: dict[str, Callable[[SavedWeights], bytes]] = {"csv": to_csv, "json": to_json, "npz": to_npz}


def attention_views(page: str, trace: "Trace", shown: "Shown") -> Offered:
    """Offer what the attention panel of a page shows. trace: the run that the panel showed."""
    return {NAME: lambda: attention_exhibit(Carried(trace, shown, ViewOptions.of(page)))}


def attention_exhibit(carried: Carried) -> Exhibit:
    """Make the map ready to be carried away."""
    module = MAP if carried.shown.before is None else BEFORE_AFTER
    alone = Alone(module, (STYLE,), "point at cells, choose tokens, zoom", carried.packed)
    told = "It ends with `weights`, a row for each token that looks: the numbers of the map above."
    python = Python(told, lambda: core_snippet(carried), lambda: library_snippet(carried))
    numbers = (numbers_of(carried, everything=False), numbers_of(carried, everything=True))
    return Exhibit(carried.title, carried.caption, carried.file_name, carried.packed, alone, numbers, python)


def numbers_of(carried: Carried, *, everything: bool, name: str = "") -> Numbers:
    """Offer what is shown, or every layer and head, as files; name: what the choice is called, instead of its own."""
    size = carried.shown.view.weights.size if everything else carried.shown.weights.size
    heads = 1 if everything else len(carried.shown.heads)
    files = {
        form: None if weight_of(size, heads, form) > MOST[form] else lambda write=write: write(saved_weights(carried, everything))
        for form, write in FORMS.items()
    }
    file_name = f"{carried.stem}-all" if everything else carried.file_name
    told = f"{size:,} weights. CSV: a row for each weight. JSON: lists, with model and text. NPZ: arrays for numpy."
    return Numbers(name or ("Every layer and head" if everything else "What is shown"), told, file_name, files)


def saved_weights(carried: Carried, everything: bool) -> SavedWeights:
    """Gather what goes into a file, layers and heads counted from 1 as on the page."""
    view, (text, pair) = carried.shown.view, carried.sentences
    maps, weights = (tuple((layer + 1, head + 1) for layer, head in carried.shown.heads),), carried.shown.weights[None]
    if everything:
        layers, heads, queries, keys = view.weights.shape
        maps = tuple(((layer + 1, head + 1),) for layer in range(layers) for head in range(heads))
        weights = view.weights.reshape(layers * heads, queries, keys)
    return SavedWeights(
        carried.trace.model,
        text,
        pair,
        view.kind,
        view.queries,
        view.keys,
        maps,
        np.ascontiguousarray(weights, np.float32),
        carried.notes,
    )
