"""The model of the page: the settings that a reader chooses, the model that answers, and the file that keeps it."""

import streamlit as st

from pages.encoder_decoder import texts
from pages.ui.panels import texts as panel_texts
from pages.ui.panels import training, training_sizes
from pages.ui.panels.training_sizes import MAX_LEARNING_RATE, MIN_LEARNING_RATE, Size
from pages.ui.shell.address import choice_field, flag_field, widget_key
from pages.ui.shell.controls import download_button
from pages.ui.shell.level import is_hidden
from pages.ui.shell.session import uploaded_file
from tx_core.engine.device import best_device
from tx_core.engine.device_limits import CARD_LIMITS, CPU_LIMITS, device_limits, exceeds
from tx_core.errors import CheckpointProblem, ExplorerError
from tx_core.settings import host_settings
from tx_core.training import copy_file, copy_task, synthetic
from tx_core.training.background import Snapshot
from tx_core.training.copy_task import CopyTraining
from tx_core.training.synthetic import NOTEBOOK_COPY, TASKS, CopySettings

SIZES = {
    "vocab": Size("vocab_size", 100, 4, 500, *texts.SIZES["vocab"]),
    "length": Size("length", 10, 3, 16, *texts.SIZES["length"]),
    "batch": Size("batch_size", 64, 4, 128, *texts.SIZES["batch"]),
    "batches": Size("batches", 200, 10, 600, *texts.SIZES["batches"]),
    "width": Size("hidden_size", 64, 8, CARD_LIMITS.encoder_decoder["hidden_size"], *texts.SIZES["width"]),
    "layers": Size("num_layers", 1, 1, CARD_LIMITS.encoder_decoder["num_layers"], *texts.SIZES["layers"]),
    "heads": Size("num_heads", 4, 1, 8, *texts.SIZES["heads"]),
    "feed": Size("intermediate_size", 128, 8, CARD_LIMITS.encoder_decoder["intermediate_size"], *texts.SIZES["feed"]),
    "seed": Size("seed", 0, 0, 9999, *texts.SIZES["seed"]),
}

NUMBERS = "8 3 41 7 99 15 4 62 20"
TASK_VALUES = {"sort": {"vocab": 20, "batches": 400, "numbers": "8 3 11 7 19 15 4 12 17"}}
"""What is chosen with a task where the defaults are not enough to learn it, by the names in the address."""
FIELDS = (choice_field("task", tuple(TASKS)), *training_sizes.training_fields(SIZES), flag_field("post"))

# Settings


def offered_sizes() -> dict[str, Size]:
    """Return the sizes that this server offers, by its device."""
    return training_sizes.sizes_offered(SIZES, device_limits(best_device()).encoder_decoder)


def setting_inputs(page: str, *, disabled: bool) -> None:
    """Ask for the sizes of the model and of its training."""
    if is_hidden("settings"):
        return
    with st.expander(panel_texts.SIZES, icon=":material/tune:"):
        training_sizes.size_inputs(page, offered_sizes(), columns=4, disabled=disabled, rate_help=texts.LEARNING_RATE_HELP)
        st.toggle(texts.POST_NORM, key=widget_key(page, "post"), disabled=disabled, help=texts.POST_NORM_HELP)
        if not exceeds(NOTEBOOK_COPY, device_limits(best_device()).encoder_decoder):
            st.button(texts.FULL_SIZE, key=widget_key(page, "full"), disabled=disabled, on_click=_choose_full_size, args=(page,))


def _choose_full_size(page: str) -> None:
    """Set the sizes of the notebook; the task stays."""
    values = training_sizes.page_values(NOTEBOOK_COPY, SIZES) | {"post": not NOTEBOOK_COPY.norm_first}
    st.session_state.update({widget_key(page, name): value for name, value in values.items()})


def chosen_settings(page: str) -> CopySettings:
    """Read what was chosen; raise TextProblem where the sizes do not fit together."""
    task, post = (st.session_state[widget_key(page, name)] for name in ("task", "post"))
    return training_sizes.build_settings(page, offered_sizes(), CopySettings, task=task, norm_first=not post)


def choose_task(page: str) -> None:
    """Set what a task needs to be learned; what the reader has changed stays."""
    task = st.session_state[widget_key(page, "task")]
    defaults = {"vocab": SIZES["vocab"].default, "batches": SIZES["batches"].default, "numbers": NUMBERS}
    for name, default in defaults.items():
        key = widget_key(page, name)
        if st.session_state.get(key, default) in (default, *(values[name] for values in TASK_VALUES.values())):
            st.session_state[key] = TASK_VALUES.get(task, defaults)[name]


def settings_fit(page: str) -> bool:
    """Return whether the chosen sizes fit together; the page explains elsewhere why they do not."""
    try:
        chosen_settings(page)
    except ExplorerError:
        return False
    return True


def show_settings(page: str, model: CopyTraining) -> None:
    """Write the settings of a model that was loaded, or that is trained further, into the page's controls."""
    settings = model.settings
    values = training_sizes.page_values(settings, SIZES) | {"task": settings.task, "post": not settings.norm_first}
    st.session_state.update({widget_key(page, name): value for name, value in values.items()})


