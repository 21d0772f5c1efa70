"""The weights as files: what is shown, or every layer and head, as CSV, JSON or NPZ."""

from collections.abc import Callable

import numpy as np
import streamlit as st

from pages.ui.address import key
from pages.ui.carried import Carried
from tx_core.weights_file import MOST, SavedWeights, to_csv, to_json, to_npz, weight_of

SCOPES = {"shown": "What is shown", "all": "Every layer and head"}
FORMS: dict[str, tuple[Callable[[SavedWeights], bytes], str]] = {
    "csv": (to_csv, "text/csv"), "json": (to_json, "application/json"), "npz": (to_npz, "application/octet-stream"),
}  # fmt: skip


def numbers(page: str, carried: Carried) -> None:
    """Offer the weights with their tokens; a file is written only when it is asked for."""
    scope = st.segmented_control("Which weights", list(SCOPES), format_func=SCOPES.get, default="shown", required=True,
                                 key=key(page, "numbers_scope"))  # fmt: skip
    size = carried.shown.weights.size if scope == "shown" else carried.shown.view.weights.size
    heads = len(carried.shown.heads) if scope == "shown" else 1
    st.caption(f"{size:,} weights. CSV: a row for each weight. JSON: lists, with model and text. NPZ: arrays for numpy.")
    with st.container(horizontal=True):
        for form, (write, kind) in FORMS.items():
            name = f"{carried.file_name if scope == 'shown' else f'attention-{carried.trace.model}-all'}.{form}".replace("/", "-")
            st.download_button(
                f"Save as {form.upper()}", lambda write=write: write(saved_weights(carried, scope == "all")), name, kind,
                key=key(page, f"numbers_{form}"), on_click="ignore", icon=":material/download:",
                disabled=weight_of(size, heads, form) > MOST[form],
            )  # fmt: skip
    if any(weight_of(size, heads, form) > most for form, most in MOST.items()):
        st.info(
            f"A file of text holds at most {MOST['csv']:,} weights here, an NPZ file {MOST['npz']:,}: "
            "take a smaller kind of file, what is shown, or a shorter text."
        )


def saved_weights(carried: Carried, everything: bool) -> SavedWeights:
    """Gather what goes into a file, layers and heads counted from 1 as on the page."""
    view, (text, pair) = carried.shown.view, carried.sentences
    maps, weights = (tuple((layer + 1, head + 1) for layer, head in carried.shown.heads),), carried.shown.weights[None]
    if everything:
        layers, heads, queries, keys = view.weights.shape
        maps = tuple(((layer + 1, head + 1),) for layer in range(layers) for head in range(heads))
        weights = view.weights.reshape(layers * heads, queries, keys)
    return SavedWeights(
        carried.trace.model, text, pair, view.kind, view.queries, view.keys, maps,
        np.ascontiguousarray(weights, np.float32), carried.notes,
    )  # fmt: skip
