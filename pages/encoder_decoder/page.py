"""How does one sequence become another? An encoder-decoder trained before the reader's eyes, with its masks and shapes."""

from typing import TYPE_CHECKING

import streamlit as st

from pages.encoder_decoder import model as copy_model
from pages.encoder_decoder import shapes, task_controls, texts
from pages.ui.canvas.attention_view import heads_from_link, heads_to_link
from pages.ui.panels import training
from pages.ui.shell import controls
from pages.ui.shell.address import (
    Field,
    choice_field,
    forget_told,
    read_view,
    tell_not_understood,
    text_field,
    widget_key,
    write_view,
)
from pages.ui.shell.frame import explain, open_page, share_link, show_engine, ways_on
from pages.ui.shell.live import live
from tx_core.errors import ExplorerError

if TYPE_CHECKING:  # the core imports torch: the title is painted without it
    from tx_core.training.copy_task import CopyTraining

PAGE, KIND = "encoder_decoder", "sequences"
PARTS = {"train": "Train it", "inside": "Masks and shapes"}
SHARED = (
    "This link holds the settings and the numbers that you wrote, not the trained model: whoever opens it can train one with "
    "them, or load yours from its file."
)


def read_head(written: str) -> tuple[int, int]:
    """Read one head as a link names it, as in 1-3."""
    heads = heads_from_link(written, 2, 8)
    if len(heads) != 1 or heads_to_link(heads) != written:
        raise ValueError("head must be written like 1-3")
    return heads[0]


FIELDS = (
    choice_field("part", tuple(PARTS)),
    *task_controls.FIELDS,
    text_field("numbers", "8 3 41 7 99 15 4 62 20"),
    choice_field("kind", ("cross", "self", "decoder")),
    Field("head", None, read_head, lambda head: heads_to_link([head]) if head else ""),
    *shapes.FIELDS,
)


def value(name: str) -> object:
    """Tell what a field of this page holds."""
    return st.session_state[widget_key(PAGE, name)]


def train_it() -> None:
    """The task, its training, and the visitor's own sequence."""
    from tx_core.engine import device

    show_engine(badge, f"Encoder-decoder, {value('layers')} + {value('layers')} layers", device.best_device())
    snapshot = training.current_run(KIND)
    running = bool(snapshot and snapshot.running)
    trained = snapshot.result if snapshot else None
    with st.container(horizontal=True, vertical_alignment="bottom"):
        st.segmented_control(
            "Task",
            list(task_controls.TASKS),
            key=widget_key(PAGE, "task"),
            disabled=running,
            required=True,
            format_func=task_controls.TASKS.get,
        )
        training.run_buttons(
            PAGE,
            KIND,
            snapshot,
            lambda: copy_model.begin(PAGE),
            lambda left: task_controls.choose(PAGE, left),
            disabled=not copy_model.fits(PAGE),
        )
        task_controls.keep_and_load(PAGE, KIND, trained, disabled=running)
    task_controls.ask_sizes(PAGE, disabled=running)
    with st.container():  # always there, so that the box below keeps its place, and the reader what is being typed
        training.show_problem(PAGE)
        watch_it(snapshot)
    live(PAGE, FIELDS, ask_it, snapshot)


def watch_it(snapshot: training.Snapshot | None) -> None:
    """Show the training where there is one: as it goes, or what is left of it."""
    from pages.encoder_decoder import pictures

    if snapshot is None:
        return
    if snapshot.result:
        training.show_differences(task_controls.differences(PAGE, snapshot.result.settings))
    if snapshot.result and not snapshot.records:
        st.caption("This model was loaded from a file.")
        pictures.show_loss(PAGE, snapshot.result)
        return
    training.watch(KIND, snapshot, lambda now: pictures.show_training(PAGE, now))


def ask_it(snapshot: training.Snapshot | None) -> None:
    """Let the model answer the visitor's own sequence, and show all its attention; the box stands there all the time."""
    training.follow_click(PAGE)
    st.header("Ask it yourself")
    with st.container():
        model = tell_model(snapshot)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        controls.sentence(widget_key(PAGE, "numbers"), "Your numbers")
        st.button(
            "Draw numbers", key=widget_key(PAGE, "draw"), icon=":material/casino:", on_click=copy_model.draw_numbers, args=(PAGE,)
        )
    if model:
        show_answer(model)


def tell_model(snapshot: training.Snapshot | None) -> "CopyTraining | None":
    """Say how far the model that answers was trained; give it, or None where there is none now, and say why."""
    if snapshot and snapshot.running:
        st.caption("Your own sequence is answered here as soon as the training has stopped.")
        return None
    try:
        model = copy_model.shown(PAGE, snapshot)
    except ExplorerError as unfit:
        explain(unfit)
        return None
    done, batches = len(model.losses), model.settings.batches
    if done:
        st.markdown(
            f"This model was trained on **{done:,} of {batches:,} batches** to {model.settings.task} numbers. "
            "Reloading the page loses it: keep it as a file if you want it again."
        )
    else:
        st.markdown(
            ":material/casino: This model is **not trained yet**: its weights are random numbers, so what it answers and "
            "where it looks mean nothing. Train it and look again."
        )
    return model


def show_answer(model: "CopyTraining") -> None:
    """Show what the model answers to the numbers in the box, why some may be wrong, and where it looked."""
    from pages.encoder_decoder import pictures
    from tx_core.training import copy_task

    found = copy_task.answer(model, copy_task.read_numbers(value("numbers"), model.settings))
    pictures.show_answer(found)
    if wrong := pictures.why_wrong(found, model, lambda: copy_model.examined(PAGE, model)):
        st.caption(wrong)
    elif model.losses and not found.usual_length:
        st.caption(f"It was trained on sequences of {model.settings.length - 1} numbers only; others are new to it.")
    best = copy_task.best_head(found.trace, model.settings.task)
    live(PAGE, FIELDS, pictures.show_maps, PAGE, found, (best.layer, best.head))


badge = open_page(PAGE)
read_view(PAGE, FIELDS, {})
tell_not_understood(PAGE)
part = st.segmented_control(
    "Part", list(PARTS), key=widget_key(PAGE, "part"), format_func=PARTS.get, required=True, label_visibility="collapsed"
)
if part == "train":
    texts.tell_task()
    live(PAGE, FIELDS, train_it)
else:
    forget_told(widget_key(PAGE, "numbers"))
    show_engine(badge, "Encoder-decoder, random weights", "cpu")
    shapes.tell_masks()
    live(PAGE, FIELDS, shapes.inside, PAGE)
write_view(PAGE, FIELDS, {})
ways_on("", "", "self_attention", "masks", "positions")
share_link(SHARED)
