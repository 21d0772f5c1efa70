"""What a visitor may choose of an encoder-decoder that learns to copy, reverse or sort, and the file that keeps it."""

from typing import TYPE_CHECKING

import streamlit as st

from pages.ui.panels import training
from pages.ui.panels.training import MAX_LEARNING_RATE, MIN_LEARNING_RATE, read_learning_rate, size_problem
from pages.ui.shell.address import Field, choice_field, flag_field, number_field, widget_key
from tx_core.errors import CheckpointProblem

if TYPE_CHECKING:  # the core imports torch: the title is painted without it
    from tx_core.training.copy_task import CopyTraining
    from tx_core.training.synthetic import CopySettings

TASKS = {"copy": "Copy", "reverse": "Reverse", "sort": "Sort"}
# Name in the address: its name in the settings, what a reader calls it, the usual, the least and the most, help.
NUMBERS = {
    "vocab": ("vocab_size", "Vocabulary", 100, 4, 500, "Numbers from 2 up to this, less one. 0 is padding, 1 the start mark."),
    "length": ("length", "Length", 10, 3, 16, "Tokens of each sequence, the start mark included."),
    "batch": ("batch_size", "Sequences in a batch", 64, 4, 128, None),
    "batches": ("batches", "Batches", 200, 10, 600, None),
    "width": ("hidden_size", "Width", 64, 8, 128, "Numbers in the vector of each token: must divide by the heads."),
    "layers": ("num_layers", "Layers", 1, 1, 2, "Of the encoder, and as many of the decoder."),
    "heads": ("num_heads", "Heads", 4, 1, 8, None),
    "feed": ("intermediate_size", "Feed-forward", 128, 8, 512, "Width of the layer in the middle of each feed-forward part."),
    "seed": ("seed", "Seed", 0, 0, 9999, "The same seed and sizes give the same run again."),
}
MAX_UPLOAD_MEGABYTES = 14  # the largest model offered, stopped: 13.4 with the optimiser's memory; see .streamlit/config.toml


FIELDS = (
    choice_field("task", tuple(TASKS)),
    *(number_field(name, usual, least, most) for name, (_, _, usual, least, most, _) in NUMBERS.items()),
    Field("rate", 0.005, read_learning_rate, lambda rate: f"{rate:g}"),
    flag_field("post"),
)


def ask_sizes(page: str, *, disabled: bool) -> None:
    """Ask for the sizes of the model and of its training."""
    with st.expander("Sizes and training", icon=":material/tune:"):
        columns = st.columns(4)
        for place, (name, (_, label, _, least, most, help)) in enumerate(NUMBERS.items()):
            columns[place % 4].number_input(
                f"{label} ({least} to {most})", least, most, key=widget_key(page, name), help=help, disabled=disabled
            )
        columns[1].number_input(
            "Learning rate",
            MIN_LEARNING_RATE,
            MAX_LEARNING_RATE,
            step=0.001,
            format="%.4f",
            key=widget_key(page, "rate"),
            help="The greatest: it rises over the first twentieth of the batches and falls to 0 over the second half.",
            disabled=disabled,
        )
        st.toggle(
            "Post-norm, as in the paper of 2017",
            key=widget_key(page, "post"),
            disabled=disabled,
            help="Layer norm after each part instead of before it.",
        )


def settings(page: str) -> "CopySettings":
    """Read what was chosen; raise TextProblem where the sizes do not fit one another."""
    from tx_core.training.synthetic import CopySettings

    held = {name: st.session_state[widget_key(page, name)] for name in ("task", "rate", "post", *NUMBERS)}
    sizes = {ours: held[name] for name, (ours, *_) in NUMBERS.items()}
    try:
        return CopySettings(task=held["task"], norm_first=not held["post"], learning_rate=held["rate"], **sizes)
    except ValueError as rule:
        raise size_problem(rule, {ours: label for ours, label, *_ in NUMBERS.values()}) from rule


