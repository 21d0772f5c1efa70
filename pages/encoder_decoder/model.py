"""The model of the page: the numbers and settings that a reader chooses, and the model that answers."""

from contextlib import suppress
from functools import partial

import streamlit as st

from pages.encoder_decoder import inside, texts
from pages.ui.panels import texts as panel_texts
from pages.ui.panels import training_sizes
from pages.ui.panels.training_sizes import Size
from pages.ui.shell import controls
from pages.ui.shell.address import read_stage_address, set_values, value_of, widget_key
from pages.ui.shell.fields import StageFields, choice_field, flag_field, text_field
from pages.ui.shell.level import is_hidden
from pages.ui.stage import background_runs
from pages.ui.stage.training import LOOK_NAMES, ShownTraining, Trainer, kept_untrained, look_fields, shown_training
from tx_core.engine.device import best_device
from tx_core.engine.device_limits import CARD_LIMITS, CPU_LIMITS, device_limits, exceeds
from tx_core.errors import ExplorerError, TextProblem
from tx_core.training import copy_task
from tx_core.training.copy_task import NOTEBOOK_COPY, TASKS, CopySettings, CopyTraining
from tx_core.training.loop import check_work
from tx_core.training.stored import stored_copy

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

PAGE, KIND = "encoder_decoder", "sequences"
MOST_HEADS = CARD_LIMITS.encoder_decoder["num_layers"], 8
"""Layers and heads of the largest model."""
NUMBERS = "8 3 41 7 99 15 4 62 27"
TASK_VALUES = {"sort": {"vocab": 20, "batches": 400, "numbers": "8 3 11 7 19 15 4 12 17"}}
"""What is chosen with a task where the defaults are not enough to learn it, by the names in the address."""
FIELDS = StageFields(
    own=(
        text_field("numbers", NUMBERS),
        choice_field("part", tuple(texts.PARTS)),
        choice_field("task", tuple(TASKS)),
        *training_sizes.training_fields(SIZES),
        flag_field("post"),
        *inside.FIELDS,
    ),
    looks=look_fields(tuple(texts.KINDS), [], MOST_HEADS),
    names=LOOK_NAMES,
)


def number_input() -> str:
    """Read the address, draw the boxes of numbers, task and sizes, and return the numbers as they were typed."""
    read_stage_address(PAGE, FIELDS, lambda: TASK_VALUES.get(value_of(PAGE, "task"), {}))
    run = background_runs.current_run(KIND)
    is_running = bool(run and run.running)
    with st.container(horizontal=True, vertical_alignment="center"):
        numbers = controls.sentence(
            widget_key(PAGE, "numbers"), texts.NUMBERS, label_visibility="collapsed", placeholder=texts.NUMBERS
        )
        st.button(texts.RANDOM_NUMBERS, key=widget_key(PAGE, "draw"), icon=":material/casino:", on_click=write_random_numbers)
        st.segmented_control(
            texts.SETTING,
            list(TASKS),
            key=widget_key(PAGE, "task"),
            label_visibility="collapsed",
            disabled=is_running,
            required=True,
            format_func=lambda task: TASKS[task].title,
            on_change=choose_task,
        )
        _ask_settings(is_running)
    st.markdown(texts.TASK_NOTES[value_of(PAGE, "task")].format(**TASK_VALUES["sort"]))
    return numbers


def offered_sizes() -> dict[str, Size]:
    """Return the sizes that this server offers, by its device."""
    return training_sizes.sizes_offered(SIZES, device_limits(best_device()).encoder_decoder)


def _ask_settings(is_running: bool) -> None:
    """Ask for the sizes of the model and of its training, in a box that opens."""
    if is_hidden("settings"):
        return
    with st.popover(panel_texts.SIZES, icon=":material/tune:"):
        training_sizes.training_inputs(PAGE, offered_sizes(), disabled=is_running, rate_help=texts.LEARNING_RATE_HELP)
        st.toggle(texts.POST_NORM, key=widget_key(PAGE, "post"), disabled=is_running, help=texts.POST_NORM_HELP)
        if not exceeds(NOTEBOOK_COPY, device_limits(best_device()).encoder_decoder):
            act = {"on_click": _set_sizes, "args": (NOTEBOOK_COPY,)}
            st.button(texts.FULL_SIZE, key=widget_key(PAGE, "full"), disabled=is_running, **act)


