"""The model of the page: the sentence, the data and the settings that a reader chooses, and the model that classifies."""

from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from operator import attrgetter

import streamlit as st

from pages.classifier import texts
from pages.ui.panels import texts as panel_texts
from pages.ui.panels import training_sizes
from pages.ui.panels.training_sizes import Size
from pages.ui.shell import controls
from pages.ui.shell.address import is_offered, read_stage_address, value_of, widget_binding, widget_key
from pages.ui.shell.controls import ask_option, choice_box, download_button
from pages.ui.shell.fields import StageFields, choice_field, text_field
from pages.ui.shell.level import is_hidden
from pages.ui.shell.session import UploadedFile
from pages.ui.stage import background_runs
from pages.ui.stage.training import LOOK_NAMES, ShownTraining, Trainer, kept_untrained, look_fields, shown_training
from tx_core.engine.device import best_device
from tx_core.engine.device_limits import CARD_LIMITS, DeviceLimits, device_limits
from tx_core.errors import ExplorerError, TextProblem
from tx_core.lessons.labels import FINE_TUNED
from tx_core.training import classifier, classifier_data
from tx_core.training.classifier import ClassifierTraining
from tx_core.training.classifier_data import LabelledTexts, examples_csv
from tx_core.training.classifier_model import ClassifierSettings
from tx_core.training.imdb import imdb
from tx_core.training.loop import check_work

SHOWN_EXAMPLES = 6
MODEL_WIDTH = 280
"""Pixels of the list of models."""

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
PAGE, KIND = "classifier", "labels"
MOST_HEADS = max(CARD_LIMITS.classifier["num_layers"], controls.embedded_sizes()[0]), 8
"""Layers and heads of the largest model."""
FIELDS = StageFields(
    own=(
        choice_field("model", ("own", FINE_TUNED)),
        choice_field("data", tuple(texts.DATA)),
        *training_sizes.training_fields(SIZES),
        text_field("text", texts.FIRST_SENTENCE),
    ),
    looks=look_fields(("self",), [(0, 0)], MOST_HEADS),
    first={"model": FINE_TUNED, "text": texts.FILM_SENTENCE},
    names=LOOK_NAMES,
)


def limits() -> DeviceLimits:
    """Return what the device of this server allows."""
    return device_limits(best_device())


def offered_sizes() -> dict[str, Size]:
    """Return the sizes that this server offers, by its device."""
    return training_sizes.sizes_offered(SIZES, limits().classifier)


# What is asked


@dataclass(frozen=True)
class LabelInputs:
    """What the page is asked.

    is_own: whether a model that is trained on the page labels it; else the one that ships. data: the texts to train on; None for
    IMDB before it is fetched. problem: why there are none, or none that can be used.
    """

    text: str
    is_own: bool
    data: LabelledTexts | None
    problem: ExplorerError | None


def label_inputs() -> LabelInputs:
    """Read the address, draw the boxes of sentence, model, texts and sizes, and return what is asked."""
    read_stage_address(PAGE, FIELDS)
    run = background_runs.current_run(KIND)
    is_running = bool(run and run.running)
    with st.container(horizontal=True, vertical_alignment="center", gap="xsmall"):
        text = controls.sentence(
            widget_key(PAGE, "text"), texts.SENTENCE, label_visibility="collapsed", placeholder=texts.SENTENCE
        )
        key = widget_key(PAGE, "model")
        is_own = st.session_state[key] == "own"
        if is_offered("model"):
            look = {"label_visibility": "collapsed", "width": MODEL_WIDTH}
            asked = choice_box(texts.MODEL_TITLE, list(texts.MODELS), format_func=texts.MODELS.get, **widget_binding(key), **look)
            is_own = asked == "own"
        if is_own:
            _ask_data(is_running)
            if not is_hidden("settings"):
                with st.popover(panel_texts.SIZES, icon=":material/tune:"):
                    training_sizes.training_inputs(PAGE, offered_sizes(), disabled=is_running)
    data, problem = None, None
    if is_own:
        try:
            data = chosen_data()
        except ExplorerError as missing:
            refused = st.session_state.get(widget_key(PAGE, "refused"))
            problem = refused if isinstance(refused, TextProblem) else missing
            _ask_file(is_running)
    with st.container(horizontal=True, vertical_alignment="center", key=widget_key(PAGE, "notice")):
        st.markdown(texts.NOTICES[is_own].get(text, texts.NOTICE[is_own]), width="content")
        if data is None or data.kind == "opinions":
            for number, (label, sentence) in enumerate(texts.TRIES[is_own].items()):
                box = {widget_key(PAGE, "text"): sentence}
                key = widget_key(PAGE, f"try{number}")
                st.button(label, key=key, type="tertiary", on_click=st.session_state.update, args=(box,))
    return LabelInputs(text, is_own, data, problem)


