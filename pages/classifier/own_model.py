"""The stage of a model that is trained on the page, and what stands below: its words, its test and its numbers."""

from collections.abc import Mapping, Sequence
from functools import partial
from statistics import mean

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from pages.classifier import texts
from pages.classifier.model import PAGE, TRAINER, LabelInputs, chosen_training, untrained
from pages.ui.export.computation import Computation, after, call, named
from pages.ui.export.menu import offer_drawings
from pages.ui.export.records import PartNumbers
from pages.ui.export.training import chosen_head, training_computation, training_exports
from pages.ui.shell.address import widget_key
from pages.ui.shell.frame import explain_computation, show_engine
from pages.ui.shell.numbers import percent
from pages.ui.stage.charts import Drawing, bars_drawing, matrix_drawing
from pages.ui.stage.training import (
    Curves,
    Moment,
    ShownTraining,
    answers_at_moments,
    curves_of,
    empty_training_stage,
    moment_title,
    training_charts,
    training_stage,
)
from pages.ui.stage.view_options import head_in_sentence
from tx_core.engine.device import best_device
from tx_core.engine.progress import Progress
from tx_core.lessons.labels import LabelPrediction
from tx_core.training.classifier import ClassifierTraining, classify, start_training, train_classifier_batch
from tx_core.training.classifier_data import opinions, read_csv
from tx_core.training.classifier_model import Classifier, split_words
from tx_core.training.imdb import imdb
from tx_core.transformer.bert import max_pool

CLEAR_RISE = 1.05
"""How many times its lowest value a loss must be to count as risen: it fluctuates from epoch to epoch."""
LEAST_AGAINST = 0.1
"""What a word must take from a label to be named."""


def show_label(inputs: LabelInputs, badge: DeltaGenerator) -> None:
    """Draw what a model of the page makes of the sentence, and how well it does; raise ExplorerError where it cannot."""
    shown = chosen_training(inputs)
    found = answers_at_moments(shown, partial(untrained, inputs), lambda model: classify(model, inputs.text))
    label_stage(inputs, shown, found)
    show_engine(badge, texts.MODEL, best_device())
    show_results(shown)
    if shown.model and found and is_of_sentence(found[shown.model.done], inputs):
        export_label(shown, found[shown.model.done], inputs.text)


def explain_classifier(inputs: LabelInputs) -> None:
    """Explain the model in words, by its formula and by the code that computes it."""
    st.markdown(texts.INTRODUCTION)
    if inputs.data and inputs.data.kind == "opinions":
        st.markdown(texts.LIMITS)
    st.caption(f"{texts.OWN_MODEL} {texts.SHARED}")
    sources = (Classifier, max_pool, train_classifier_batch)
    explain_computation(formulas=[texts.EQUATION], letters=texts.CONTRIBUTIONS_CAPTION, sources=sources)


# The stage


def is_of_sentence(found: LabelPrediction, inputs: LabelInputs) -> bool:
    """Return whether a prediction is of the sentence on the page."""
    return list(found.trace.attention.query_tokens.tokens) == split_words(inputs.text)


def label_stage(inputs: LabelInputs, shown: ShownTraining, found: Mapping[int, LabelPrediction]) -> None:
    """Draw the stage of a classifier. found: what it makes of the sentence, by how many batches it was trained on."""
    curves = training_charts(shown.records, *losses_and_accuracies(shown.records), texts.CURVES)
    if not found:
        return empty_training_stage(TRAINER, shown, curves)
    batches = shown.model.batches if shown.model else shown.records[0].total if shown.records else 0
    limit = max(float(abs(one.contributions).max()) for one in found.values())
    moments = []
    for batch, one in found.items():
        is_other = not is_of_sentence(one, inputs)
        title = moment_title(batch, batches, one.trace.attention.query_tokens.text if is_other else "")
        notes = [texts.STILL_TRAINING] if is_other and shown.is_running else []
        moments.append(labelled_moment(batch, title, one, limit, notes))
    about = {"model": texts.MODEL, "text": inputs.text, "stem": "classifier", "kinds": {"self": texts.HEADS}}
    return training_stage(TRAINER, shown, moments, curves, about)


def labelled_moment(
    batch: int, title: str, found: LabelPrediction, limit: float | None = None, notes: Sequence[str] = ()
) -> Moment:
    """Return what a model makes of a sentence as a moment of a stage. limit: as of `contribution_drawing`."""
    words = found.trace.attention.query_tokens
    unknown = [words.tokens[place] for place in words.unknown]
    told = [texts.UNKNOWN.format(words=", ".join(unknown))] if unknown else []
    drawn = {
        "side": label_drawing(found).chart,
        "above": None if found.all_unknown else contribution_drawing(found, limit).chart,
        "notes": [texts.ALL_UNKNOWN] if found.all_unknown else [top_contribution(found), *told, *notes],
    }
    said = texts.SAID.format(label=found.label, share=percent(max(found.probabilities)))
    return Moment(batch, title, said, found.trace, drawn)


def label_drawing(found: LabelPrediction) -> Drawing:
    """Draw the bars of the labels."""
    return bars_drawing(texts.LABEL_PROBABILITIES, found.names, found.probabilities, limit=1.0)


def contribution_drawing(found: LabelPrediction, limit: float | None = None) -> Drawing:
    """Draw how much each word adds to the score of each label. limit: where the colours end, by default the largest."""
    words, numbers = found.of_words()
    limit = limit or float(abs(numbers).max()) or 1.0
    return matrix_drawing(texts.CONTRIBUTIONS_TITLE, "signed", numbers, found.names, words, limit=limit)


