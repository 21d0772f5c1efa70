"""The model that ships: the embedded BERT, fine-tuned to tell positive from negative film reviews."""

from functools import cache
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from pages.classifier import texts
from pages.classifier.model import PAGE, TRAINER, LabelInputs
from pages.classifier.own_model import (
    attention_drawing,
    contribution_drawing,
    label_drawing,
    labelled_moment,
    prediction_numbers,
    show_counts,
)
from pages.ui.export.computation import call, load_call
from pages.ui.export.menu import offer_drawings
from pages.ui.shell import cache as run_cache
from pages.ui.shell.address import widget_key
from pages.ui.shell.controls import model_title
from pages.ui.shell.frame import explain_computation, page_link, show_engine
from pages.ui.shell.numbers import percent, whole_percent
from pages.ui.stage.sources import source
from pages.ui.stage.training import ShownTraining, training_stage
from tx_core.analysis.attribution import integrated_gradients
from tx_core.engine import catalogue
from tx_core.engine.checkpoint_files import read_json
from tx_core.lessons.labels import FINE_TUNED, label_text
from tx_core.transformer.bert import LabelHead, Pooler


def show_label(inputs: LabelInputs, badge: DeltaGenerator) -> None:
    """Draw what the model makes of the sentence, and offer it for export; raise ExplorerError where it cannot be read."""
    engine = run_cache.engine(FINE_TUNED, weights=True)
    found = run_cache.call(label_text, engine, inputs.text)
    about = {"model": texts.FINE_TUNED_MODEL, "text": inputs.text, "stem": "classifier", "kinds": {"self": texts.HEADS}}
    moment = labelled_moment(0, texts.FINE_TUNED, found)
    training_stage(TRAINER, ShownTraining(None, (), None, fixed=describe_score()), [moment], [], about)
    show_engine(badge, engine.title, engine.device)
    page_link("compare", texts.BEFORE_AND_AFTER, before_and_after(inputs.text), icon=":material/compare_arrows:")
    drawn = [label_drawing(found), contribution_drawing(found), attention_drawing(found)]
    answer, title = call(label_text, load_call(FINE_TUNED), inputs.text), texts.EXPORT_LABEL.format(model=model_title(FINE_TUNED))
    offer_drawings(PAGE, lambda: prediction_numbers(title, source(FINE_TUNED), answer, found, inputs.text), lambda: drawn)


def before_and_after(text: str) -> dict[str, str]:
    """Return the view of Compare that sets the model beside the one that it was before."""
    return {"vary": "model", "model": catalogue.card(FINE_TUNED).fine_tuned_from, "model_b": FINE_TUNED, "text": text}


@cache
def measured_score() -> dict[str, Any]:
    """Return what was counted of the model on sentences that it was not trained on, from its manifest."""
    return read_json(catalogue.MODELS / FINE_TUNED / "manifest.json")["measured"]


def describe_score() -> str:
    """Return how well the model labels film reviews, in a sentence."""
    found = measured_score()
    low, high = map(percent, found["interval"])
    return texts.SCORE.format(total=found["sentences"], share=percent(found["accuracy"]), low=low, high=high)


def explain_classifier(inputs: LabelInputs) -> None:
    """Explain how the model came to be, how good it is, and what it cannot do."""
    found = measured_score()
    st.markdown(texts.FINE_TUNING.format(baseline=whole_percent(found["naive_bayes"]), score=describe_score()))
    st.markdown(texts.FAILURES)
    folded = st.expander(texts.RESULTS, icon=":material/fact_check:", key=widget_key(PAGE, "results"), on_change="rerun")
    if folded.open:
        with folded:
            show_counts(("negative", "positive"), found["confusion"])
    sources = (LabelHead, Pooler, label_text, integrated_gradients)
    explain_computation(formulas=[texts.FINE_TUNED_EQUATION], letters=texts.INTEGRATED_CAPTION, sources=sources)
