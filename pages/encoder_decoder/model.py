"""The encoder-decoder that answers on its page: the visitor's own where it fits the settings, else one that nobody trained."""

from typing import TYPE_CHECKING

import streamlit as st

from pages.encoder_decoder import task_controls
from pages.ui.shell.address import widget_key
from tx_core.errors import ExplorerError

if TYPE_CHECKING:  # the core imports torch: the title is painted without it
    from pages.ui.panels.training_view import Snapshot
    from tx_core.training.copy_task import CopyTraining


def fits(page: str) -> bool:
    """Tell whether the chosen sizes go together; the page says elsewhere why they do not."""
    try:
        task_controls.settings(page)
    except ExplorerError:
        return False
    return True


def begin(page: str) -> "CopyTraining":
    """Draw the model that is to be trained; raise ExplorerError where this server would train it for too long."""
    from tx_core.engine.device import best_device
    from tx_core.training import copy_task, synthetic

    return copy_task.start(synthetic.check_live(task_controls.settings(page)), best_device())


def shown(page: str, snapshot: "Snapshot | None") -> "CopyTraining":
    """Give the visitor's trained model where it has the settings on the page, else an untrained one, always the same."""
    from tx_core.engine.device import best_device
    from tx_core.training import copy_task

    chosen = task_controls.settings(page)
    if snapshot and snapshot.result and snapshot.result.settings == chosen:
        return snapshot.result
    held = st.session_state.get(widget_key(page, "untrained"))
    if held is None or held.settings != chosen:
        held = st.session_state[widget_key(page, "untrained")] = copy_task.start(chosen, best_device())
    return held


def draw_numbers(page: str) -> None:
    """Put a sequence into the box that the model has never seen."""
    from tx_core.training import synthetic

    try:
        sizes = task_controls.settings(page)
    except ExplorerError:
        return
    drawn = st.session_state[widget_key(page, "drawn")] = st.session_state.get(widget_key(page, "drawn"), 0) + 1
    numbers = synthetic.random_sources(1, sizes.length, sizes.vocab_size, 10**9 + drawn)[0, 1:].tolist()
    st.session_state[widget_key(page, "numbers")] = " ".join(map(str, numbers))


def examined(page: str, model: "CopyTraining") -> tuple[int, int]:
    """Give how many numbers a trained model writes wrongly in a test, and of how many; each model is tested once."""
    from tx_core.training import copy_task

    tested, counts = st.session_state.get(widget_key(page, "examined"), (None, (0, 0)))
    if tested is not model:
        counts = copy_task.examine(model)
        st.session_state[widget_key(page, "examined")] = model, counts
    return counts