def _ask_data(is_running: bool) -> None:
    """Ask which texts to train on, in a box that opens; show how many there are, and a few."""
    key = widget_key(PAGE, "data")
    with st.popover(texts.DATA[st.session_state[key]], icon=":material/database:"):
        chosen = ask_option(texts.DATA_TITLE, texts.DATA, key=key, disabled=is_running)
        own = st.session_state.get(widget_key(PAGE, "own_texts"))
        if chosen == "imdb":
            st.text(texts.IMDB.format(train=limits().imdb_train, test=limits().imdb_test))
            st.text(texts.IMDB_NOTEBOOK)
        elif chosen == "opinions" or own:
            show_data(own if chosen == "own" else classifier_data.opinions())
        if chosen == "own" and own:
            _ask_file(is_running)


def _ask_file(is_running: bool) -> None:
    """Ask for a file of the reader's own; what was read from one stays until another is read."""
    if st.session_state[widget_key(PAGE, "data")] == "own" and not is_running:
        types, most = ["csv", "tsv", "txt"], classifier_data.MAX_FILE_BYTES
        background_runs.ask_upload(PAGE, "csv", texts.CSV, types, "own_texts", _read_file, attrgetter("source"), most)


def _read_file(file: UploadedFile) -> LabelledTexts:
    return classifier_data.read_csv(file.getvalue(), file.name)


def show_data(data: LabelledTexts) -> None:
    """Show what the model is trained on: how much there is, and a few of the texts."""
    st.text(
        texts.DATA_SUMMARY.format(
            train=len(data.train_texts), test=len(data.test_texts), labels=", ".join(data.names), source=data.source
        )
    )
    for label, text in zip(data.train_labels[:SHOWN_EXAMPLES], data.train_texts[:SHOWN_EXAMPLES], strict=True):
        st.text(texts.EXAMPLE.format(label=data.names[label], text=text))
    download_button(texts.SAVE_CSV, lambda: examples_csv(data), "texts.csv", key=widget_key(PAGE, "texts"))


def chosen_data() -> LabelledTexts | None:
    """Return the chosen texts; None for IMDB, which is fetched when training starts. Raises TextProblem without a CSV."""
    chosen = st.session_state[widget_key(PAGE, "data")]
    if chosen == "opinions":
        return classifier_data.opinions()
    if chosen == "own":
        own = st.session_state.get(widget_key(PAGE, "own_texts"))
        if own is None:
            raise TextProblem(texts.CSV_MISSING)
        return own
    return None


def is_same_data(trained: LabelledTexts, data: LabelledTexts | None) -> bool:
    """Return whether a model was trained on the texts that are chosen. data: as `chosen_data` returns them."""
    chosen = st.session_state[widget_key(PAGE, "data")]
    return trained is data or (trained.kind == chosen != "own")


# The model


def chosen_settings() -> ClassifierSettings:
    """Read what was chosen; raise TextProblem where the sizes do not fit together."""
    others = {"learning_rate": value_of(PAGE, "rate"), "most_words": limits().classifier["most_words"], "dropout": 0.0}
    return training_sizes.build_settings(PAGE, offered_sizes(), ClassifierSettings, **others)


def show_settings(model: ClassifierTraining) -> None:
    """Write the settings and the texts of a model that is trained further, or shown, into the page's controls."""
    values = training_sizes.page_values(model.settings, SIZES) | {"data": model.data.kind}
    if model.data.kind == "own":
        values["own_texts"] = model.data
    st.session_state.update({widget_key(PAGE, name): value for name, value in values.items()})


def new_model() -> ClassifierTraining:
    """Return an untrained model with the page's settings; raise ExplorerError without data or where training takes too long."""
    data = chosen_data() or imdb(limits().imdb_train, limits().imdb_test)
    made = classifier.start_training(chosen_settings(), data, best_device())
    check_work(made.work, made.device)
    with suppress(TextProblem):  # of a sentence that cannot be read nothing is kept
        classifier.classify(made, st.session_state[widget_key(PAGE, "text")])
        made.probe = st.session_state[widget_key(PAGE, "text")]
    return made


TRAINER = Trainer(PAGE, KIND, FIELDS, new_model, show_settings, texts.KEPT)


def chosen_training(inputs: LabelInputs) -> ShownTraining:
    """Return the visitor's trained model where it has the settings and texts on the page, else an untrained one, or none yet.

    Raises ExplorerError where the sizes do not fit together, or there are no texts.
    """

    def is_chosen(model: ClassifierTraining) -> bool:
        return not inputs.problem and model.settings == chosen_settings() and is_same_data(model.data, inputs.data)

    shown = shown_training(TRAINER, is_chosen, lambda: untrained(inputs))
    if inputs.problem and not shown.is_running:
        raise inputs.problem
    return shown


def untrained(inputs: LabelInputs, model: ClassifierTraining | None = None) -> ClassifierTraining | None:
    """Return the untrained model of a training, or with the settings and texts on the page; None where there are no texts."""
    settings, data = (model.settings, model.data) if model else (chosen_settings(), inputs.data)
    make = partial(classifier.start_training, settings, data, best_device())
    return data and kept_untrained(PAGE, lambda kept: kept.settings == settings and kept.data is data, make)
