"""How does a model learn to label a text? A small encoder, trained before the reader's eyes on texts with labels."""

from typing import TYPE_CHECKING

import streamlit as st

from pages.classifier import data_controls
from pages.ui.canvas.attention_view import heads_from_link, heads_to_link
from pages.ui.panels import training
from pages.ui.shell import controls
from pages.ui.shell.address import Field, read_view, text_field, widget_key, write_view
from pages.ui.shell.frame import explain, open_page, page_links, share_link, show_engine
from pages.ui.shell.live import live
from tx_core.errors import ExplorerError, TextProblem

if TYPE_CHECKING:  # the core imports torch: the title is painted without it
    from tx_core.training.classifier import ClassifierTraining
    from tx_core.training.classifier_data import LabelledTexts

PAGE, KIND = "classifier", "labels"
TEXT = """
Each word becomes a vector, an encoder lets the words look at one another, and then each dimension takes its **greatest value**
over all words, which is called **max-pooling**. From those values a single matrix makes a score for every label. Nothing is told
about words beforehand: that *the plot was dull* is blame and *the plot was not dull at all* is praise has to be found out from
the labels. Trained as offered here, it finds out both, and yet takes *not dull* alone for blame: it learned from whole sentences.
"""


SHARED = (
    "This link holds the settings and your sentence, neither the trained model nor texts of your own: whoever opens it can "
    "train a model with the same settings."
)


def read_head(written: str) -> tuple[int, int]:
    """Read one head as a link names it, as in 1-2."""
    heads = heads_from_link(written, 2, 8)
    if len(heads) != 1 or heads_to_link(heads) != written:
        raise ValueError("head must be written like 1-2")
    return heads[0]


FIELDS = (
    *data_controls.FIELDS,
    text_field("text", "the plot was not dull at all"),
    Field("head", (0, 0), read_head, lambda head: heads_to_link([head])),
)


def new_training() -> "ClassifierTraining":
    """Draw the model that is to be trained; raise ExplorerError without data or where it would take too long."""
    from tx_core.engine.device import best_device
    from tx_core.training import classifier

    texts = data_controls.data(PAGE) or data_controls.fetch_imdb()
    return classifier.check_live(classifier.start_training(data_controls.settings(PAGE), texts, best_device()))


def model_shown(snapshot: training.Snapshot | None, texts: "LabelledTexts | None") -> "ClassifierTraining | None":
    """Give the visitor's trained model where it has the settings and data on the page, else an untrained one.

    None for IMDB before it is fetched.
    """
    from tx_core.engine.device import best_device
    from tx_core.training import classifier

    chosen, trained = data_controls.settings(PAGE), snapshot.result if snapshot else None
    if trained and trained.settings == chosen and data_controls.same_data(trained.data, texts, PAGE):
        return trained
    if texts is None:
        return None
    held = st.session_state.get(widget_key(PAGE, "untrained"))
    if held is None or held.settings != chosen or held.data is not texts:
        held = st.session_state[widget_key(PAGE, "untrained")] = classifier.start_training(chosen, texts, best_device())
    return held


def ask_data(*, disabled: bool) -> "LabelledTexts | None":
    """Ask which texts to learn from; give them, or None where they are not there yet, which the page then says."""
    from pages.classifier import pictures

    options = data_controls.DATA
    chosen = st.segmented_control(
        "Texts to learn from",
        list(options),
        key=widget_key(PAGE, "data"),
        format_func=options.get,
        required=True,
        disabled=disabled,
    )
    if chosen == "own" and not disabled:
        data_controls.ask_own(PAGE)
    if chosen == "imdb":
        st.caption(
            f"{data_controls.IMDB_EXAMPLES:,} reviews to learn from and as many to test on (Maas et al. 2011), "
            "fetched from the Hugging Face hub when you press Train."
        )
        return None
    texts = data_controls.data(PAGE)
    pictures.show_data(PAGE, texts)
    return texts