def check_offered(trained: "CopyTraining") -> "CopyTraining":
    """Return a loaded run, or raise CheckpointProblem where it has sizes that this page does not offer."""
    chosen = trained.settings
    for ours, label, _, least, most, _ in NUMBERS.values():
        if not least <= getattr(chosen, ours) <= most:
            raise CheckpointProblem(
                f"This page shows runs with “{label}” from {least} to {most}; this file has {getattr(chosen, ours):,}."
            )
    if not MIN_LEARNING_RATE <= chosen.learning_rate <= MAX_LEARNING_RATE:
        raise CheckpointProblem(f"This page shows runs with a learning rate from {MIN_LEARNING_RATE} to {MAX_LEARNING_RATE}.")
    return trained


def choose(page: str, trained: "CopyTraining") -> None:
    """Bring the settings of a run that was loaded, or that goes on, onto the page."""
    st.session_state.update({widget_key(page, name): value for name, value in as_held(trained.settings).items()})


def as_held(chosen: "CopySettings") -> dict[str, object]:
    """Give the settings of a run by their names on the page."""
    held = {name: getattr(chosen, ours) for name, (ours, *_) in NUMBERS.items()}
    return held | {"task": chosen.task, "rate": chosen.learning_rate, "post": not chosen.norm_first}


def differences(page: str, trained: "CopySettings") -> list[str]:
    """Name each setting of a run that is not the one now on the page, as in "Width 64"."""
    labels = {name: label for name, (_, label, *_) in NUMBERS.items()} | {"rate": "Learning rate"}
    other = {name: value for name, value in as_held(trained).items() if value != st.session_state[widget_key(page, name)]}
    words = {"task": TASKS[trained.task], "post": "pre-norm" if trained.norm_first else "post-norm"}
    return [words.get(name) or f"{labels[name]} {value:g}" for name, value in other.items()]


def keep_and_load(page: str, kind: str, trained: "CopyTraining | None", *, disabled: bool) -> None:
    """Offer the trained model as a file, and take such a file back in its place."""
    with st.popover("Keep or load a model", icon=":material/save:", disabled=disabled):
        st.text(
            "Reloading the page loses a trained model. Saved as a file, it can be loaded here again, by you or by whoever you "
            "give it to; if it was stopped, its training can be continued."
        )
        if trained is None:
            st.text("There is none to save yet: train one.")
        else:
            st.download_button(
                "Save this model",
                lambda: to_file(trained),
                file_name=f"{trained.settings.task}.safetensors",
                mime="application/octet-stream",
                key=widget_key(page, "save"),
                on_click="ignore",
                icon=":material/download:",
            )
        st.file_uploader(
            "Load a model that was saved here",
            type=["safetensors"],
            key=widget_key(page, "file"),
            max_upload_size=MAX_UPLOAD_MEGABYTES,
            on_change=training.attempt,
            args=(page, lambda: load(page, kind)),
        )


def to_file(trained: "CopyTraining") -> bytes:
    """Write a trained model down; one that was stopped with all that it takes to go on."""
    from tx_core.training import copy_file

    return copy_file.to_file(trained, resumable=not trained.finished)


def load(page: str, kind: str) -> None:
    """Put an uploaded model in place of the visitor's own; raise ExplorerError for a file that cannot be used."""
    from tx_core.engine.device import best_device
    from tx_core.training import copy_file

    uploaded = st.session_state[widget_key(page, "file")]
    if uploaded is None:  # taken out of the box again: the model stays
        return
    if uploaded.size > MAX_UPLOAD_MEGABYTES * 1_000_000:
        raise CheckpointProblem(f"The file may have {MAX_UPLOAD_MEGABYTES} MB; this one has {uploaded.size / 1e6:.1f} MB.")
    trained = copy_file.from_file(uploaded.getvalue(), best_device())
    training.TRAININGS.add_stopped(training.visitor(), kind, check_offered(trained))
    choose(page, trained)
