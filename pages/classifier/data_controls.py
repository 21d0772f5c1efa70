"""What a visitor may choose of a small classifier: its data, its sizes, how long it learns."""

from functools import cache
from typing import TYPE_CHECKING

import streamlit as st

from pages.ui.panels.training import MAX_LEARNING_RATE, MIN_LEARNING_RATE, read_learning_rate, size_problem
from pages.ui.shell.address import Field, choice_field, number_field, widget_key
from tx_core.errors import TextProblem

if TYPE_CHECKING:  # the core imports torch: the title is painted without it
    from tx_core.training.classifier import ClassifierTraining
    from tx_core.training.classifier_data import LabelledTexts
    from tx_core.training.classifier_model import ClassifierSettings

DATA = {"opinions": "Film opinions, made here", "own": "Your own CSV", "imdb": "IMDB reviews"}
IMDB_EXAMPLES = 1000
MAX_VOCABULARY_WORDS = 10_000
# Name in the address: its name in the settings, what a reader calls it, the usual, the least and the most, help.
NUMBERS = {
    "epochs": ("epochs", "Epochs", 8, 1, 20, "How often the model sees every text."),
    "batch": ("batch_size", "Texts in a batch", 32, 4, 128, None),
    "width": ("hidden_size", "Width", 32, 8, 64, "Numbers in the vector of each word: must divide by the heads."),
    "layers": ("num_layers", "Layers", 1, 1, 2, None),
    "heads": ("num_heads", "Heads", 2, 1, 8, None),
    "feed": ("intermediate_size", "Feed-forward", 128, 8, 256, None),
    "tokens": ("most_tokens", "Words read", 40, 4, 200, "Of a longer text, only so many words are learned from."),
    "seed": ("seed", "Seed", 0, 0, 9999, "The same seed, sizes and data give the same run again."),
}
FIELDS = (
    choice_field("data", tuple(DATA)),
    *(number_field(name, usual, least, most) for name, (_, _, usual, least, most, _) in NUMBERS.items()),
    Field("rate", 0.005, read_learning_rate, lambda rate: f"{rate:g}"),
)


def ask_sizes(page: str, *, disabled: bool) -> None:
    """Ask for the sizes of the model and of its training."""
    with st.expander("Sizes and training", icon=":material/tune:"):
        columns = st.columns(3)
        for place, (name, (_, label, _, least, most, help)) in enumerate(NUMBERS.items()):
            columns[place % 3].number_input(
                f"{label} ({least} to {most})", least, most, key=widget_key(page, name), help=help, disabled=disabled
            )
        columns[2].number_input(
            "Learning rate",
            MIN_LEARNING_RATE,
            MAX_LEARNING_RATE,
            step=0.001,
            format="%.4f",
            key=widget_key(page, "rate"),
            disabled=disabled,
        )


def settings(page: str) -> "ClassifierSettings":
    """Read what was chosen; raise TextProblem where the sizes do not fit one another."""
    from tx_core.training.classifier_model import ClassifierSettings

    sizes = {ours: st.session_state[widget_key(page, name)] for name, (ours, *_) in NUMBERS.items()}
    try:
        return ClassifierSettings(
            most_words=MAX_VOCABULARY_WORDS, dropout=0.0, learning_rate=st.session_state[widget_key(page, "rate")], **sizes
        )
    except ValueError as rule:
        raise size_problem(rule, {ours: label for ours, label, *_ in NUMBERS.values()}) from rule


def same_data(trained: "LabelledTexts", texts: "LabelledTexts | None", page: str) -> bool:
    """Tell whether a run learned from the texts that are chosen. texts: as `data` gave them."""
    return trained is texts or trained.kind == "imdb" == st.session_state[widget_key(page, "data")]


def differences(page: str, trained: "ClassifierTraining", texts: "LabelledTexts | None") -> list[str]:
    """Name the data and each setting of a run that are not those now on the page, as in "Width 64"."""
    data = [] if same_data(trained.data, texts, page) else [f"texts {trained.data.source}"]
    held = {label: (getattr(trained.settings, ours), name) for name, (ours, label, *_) in NUMBERS.items()}
    held["Learning rate"] = (trained.settings.learning_rate, "rate")
    return data + [f"{label} {was:g}" for label, (was, name) in held.items() if was != st.session_state[widget_key(page, name)]]


def choose(page: str, trained: "ClassifierTraining") -> None:
    """Bring the settings and the texts of a run that goes on onto the page."""
    held = {name: getattr(trained.settings, ours) for name, (ours, *_) in NUMBERS.items()}
    held |= {"rate": trained.settings.learning_rate, "data": trained.data.kind}
    if trained.data.kind == "own":
        held["own"] = trained.data
    st.session_state.update({widget_key(page, name): value for name, value in held.items()})


def ask_own(page: str) -> None:
    """Ask for a CSV; what was read stays until another one is read."""
    from pages.ui.panels import training

    st.file_uploader(
        "A CSV with the columns text and label",
        type=["csv", "tsv", "txt"],
        key=widget_key(page, "csv"),
        max_upload_size=1,
        on_change=training.attempt,
        args=(page, lambda: read_own(page)),
    )


def read_own(page: str) -> None:
    """Read the uploaded CSV into the session; raise TextProblem for one that cannot be used."""
    from tx_core.training.classifier_data import read_csv

    uploaded = st.session_state[widget_key(page, "csv")]
    if uploaded is not None:  # taken out of the box again: what was read stays
        st.session_state[widget_key(page, "own")] = read_csv(uploaded.getvalue(), uploaded.name)


def data(page: str) -> "LabelledTexts | None":
    """Give the chosen texts; None for IMDB, which is fetched when training starts. Raises TextProblem without a CSV."""
    chosen = st.session_state[widget_key(page, "data")]
    if chosen == "opinions":
        return _opinions()
    if chosen == "own":
        own = st.session_state.get(widget_key(page, "own"))
        if own is None:
            raise TextProblem("Upload a CSV first: a first line that says text,label and then a text and its label in each line.")
        return own
    return None


@cache
def _opinions() -> "LabelledTexts":
    from tx_core.training.classifier_data import opinions

    return opinions()


def fetch_imdb() -> "LabelledTexts":
    """Fetch as many film reviews as a visitor's training may use; raise ModelUnavailable where they cannot be had."""
    from tx_core.training.classifier_data import imdb

    return imdb(IMDB_EXAMPLES)
