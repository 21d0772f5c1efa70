"""A training of a page for export: its curves as tables, and the code that trains, with the head that is looked at."""

from collections.abc import Callable
from itertools import islice

import numpy as np
from jaxtyping import Float

from pages.ui.export import texts
from pages.ui.export.computation import Computation, call, each, named
from pages.ui.export.records import Export, Exports, PartNumbers, drawings_export
from pages.ui.shell.address import value_of
from pages.ui.stage.training import Curves, ShownTraining, curve_drawings
from tx_core.transformer.interventions import Head


def training_computation(
    shown: ShownTraining, start: Callable[[], Computation], stored: Callable[[], object] | None = None
) -> tuple[Computation, Computation]:
    """Return the computation of a model, and of its training. stored: loads it with its records, where it ships."""
    if stored and shown.is_stored:
        found = named("stored", call(stored))
        return found.training, named("records", found.records)
    training = named("training", start())
    return training, named("records", call(list, call(islice, training.updates(), shown.model.done)))


def training_exports(shown: ShownTraining, title: str, records: Computation, losses: Curves, shares: Curves) -> Exports:
    """Offer what was measured after each batch, once there is anything."""
    source = {"settings": repr(shown.model.settings), "batches": shown.model.done}
    numbers = PartNumbers(title, source, [each(records, lambda one: (one.done, one.values))])

    def export() -> Export:
        return drawings_export(numbers, [*curve_drawings(losses, logarithmic=True), *curve_drawings(shares)])

    return {texts.TRAINING: export} if shown.records else {}


def chosen_head(page: str, weights: Float[np.ndarray, "layer head query key"]) -> Head:
    """Return the first chosen head, counted from 0; the first of all where the model lacks it."""
    layers, heads = weights.shape[:2]
    layer, head = next(iter(value_of(page, "head")), (0, 0))
    return (layer, head) if layer < layers and head < heads else (0, 0)