def differences(page: str, settings: CopySettings) -> list[str]:
    """Return the name of each setting of a model that is not the one now on the page, as in "Hidden size 64"."""
    names = training_sizes.size_differences(page, settings, SIZES)
    if settings.task != st.session_state[widget_key(page, "task")]:
        names.append(TASKS[settings.task].title)
    if settings.norm_first == st.session_state[widget_key(page, "post")]:
        names.append(texts.NORMS[settings.norm_first])
    return names


# The model


def new_model(page: str) -> CopyTraining:
    """Return an untrained model with the page's settings; raise ExplorerError where this server would train it for too long."""
    device = best_device()
    return copy_task.start_copy_training(synthetic.check_copy_work(chosen_settings(page), device), device)


def is_large(settings: CopySettings) -> bool:
    """Return whether sizes are offered on a GPU only. The largest model takes 180 MB, and three times more while it learns."""
    return exceeds(settings, CPU_LIMITS.encoder_decoder)


def current_model(page: str, snapshot: Snapshot | None) -> CopyTraining | None:
    """Return the visitor's trained model where it has the page's settings, else the untrained one of a fixed seed.

    None for an untrained one that is large: visitors who only look would fill the memory of the card.
    """
    settings = chosen_settings(page)
    if snapshot and snapshot.result and snapshot.result.settings == settings:
        return snapshot.result
    if is_large(settings):
        return None
    untrained = st.session_state.get(widget_key(page, "untrained"))
    if untrained is None or untrained.settings != settings:
        untrained = st.session_state[widget_key(page, "untrained")] = copy_task.start_copy_training(settings, best_device())
    return untrained


def write_random_numbers(page: str) -> None:
    """Fill the text box with a random sequence that was not trained on."""
    try:
        settings = chosen_settings(page)
    except ExplorerError:
        return
    draws = st.session_state[widget_key(page, "drawn")] = st.session_state.get(widget_key(page, "drawn"), 0) + 1
    numbers = synthetic.random_sources(1, settings.length, settings.vocab_size, 10**9 + draws)[0, 1:].tolist()
    st.session_state[widget_key(page, "numbers")] = " ".join(map(str, numbers))


def count_errors(page: str, model: CopyTraining) -> tuple[int, int]:
    """Count the numbers that a trained model writes wrongly in a test, and all numbers; each model is tested once."""
    tested, counts = st.session_state.get(widget_key(page, "examined"), (None, (0, 0)))
    if tested is not model:
        counts = copy_task.count_errors(model)
        st.session_state[widget_key(page, "examined")] = model, counts
    return counts


# The file


def file_menu(page: str, kind: str, model: CopyTraining | None, *, disabled: bool) -> None:
    """Offer the trained model as a file, and an upload of such a file in its place."""
    if is_hidden("files"):
        return
    with st.popover(texts.FILE, icon=":material/save:", disabled=disabled):
        st.text(texts.FILE_HELP)
        if model is None:
            st.text(texts.NOTHING_TO_SAVE)
        elif is_large(model.settings):
            st.text(texts.TOO_LARGE_TO_SAVE)
        else:
            download_button(
                texts.SAVE, lambda: to_file(model), f"{model.settings.task}.safetensors", key=widget_key(page, "save")
            )
        st.file_uploader(
            texts.LOAD,
            type=["safetensors"],
            key=widget_key(page, "file"),
            max_upload_size=host_settings().max_model_file_megabytes,
            on_change=training.attempt,
            args=(page, lambda: load(page, kind)),
        )


def to_file(model: CopyTraining) -> bytes:
    """Return a trained model as a file; a stopped one with everything that it needs to continue."""
    return copy_file.to_file(model, resumable=not model.finished)


def from_file(data: bytes) -> CopyTraining:
    """Read a model from its file; raise CheckpointProblem for a file that cannot be used."""
    return check_offered(copy_file.from_file(data, best_device()))


def load(page: str, kind: str) -> None:
    """Put an uploaded model in place of the visitor's own; raise ExplorerError for a file that cannot be used."""
    uploaded = uploaded_file(widget_key(page, "file"))
    if uploaded is None:  # taken out of the box again: the model stays
        return
    if uploaded.size > (limit := host_settings().max_model_file_megabytes) * 1_000_000:
        raise CheckpointProblem(texts.FILE_TOO_LARGE.format(limit=limit, size=uploaded.size / 1e6))
    model = from_file(uploaded.getvalue())
    training.add_stopped(kind, model)
    show_settings(page, model)


def check_offered(model: CopyTraining) -> CopyTraining:
    """Return a loaded model, or raise CheckpointProblem where it has sizes that this page does not offer."""
    for size in offered_sizes().values():
        value = getattr(model.settings, size.setting)
        if not size.minimum <= value <= size.maximum:
            raise CheckpointProblem(
                texts.SIZE_NOT_OFFERED.format(label=size.label, minimum=size.minimum, maximum=size.maximum, value=value)
            )
    rate = model.settings.learning_rate
    if not MIN_LEARNING_RATE <= rate <= MAX_LEARNING_RATE:
        raise CheckpointProblem(texts.RATE_NOT_OFFERED.format(minimum=MIN_LEARNING_RATE, maximum=MAX_LEARNING_RATE, value=rate))
    return model
