"""How does one sequence become another? An encoder-decoder trained on the page, with its masks and shapes."""

import streamlit as st

from pages.ui.shell.frame import open_page

PAGE = "encoder_decoder"
badge = open_page(PAGE)

# The title is on its way: what follows imports torch.
from pages.encoder_decoder import drawings, model, shapes, texts
from pages.ui.canvas.attention_view import head_from_link, heads_to_link
from pages.ui.export.lessons import draw_and_export
from pages.ui.panels import training
from pages.ui.shell import controls
from pages.ui.shell.address import (
    Field,
    choice_field,
    read_view,
    resend_value,
    text_field,
    widget_key,
    write_view,
)
from pages.ui.shell.controls import live
from pages.ui.shell.frame import ask_part, explain, page_links, share_link, show_engine, show_source
from pages.ui.shell.level import is_hidden, show_formula
from tx_core.engine.device import best_device
from tx_core.engine.device_limits import CARD_LIMITS
from tx_core.errors import ExplorerError
from tx_core.training import copy_task
from tx_core.training.background import Snapshot
from tx_core.training.copy_task import CopyTraining
from tx_core.training.synthetic import TASKS
from tx_core.transformer import seq2seq

KIND = "sequences"
MAX_HEADS = CARD_LIMITS.encoder_decoder["num_layers"], 8
# Layers and heads of the largest model.


FIELDS = (
    choice_field("part", tuple(texts.PARTS)),
    *model.FIELDS,
    text_field("numbers", model.NUMBERS),
    choice_field("kind", tuple(texts.KINDS)),
    Field("head", None, lambda written: head_from_link(written, *MAX_HEADS), lambda head: heads_to_link([head]) if head else ""),
    *shapes.FIELDS,
)


def introduce_task() -> None:
    """Explain what an encoder-decoder is, in words, equations and code."""
    st.markdown(texts.TASK)
    show_formula(texts.TASK_EQUATION)
    if not is_hidden("formulas"):
        st.markdown(texts.TASK_LETTERS)
    show_source(seq2seq.Seq2Seq, seq2seq.DecoderBlock, copy_task.train_copy_batch, seq2seq.greedy_decode)


def ask_task(snapshot: Snapshot | None, running: bool) -> None:
    """Draw the choice of a task, the buttons of its training, and the files of its result."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        st.segmented_control(
            texts.SETTING,
            list(TASKS),
            key=widget_key(PAGE, "task"),
            disabled=running,
            required=True,
            format_func=lambda task: TASKS[task].title,
            on_change=model.choose_task,
            args=(PAGE,),
        )
        training.run_buttons(
            PAGE,
            KIND,
            snapshot,
            lambda: model.new_model(PAGE),
            lambda stopped: model.show_settings(PAGE, stopped),
            disabled=not model.settings_fit(PAGE),
        )
        model.file_menu(PAGE, KIND, snapshot.result if snapshot else None, disabled=running)


def train() -> None:
    """Show the task, its training, and the visitor's own sequence."""
    layers = st.session_state[widget_key(PAGE, "layers")]
    show_engine(badge, texts.ENGINE.format(layers=layers), best_device())
    snapshot = training.current_run(KIND)
    running = bool(snapshot and snapshot.running)
    ask_task(snapshot, running)
    task = st.session_state[widget_key(PAGE, "task")]
    if task in texts.TASK_NOTES:
        st.caption(texts.TASK_NOTES[task].format(**model.TASK_VALUES[task]))
    model.setting_inputs(PAGE, disabled=running)
    with st.container():  # always there, so that the box below keeps its place and what is being typed
        training.show_problem(PAGE)
        if snapshot and snapshot.result and not snapshot.running:
            draw_and_export(PAGE, lambda: drawings.training_numbers(snapshot.result), show_training, snapshot, place="training")
        else:
            show_training(snapshot)
    live(PAGE, FIELDS, try_it, snapshot)


def show_training(snapshot: Snapshot | None) -> None:
    """Show the training where there is one, while it runs and after."""
    if snapshot is None:
        return
    if snapshot.result:
        training.show_differences(model.differences(PAGE, snapshot.result.settings))
    if snapshot.result and not snapshot.records:
        st.caption(texts.LOADED)
        drawings.draw_loss(PAGE, snapshot.result)
        return
    training.watch(KIND, snapshot, lambda now: drawings.draw_training(PAGE, now))


def try_it(snapshot: Snapshot | None) -> None:
    """Run the model on the visitor's own sequence, and show all its attention; the text box is always drawn."""
    training.follow_click(PAGE)
    st.header(texts.TRY_IT)
    with st.container():
        answering = introduce_model(snapshot)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        controls.sentence(widget_key(PAGE, "numbers"), texts.NUMBERS)
        st.button(
            texts.RANDOM_NUMBERS,
            key=widget_key(PAGE, "draw"),
            icon=":material/casino:",
            on_click=model.write_random_numbers,
            args=(PAGE,),
        )
    if answering:
        show_answer(answering)


def introduce_model(snapshot: Snapshot | None) -> CopyTraining | None:
    """Show how far the answering model was trained, and return it; None, with the reason on the page, where there is none."""
    if snapshot and snapshot.running:
        st.caption(texts.STILL_TRAINING)
        return None
    try:
        answering = model.current_model(PAGE, snapshot)
    except ExplorerError as problem:
        explain(problem)
        return None
    if answering is None:
        st.caption(texts.UNTRAINED_LARGE)
        return None
    done, settings = len(answering.losses), answering.settings
    trained = texts.TRAINED.format(done=done, total=settings.batches, task=TASKS[settings.task].title)
    kept = trained if is_hidden("files") or model.is_large(settings) else f"{trained} {texts.SAVE_TO_KEEP}"
    st.markdown(kept if done else texts.UNTRAINED)
    return answering


def show_answer(answering: CopyTraining) -> None:
    """Show what the model answers to the numbers in the box, why some may be wrong, and where it attended."""
    numbers = copy_task.read_numbers(st.session_state[widget_key(PAGE, "numbers")], answering.settings)
    answer = copy_task.answer_sequence(answering, numbers)
    drawings.show_answer(answer)
    if reasons := drawings.explain_errors(answer, answering, lambda: model.count_errors(PAGE, answering)):
        st.caption(reasons)
    elif answering.losses and not answer.usual_length:
        st.caption(texts.OTHER_LENGTH.format(length=answering.settings.length - 1))
    best = copy_task.best_aligned_head(answer.trace, answering.settings.task)
    arguments = (PAGE, answer, (best.layer, best.head))
    live(
        PAGE,
        FIELDS,
        draw_and_export,
        PAGE,
        lambda: drawings.answer_numbers(PAGE, answering, answer),
        drawings.draw_attention,
        *arguments,
    )


read_view(PAGE, FIELDS, {}, lambda: model.TASK_VALUES.get(st.session_state[widget_key(PAGE, "task")], {}))
part = ask_part(PAGE, texts.PART, texts.PARTS)
if part == "train":
    introduce_task()
    live(PAGE, FIELDS, train)
else:
    resend_value(widget_key(PAGE, "numbers"))
    show_engine(badge, texts.ENGINE_INSIDE, "cpu")
    shapes.introduce()
    live(PAGE, FIELDS, shapes.show, PAGE)
st.caption(texts.OWN_MODEL)
write_view(PAGE, FIELDS, {})
page_links("", "", "self_attention", "masks", "positions")
share_link(texts.SHARED)