def ask_it(snapshot: training.Snapshot | None, texts: "LabelledTexts | None", known: bool) -> None:
    """Let the model label the visitor's own sentence, and show what it went by; the box stands there all the time.

    known: whether there are texts, or will be, that the model can learn from.
    """
    training.follow_click(PAGE)
    st.header("Ask it yourself")
    with st.container():
        model = tell_model(snapshot, texts) if known else None
        if model is None and not (snapshot and snapshot.running):
            st.caption("Your own sentence is labelled here once a model is trained.")
    controls.sentence(widget_key(PAGE, "text"), "Your sentence")
    if model:
        live(PAGE, FIELDS, answer, model)
    lead_on()


def tell_model(snapshot: training.Snapshot | None, texts: "LabelledTexts | None") -> "ClassifierTraining | None":
    """Say how far the model that labels was trained; give it, or None where there is none now, and say why."""
    if snapshot and snapshot.running:
        st.caption("Your own sentence is labelled here as soon as the training has stopped.")
        return None
    try:
        model = model_shown(snapshot, texts)
    except ExplorerError as unfit:
        explain(unfit)
        return None
    if model and model.done:
        st.markdown(
            f"This model was trained on **{model.done:,} of {model.batches:,} batches**. Reloading the page loses it; the same "
            "settings and texts train the same one again."
        )
    elif model:
        st.markdown(
            ":material/casino: This model is **not trained yet**: its weights are random numbers, so its labels mean "
            "nothing. Train it and look again."
        )
    return model


def answer(model: "ClassifierTraining") -> None:
    """Label the visitor's sentence, and show where each head looks in it."""
    from pages.classifier import pictures
    from tx_core.training.classifier import predict

    found = predict(model, st.session_state[widget_key(PAGE, "text")])
    pictures.show_labels(PAGE, found)
    live(PAGE, FIELDS, pictures.show_attention, PAGE, found)


def lead_on() -> None:
    """Offer other pages, with the sentence as it is now."""
    page_links(st.session_state[widget_key(PAGE, "text")], "", "attention", "heads_and_blocks")


def show_code() -> None:
    """Show the functions of the core that compute the picture."""
    from pages.ui.shell.source_code import show_source
    from tx_core.training import classifier, classifier_model
    from tx_core.transformer import heads

    show_source(classifier_model.Classifier, heads.max_pool, classifier.train)


def classify() -> None:
    """The data, the training, and the visitor's own sentence."""
    from pages.classifier import pictures
    from tx_core.engine.device import best_device

    layers, heads = (st.session_state[widget_key(PAGE, name)] for name in ("layers", "heads"))
    show_engine(badge, f"Classifier, layers: {layers}, heads: {heads}", best_device())
    snapshot = training.current_run(KIND)
    running = bool(snapshot and snapshot.running)
    texts, problem = None, None
    try:
        texts = ask_data(disabled=running)
    except ExplorerError as missing:
        problem = missing
    training.run_buttons(
        PAGE, KIND, snapshot, new_training, lambda left: data_controls.choose(PAGE, left), disabled=problem is not None
    )
    data_controls.ask_sizes(PAGE, disabled=running)
    with st.container():  # always there, so that the box below keeps its place, and the reader what is being typed
        refused = training.show_problem(PAGE)
        if snapshot and snapshot.result:
            training.show_differences(data_controls.differences(PAGE, snapshot.result, texts))
        training.watch(KIND, snapshot, lambda now: pictures.show_training(PAGE, now))
        if problem and not isinstance(refused, TextProblem):  # a file that was not taken is told of already
            explain(problem)
    live(PAGE, FIELDS, ask_it, snapshot, texts, problem is None)


badge = open_page(PAGE)
read_view(PAGE, FIELDS, {})
st.markdown(TEXT)
st.latex(r"\text{scores} = W \max_t h_t + b\;")
show_code()
live(PAGE, FIELDS, classify)
write_view(PAGE, FIELDS, {})
share_link(SHARED)