def top_contribution(found: LabelPrediction) -> str:
    """Return in a sentence which word adds most to the label, and which, if any, speaks most against it."""
    words, numbers = found.of_words()
    row = numbers[found.names.index(found.label)]

    def write(template: str, place: int) -> str:
        return template.format(word=words[place], label=found.label, amount=f"{row[place]:+.2f}".replace("-", "−"))

    against = write(texts.MOST_AGAINST, int(row.argmin())) if row.min() < -LEAST_AGAINST else ""
    return write(texts.TOP_CONTRIBUTION, int(row.argmax())) + against


def losses_and_accuracies(records: Sequence[Progress]) -> tuple[Curves, Curves]:
    """Return loss and accuracy on the training and the test texts."""
    tests = [(record.done, record.test) for record in records if record.test]
    losses = curves_of(records, {"loss": texts.LOSS}) | {texts.TEST_LOSS: [(batch, test.loss) for batch, test in tests]}
    accuracies = curves_of(records, {"accuracy": texts.ACCURACY})
    return losses, accuracies | {texts.TEST_ACCURACY: [(batch, test.accuracy) for batch, test in tests]}


# On the test texts


def show_results(shown: ShownTraining) -> None:
    """Show how the model did on the texts that it was not trained on; nothing before its first epoch is over."""
    tests = [record.test for record in shown.records if record.test is not None]
    if warning := describe_overfitting(shown.records):
        st.text(warning)
    if not tests:
        return
    folded = st.expander(texts.RESULTS, icon=":material/fact_check:", key=widget_key(PAGE, "results"), on_change="rerun")
    if folded.open:
        with folded:
            test = tests[-1]
            correct, total = int(test.confusion.diagonal().sum()), int(test.confusion.sum())
            st.text(texts.TEST_RESULT.format(correct=correct, total=total, share=percent(test.accuracy)))
            show_counts(test.names, test.confusion)


def describe_overfitting(records: Sequence[Progress]) -> str:
    """Return a warning where the test loss rises while the training loss still falls; "" otherwise."""
    ends = [record.done for record in records if record.test]
    if not ends:
        return ""
    size = ends[0]  # batches an epoch
    tests = {end // size: records[end - 1].test.loss for end in ends}
    losses = {epoch: mean(one.values["loss"] for one in records[(epoch - 1) * size : epoch * size]) for epoch in tests}
    best, last = min(tests, key=tests.get), max(tests)
    if tests[last] < tests[best] * CLEAR_RISE or losses[last] >= losses[best]:
        return ""
    return texts.OVERFITTING.format(epoch=best, best=tests[best], last=tests[last])


def show_counts(names: Sequence[str], confusion: object) -> None:
    """Show counts of texts by true and by predicted label."""
    import pandas  # where a table is opened: with what it imports, 70 MB

    rows, columns = ([name.format(label=label) for label in names] for name in (texts.TRUE_LABEL, texts.PREDICTED_LABEL))
    st.dataframe(pandas.DataFrame(confusion, index=rows, columns=columns))


# Numbers and code


def export_label(shown: ShownTraining, found: LabelPrediction, text: str) -> None:
    """Offer the numbers of the sentence and of the training, and the code of both. found: of the model as it is now."""
    drawn = [label_drawing(found), attention_drawing(found)]
    drawn[1:1] = [] if found.all_unknown else [contribution_drawing(found)]
    training, records = training_computation(shown, lambda: _started(shown.model))
    title = texts.EXPORT_TRAINING.format(batches=shown.model.done)
    more = training_exports(shown, title, records, *losses_and_accuracies(shown.records))
    model = shown.model
    source = {"settings": repr(model.settings), "batches": model.done, "data": model.data.source}
    answer = call(classify, after(records, training), text)
    title = texts.EXPORT_PREDICTION.format(batches=model.done)
    offer_drawings(PAGE, lambda: prediction_numbers(title, source, answer, found, text), lambda: drawn, more=more)


def attention_drawing(found: LabelPrediction) -> Drawing:
    """Draw where a head looks, for a table and for files."""
    stack = found.trace.attention
    head, words = chosen_head(PAGE, stack.weights), stack.query_tokens.tokens
    return matrix_drawing(head_in_sentence(head).capitalize(), "weights", stack.weights[head], words, words, root=True)


def prediction_numbers(
    title: str, source: dict[str, object], answer: Computation, found: LabelPrediction, text: str
) -> PartNumbers:
    """Return what a model computes of a text, and where the chosen head looks in it. answer: the computation of `found`."""
    layer, head = chosen_head(PAGE, found.trace.attention.weights)
    answer = named("prediction", answer)
    weights = named("weights", answer.trace.attention.weights[layer, head], "layer and head, counted from 0")
    about = {"text": text, "labels": list(found.names), "heads": head_in_sentence((layer, head))}
    printed = [answer.names, answer.probabilities, answer.contributions, weights.round(3)]
    return PartNumbers(title, source | about, printed)


def _started(model: ClassifierTraining) -> Computation:
    """Return the computation of a training that has not begun."""
    made = {
        "opinions": lambda: call(opinions),
        "imdb": lambda: call(imdb, len(model.data.train_texts), len(model.data.test_texts)),
        "own": lambda: call(read_csv, call(open, model.data.source, "rb").read()),
    }
    data = named("data", made[model.data.kind](), "your file" if model.data.kind == "own" else "")
    return call(start_training, model.settings, data)
