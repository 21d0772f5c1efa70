"""The model of the page: the data and the settings that a reader chooses, and the model that classifies."""

from functools import cache

import streamlit as st

from pages.classifier import texts
from pages.ui.panels import texts as panel_texts
from pages.ui.panels import training, training_sizes
from pages.ui.panels.training_sizes import Size
from pages.ui.shell.address import choice_field, widget_key
from pages.ui.shell.controls import ask_option
from pages.ui.shell.level import is_hidden
from pages.ui.shell.session import uploaded_file
from tx_core.engine.device import best_device
from tx_core.engine.device_limits import CARD_LIMITS, DeviceLimits, device_limits
from tx_core.errors import TextProblem
from tx_core.settings import host_settings
from tx_core.training import classifier, classifier_data
from tx_core.training.background import Snapshot
from tx_core.training.classifier import ClassifierTraining
from tx_core.training.classifier_data import LabelledTexts
from tx_core.training.classifier_model import ClassifierSettings
from tx_core.training.imdb import imdb

SIZES = {
    "epochs": Size("epochs", 8, 1, 20, *texts.SIZES["epochs"]),
    "batch": Size("batch_size", 32, 4, CARD_LIMITS.classifier["batch_size"], *texts.SIZES["batch"]),
    "width": Size("hidden_size", 32, 8, CARD_LIMITS.classifier["hidden_size"], *texts.SIZES["width"]),
    "layers": Size("num_layers", 1, 1, CARD_LIMITS.classifier["num_layers"], *texts.SIZES["layers"]),
    "heads": Size("num_heads", 2, 1, 8, *texts.SIZES["heads"]),
    "feed": Size("intermediate_size", 128, 8, CARD_LIMITS.classifier["intermediate_size"], *texts.SIZES["feed"]),
    "tokens": Size("most_tokens", 40, 4, 200, *texts.SIZES["tokens"]),
    "seed": Size("seed", 0, 0, 9999, *texts.SIZES["seed"]),
}
FIELDS = (choice_field("data", tuple(texts.DATA)), *training_sizes.training_fields(SIZES))


def limits() -> DeviceLimits:
    """Return what the device of this server allows."""
    return device_limits(best_device())


def offered_sizes() -> dict[str, Size]:
    """Return the sizes that this server offers, by its device."""
    return training_sizes.sizes_offered(SIZES, limits().classifier)


# Data


def data_input(page: str, *, disabled: bool) -> None:
    """Ask which texts to train on, and for a file of the reader's own; what was read from one stays until another is read."""
    chosen = ask_option(texts.DATA_TITLE, texts.DATA, key=widget_key(page, "data"), disabled=disabled)
    if chosen == "own" and not disabled:
        st.file_uploader(
            texts.CSV,
            type=["csv", "tsv", "txt"],
            key=widget_key(page, "csv"),
            max_upload_size=host_settings().max_example_file_megabytes,
            on_change=training.attempt,
            args=(page, lambda: read_own(page)),
        )


def read_own(page: str) -> None:
    """Read the uploaded CSV into the session; raise TextProblem for one that cannot be used."""
    uploaded = uploaded_file(widget_key(page, "csv"))
    if uploaded is not None:  # taken out of the box again: what was read stays
        st.session_state[widget_key(page, "own")] = classifier_data.read_csv(uploaded.getvalue(), uploaded.name)


def chosen_data(page: str) -> LabelledTexts | None:
    """Return the chosen texts; None for IMDB, which is fetched when training starts. Raises TextProblem without a CSV."""
    chosen = st.session_state[widget_key(page, "data")]
    if chosen == "opinions":
        return _generated_opinions()
    if chosen == "own":
        own = st.session_state.get(widget_key(page, "own"))
        if own is None:
            raise TextProblem(texts.CSV_MISSING)
        return own
    return None


@cache
def _generated_opinions() -> LabelledTexts:
    return classifier_data.opinions()


def fetch_imdb() -> LabelledTexts:
    """Fetch as many film reviews as a visitor's training may use; raise ModelUnavailable where they cannot be had."""
    return imdb(limits().imdb_train, limits().imdb_test)


def is_same_data(page: str, trained: LabelledTexts, data: LabelledTexts | None) -> bool:
    """Return whether a model was trained on the texts that are chosen. data: as `chosen_data` returns them."""
    return trained is data or trained.kind == "imdb" == st.session_state[widget_key(page, "data")]


# Settings


def setting_inputs(page: str, *, disabled: bool) -> None:
    """Ask for the sizes of the model and of its training."""
    if is_hidden("settings"):
        return
    with st.expander(panel_texts.SIZES, icon=":material/tune:"):
        training_sizes.size_inputs(page, offered_sizes(), columns=3, disabled=disabled)


def chosen_settings(page: str) -> ClassifierSettings:
    """Read what was chosen; raise TextProblem where the sizes do not fit together."""
    return training_sizes.build_settings(
        page, offered_sizes(), ClassifierSettings, most_words=limits().classifier["most_words"], dropout=0.0
    )


def show_settings(page: str, model: ClassifierTraining) -> None:
    """Write the settings and the texts of a model that is trained further into the page's controls."""
    values = training_sizes.page_values(model.settings, SIZES) | {"data": model.data.kind}
    if model.data.kind == "own":
        values["own"] = model.data
    st.session_state.update({widget_key(page, name): value for name, value in values.items()})


def differences(page: str, model: ClassifierTraining, data: LabelledTexts | None) -> list[str]:
    """Name the data and each setting of a model that are not those now on the page, as in "Hidden size 64"."""
    names = training_sizes.size_differences(page, model.settings, SIZES)
    if is_same_data(page, model.data, data):
        return names
    return [texts.OTHER_DATA.format(source=model.data.source), *names]


# The model


def new_model(page: str) -> ClassifierTraining:
    """Return an untrained model with the page's settings; raise ExplorerError without data or where training takes too long."""
    data = chosen_data(page) or fetch_imdb()
    return classifier.check_classifier_work(classifier.start_training(chosen_settings(page), data, best_device()))


def current_model(page: str, snapshot: Snapshot | None, data: LabelledTexts | None) -> ClassifierTraining | None:
    """Return the visitor's trained model where it has the settings and data on the page, else an untrained one.

    None for IMDB before it is fetched.
    """
    settings, trained = chosen_settings(page), snapshot.result if snapshot else None
    if trained and trained.settings == settings and is_same_data(page, trained.data, data):
        return trained
    if data is None:
        return None
    untrained = st.session_state.get(widget_key(page, "untrained"))
    if untrained is None or untrained.settings != settings or untrained.data is not data:
        untrained = st.session_state[widget_key(page, "untrained")] = classifier.start_training(settings, data, best_device())
    return untrained
