"""How does a model learn to label a text? A small encoder, trained on the page on texts with labels."""

import streamlit as st

from pages.ui.shell.frame import open_page

PAGE = "classifier"
badge = open_page(PAGE)

# The title is on its way: what follows imports torch.
from pages.classifier import drawings, model, texts
from pages.ui.canvas.attention_view import head_from_link, heads_to_link
from pages.ui.export.lessons import PartNumbers, draw_and_export
from pages.ui.panels import training
from pages.ui.shell import controls
from pages.ui.shell.address import Field, read_view, text_field, widget_key, write_view
from pages.ui.shell.controls import live
from pages.ui.shell.frame import explain, page_links, share_link, show_engine, show_source
from pages.ui.shell.level import show_formula
from tx_core.engine.device import best_device
from tx_core.engine.device_limits import CARD_LIMITS
from tx_core.errors import ExplorerError, TextProblem
from tx_core.training import classifier, classifier_model
from tx_core.training.background import Snapshot
from tx_core.training.classifier import ClassifierTraining
from tx_core.training.classifier_data import LabelledTexts
from tx_core.transformer import bert

KIND = "labels"
MAX_HEADS = CARD_LIMITS.classifier["num_layers"], 8
# Layers and heads of the largest model.


FIELDS = (
    *model.FIELDS,
    text_field("text", "the plot was not dull at all"),
    Field("head", (0, 0), lambda written: head_from_link(written, *MAX_HEADS), lambda head: heads_to_link([head])),
)


def train() -> None:
    """Show the data, the training, and the visitor's own sentence."""
    sizes = {name: st.session_state[widget_key(PAGE, name)] for name in ("layers", "heads")}
    show_engine(badge, texts.ENGINE.format(**sizes), best_device())
    snapshot = training.current_run(KIND)
    running = bool(snapshot and snapshot.running)
    data, problem = None, None
    try:
        data = choose_data(disabled=running)
    except ExplorerError as missing:
        problem = missing
    training.run_buttons(
        PAGE,
        KIND,
        snapshot,
        lambda: model.new_model(PAGE),
        lambda stopped: model.show_settings(PAGE, stopped),
        disabled=problem is not None,
    )
    model.setting_inputs(PAGE, disabled=running)
    with st.container():  # always there, so that the box below keeps its place and what is being typed
        refused = training.show_problem(PAGE)
        if snapshot and snapshot.result:
            training.show_differences(model.differences(PAGE, snapshot.result, data))
        show_training(snapshot)
        if problem and not isinstance(refused, TextProblem):  # a file that was refused is explained already
            explain(problem)
    live(PAGE, FIELDS, try_it, snapshot, data, problem is None)


def show_training(snapshot: Snapshot | None) -> None:
    """Show the training where there is one, and offer it for export when it stands still."""

    def watch() -> None:
        training.watch(KIND, snapshot, lambda now: drawings.draw_training(PAGE, now))

    if snapshot and snapshot.result and not snapshot.running:
        draw_and_export(PAGE, lambda: drawings.training_numbers(snapshot.result), watch, place="training")
    else:
        watch()


def choose_data(*, disabled: bool) -> LabelledTexts | None:
    """Ask which texts to train on; return them, None for IMDB before it is fetched. Raises TextProblem without a CSV."""
    model.data_input(PAGE, disabled=disabled)
    data = model.chosen_data(PAGE)
    if data is None:
        st.caption(texts.IMDB.format(train=model.limits().imdb_train, test=model.limits().imdb_test))
    else:
        drawings.show_data(PAGE, data)
    return data


def try_it(snapshot: Snapshot | None, data: LabelledTexts | None, has_data: bool) -> None:
    """Classify the visitor's own sentence, and show which words contribute; the text box is always drawn.

    has_data: whether there are texts, or will be, that the model can be trained on.
    """
    training.follow_click(PAGE)
    st.header(texts.TRY_IT)
    with st.container():
        answering = introduce_model(snapshot, data) if has_data else None
        if answering is None and not (snapshot and snapshot.running):
            st.caption(texts.NO_MODEL)
    if data and data.kind == "opinions":
        show_limits()
    controls.sentence(widget_key(PAGE, "text"), texts.SENTENCE)
    if answering:
        live(PAGE, FIELDS, show_prediction, answering)
    page_links(st.session_state[widget_key(PAGE, "text")], "", "attention", "heads_and_blocks")


def show_limits() -> None:
    """Explain what a classifier trained on the generated texts cannot do, and offer a sentence that shows it."""
    st.markdown(texts.LIMITS)
    box = {widget_key(PAGE, "text"): texts.LIMITS_SENTENCE}
    st.button(texts.TRY_LIMITS, key=widget_key(PAGE, "limits"), on_click=st.session_state.update, args=(box,))


def introduce_model(snapshot: Snapshot | None, data: LabelledTexts | None) -> ClassifierTraining | None:
    """Show how far the classifying model was trained, and return it; None, with the reason on the page, where there is none."""
    if snapshot and snapshot.running:
        st.caption(texts.STILL_TRAINING)
        return None
    try:
        answering = model.current_model(PAGE, snapshot, data)
    except ExplorerError as problem:
        explain(problem)
        return None
    if answering:
        trained = texts.TRAINED.format(done=answering.done, total=answering.batches)
        st.markdown(trained if answering.done else texts.UNTRAINED)
    return answering


def show_prediction(answering: ClassifierTraining) -> None:
    """Classify the visitor's sentence, and show where each head looks in it."""
    text = st.session_state[widget_key(PAGE, "text")]
    prediction = classifier.classify(answering, text)
    draw_and_export(
        PAGE, lambda: drawings.prediction_numbers(answering, prediction, text), drawings.show_labels, PAGE, prediction
    )

    def numbers() -> PartNumbers:
        return drawings.attention_numbers(PAGE, answering, prediction, text)

    live(PAGE, FIELDS, draw_and_export, PAGE, numbers, drawings.draw_attention, PAGE, prediction, place="attention")


read_view(PAGE, FIELDS, {})
st.markdown(texts.INTRODUCTION)
show_formula(texts.EQUATION)
show_source(classifier_model.Classifier, bert.max_pool, classifier.train_classifier_batch)
live(PAGE, FIELDS, train)
st.caption(texts.OWN_MODEL)
write_view(PAGE, FIELDS, {})
share_link(texts.SHARED)