def _set_sizes(settings: CopySettings) -> None:
    """Write all settings into the page's controls but for the task, which stays."""
    set_values(PAGE, training_sizes.page_values(settings, SIZES) | {"post": not settings.norm_first})


def chosen_settings() -> CopySettings:
    """Read what was chosen; raise TextProblem where the sizes do not fit together."""
    others = {"learning_rate": value_of(PAGE, "rate"), "task": value_of(PAGE, "task"), "norm_first": not value_of(PAGE, "post")}
    return training_sizes.build_settings(PAGE, offered_sizes(), CopySettings, **others)


def choose_task() -> None:
    """Set what a task needs to be learned; what the reader has changed stays."""
    task = value_of(PAGE, "task")
    defaults = {"vocab": SIZES["vocab"].default, "batches": SIZES["batches"].default, "numbers": NUMBERS}
    for name, default in defaults.items():
        key = widget_key(PAGE, name)
        if st.session_state.get(key, default) in (default, *(values[name] for values in TASK_VALUES.values())):
            st.session_state[key] = TASK_VALUES.get(task, defaults)[name]


def show_settings(model: CopyTraining) -> None:
    """Write the settings of a model that is trained further into the page's controls."""
    _set_sizes(model.settings)
    set_values(PAGE, {"task": model.settings.task})


# The model


def new_model() -> CopyTraining:
    """Return an untrained model with the page's settings; raise ExplorerError where this server would train it for too long."""
    settings, device = chosen_settings(), best_device()
    check_work(settings.work, device)
    made = copy_task.start_copy_training(settings, device)
    with suppress(TextProblem):  # numbers that cannot be read are not followed
        made.probe = copy_task.read_numbers(value_of(PAGE, "numbers"), made.settings)
    return made


TRAINER = Trainer(PAGE, KIND, FIELDS, new_model, show_settings, texts.DISCARDED)


def chosen_training() -> ShownTraining:
    """Return the visitor's training with the settings on the page, else the one that ships, or an untrained one. Raises
    TextProblem.
    """
    return shown_training(TRAINER, lambda one: one.settings == chosen_settings(), untrained, stored_copy())


def untrained(model: CopyTraining | None = None) -> CopyTraining | None:
    """Return the untrained model of a training, or with the settings on the page; None for a large one, to spare the card's
    memory.
    """
    settings = model.settings if model else chosen_settings()
    if exceeds(settings, CPU_LIMITS.encoder_decoder) and model is None:
        return None
    make = partial(copy_task.start_copy_training, settings, best_device())
    return kept_untrained(PAGE, lambda kept: kept.settings == settings, make)


def write_random_numbers() -> None:
    """Fill the text box with a random sequence that was not trained on."""
    try:
        settings = chosen_settings()
    except ExplorerError:
        return
    draws = st.session_state[widget_key(PAGE, "drawn")] = st.session_state.get(widget_key(PAGE, "drawn"), 0) + 1
    numbers = copy_task.random_sources(1, settings.length, settings.vocab_size, 10**9 + draws)[0, 1:].tolist()
    set_values(PAGE, {"numbers": " ".join(map(str, numbers))})


def count_errors(model: CopyTraining) -> tuple[int, int]:
    """Count the numbers that a trained model writes wrongly in a test, and all numbers; each model is tested once."""
    tested, counts = st.session_state.get(widget_key(PAGE, "examined"), (None, (0, 0)))
    if tested is not model:
        counts = copy_task.count_errors(model)
        st.session_state[widget_key(PAGE, "examined")] = model, counts
    return counts
