"""The drawings of a classifier that learns, and their code: its curves, its confusion matrix, which words contribute."""

import re
from collections.abc import Sequence
from itertools import islice
from statistics import mean

import pandas
import streamlit as st

from pages.classifier import texts
from pages.ui.canvas.attention_view import attention_map, chosen_heads, head_wall
from pages.ui.canvas.charts import probability_chart, show_bars
from pages.ui.canvas.mask_grid import Heatmap, Naming, matrices
from pages.ui.canvas.packing import thumbnails
from pages.ui.export.computation import Computation, after, call, each, named
from pages.ui.export.lessons import PartNumbers
from pages.ui.panels.training import draw_curves
from pages.ui.panels.view_options import head_in_sentence
from pages.ui.shell.address import widget_key
from pages.ui.shell.controls import download_button
from pages.ui.shell.numbers import percent, whole_percent
from tx_core.training.background import Snapshot
from tx_core.training.classifier import (
    ClassifierProgress,
    ClassifierScore,
    ClassifierTraining,
    FrameScore,
    LabelPrediction,
    classify,
    start_training,
    train_classifier,
)
from tx_core.training.classifier_data import LabelledTexts, examples_csv, opinions, read_csv
from tx_core.training.imdb import imdb

SHOWN_EXAMPLES = 6
NOT_LEARNED_BELOW = 0.6
"""The share of a template's texts below which it counts as not learned: guessing gives half."""
CLEAR_RISE = 1.05
"""How many times its lowest value a loss must be to count as risen: it fluctuates from epoch to epoch."""


def show_data(page: str, data: LabelledTexts) -> None:
    """Show what the model is trained on: how much there is, and a few of the texts."""
    st.text(
        texts.DATA_SUMMARY.format(
            train=len(data.train_texts), test=len(data.test_texts), labels=", ".join(data.names), source=data.source
        )
    )
    with st.expander(texts.EXAMPLES, icon=":material/list:"):
        examples = zip(data.train_labels[:SHOWN_EXAMPLES], data.train_texts[:SHOWN_EXAMPLES], strict=True)
        for label, text in examples:
            st.text(texts.EXAMPLE.format(label=data.names[label], text=text))
        download_button(texts.SAVE_CSV, lambda: examples_csv(data), "texts.csv", key=widget_key(page, "texts"))


def draw_training(page: str, snapshot: Snapshot) -> None:
    """Draw loss and accuracy on the training and the test texts, and the confusion matrix of the latter."""
    records = snapshot.records
    if not records:
        return
    batches = records[0].batches
    tests = [(record.batch, record.test) for record in records if record.test is not None]
    losses = {
        texts.LOSS: [(record.batch, record.loss) for record in records],
        texts.TEST_LOSS: [(batch, test.loss) for batch, test in tests],
    }
    accuracies = {
        texts.ACCURACY: [(record.batch, record.accuracy) for record in records],
        texts.TEST_ACCURACY: [(batch, test.accuracy) for batch, test in tests],
    }
    left, right = st.columns(2, gap="medium")
    with left:
        draw_curves(widget_key(page, "loss_chart"), losses, batches, log=True)
    with right:
        draw_curves(widget_key(page, "accuracy_chart"), accuracies, batches)
    if warning := describe_overfitting(records):
        st.text(warning)
    if tests:
        show_confusion(tests[-1][1])
        if snapshot.result and snapshot.result.data.kind == "imdb":
            st.text(texts.IMDB_NOTEBOOK)
        show_frames(widget_key(page, "frames"), tests[-1][1].frames)


def describe_overfitting(records: Sequence[ClassifierProgress]) -> str:
    """Return a warning where the test loss rises while the training loss still falls; "" otherwise."""
    tests = {record.epoch: record.test.loss for record in records if record.test is not None}
    if not tests:
        return ""
    losses = {epoch: mean(record.loss for record in records if record.epoch == epoch) for epoch in tests}
    best, last = min(tests, key=tests.get), max(tests)
    if tests[last] < tests[best] * CLEAR_RISE or losses[last] >= losses[best]:
        return ""
    return texts.OVERFITTING.format(epoch=best, best=tests[best], last=tests[last])


def show_confusion(test: ClassifierScore) -> None:
    """Show how many test texts of each label were given each label."""
    correct, total = int(test.confusion.diagonal().sum()), int(test.confusion.sum())
    st.text(texts.TEST_RESULT.format(correct=correct, total=total, share=percent(test.accuracy)))
    rows, columns = ([name.format(label=label) for label in test.names] for name in (texts.TRUE_LABEL, texts.PREDICTED_LABEL))
    st.dataframe(pandas.DataFrame(test.confusion, index=rows, columns=columns))


def show_frames(key: str, frames: Sequence[FrameScore]) -> None:
    """Show how many test texts of each template are classified correctly, and say what was not learned."""
    if not frames:
        return
    for new, sentence in ((False, texts.KNOWN_FRAMES), (True, texts.NEW_FRAMES)):
        of_kind = [frame for frame in frames if frame.new == new]
        correct, total = sum(frame.correct for frame in of_kind), sum(frame.total for frame in of_kind)
        st.text(sentence.format(correct=correct, total=total))
    weak = [frame for frame in frames if frame.share < NOT_LEARNED_BELOW]
    if weak:
        named = (texts.WEAK_FRAME.format(frame=in_words(frame.frame), correct=frame.correct, total=frame.total) for frame in weak)
        st.text(texts.NOT_LEARNED.format(limit=whole_percent(NOT_LEARNED_BELOW), frames="; ".join(named)))
    rows = [(in_words(frame.frame), texts.FRAME_KINDS[frame.new], frame.correct, frame.total) for frame in frames]
    st.dataframe(pandas.DataFrame(rows, columns=texts.FRAME_COLUMNS), hide_index=True, key=key)
    st.caption(texts.FRAMES_CAPTION)


def in_words(frame: str) -> str:
    """Write a template so that a reader sees its blanks: the ‹thing› was ‹good›."""
    return re.sub(r"{([a-z]+)2?}", r"‹\1›", frame)


def show_labels(page: str, prediction: LabelPrediction) -> None:
    """Draw how likely each label is, and how much each word contributes to each."""
    words = prediction.trace.attention.query_tokens
    if prediction.all_unknown:
        st.info(texts.ALL_UNKNOWN, icon=":material/help:")
    st.markdown(texts.WHICH_LABEL)
    chart = probability_chart(texts.LABEL_PROBABILITIES, prediction.names, prediction.probabilities, limit=1.0)
    show_bars(chart, key=widget_key(page, "labels"))
    if prediction.all_unknown:
        return
    st.markdown(texts.CONTRIBUTIONS, help=texts.CONTRIBUTIONS_HELP)
    draw_contributions(widget_key(page, "said"), prediction)
    if words.unknown:
        st.text(texts.UNKNOWN.format(words=", ".join(words.tokens[place] for place in words.unknown)))


def draw_contributions(key: str, prediction: LabelPrediction) -> None:
    """Draw how much each word adds to the score of each label."""
    words = prediction.trace.attention.query_tokens.tokens
    label = prediction.names.index(prediction.label)
    word = int(prediction.contributions[label].argmax())
    amount = f"{prediction.contributions[label, word]:+.2f}".replace("-", "−")
    text = texts.TOP_CONTRIBUTION.format(word=words[word], label=prediction.label, amount=amount)
    limit = float(abs(prediction.contributions).max())
    matrix = Heatmap(texts.CONTRIBUTIONS_TITLE, "signed", prediction.contributions, text, limit, note=texts.CONTRIBUTIONS_NOTE)
    st.caption(texts.CONTRIBUTIONS_CAPTION)
    matrices(prediction.names, words, [matrix], key=key, across=1, naming=Naming(texts.WORD_OF_LABEL), tallest=150)
    st.text(text)


def shown_head(page: str, prediction: LabelPrediction) -> tuple[int, int]:
    """Return the chosen head, counted from 0; the first where the classifier lacks it."""
    layers, heads = prediction.trace.attention.weights.shape[:2]
    head = st.session_state[widget_key(page, "head")]
    return head if head[0] < layers and head[1] < heads else (0, 0)


def draw_attention(page: str, prediction: LabelPrediction) -> None:
    """Show where each head looks in the sentence."""
    stack = prediction.trace.attention
    layers, heads = stack.weights.shape[:2]
    wall, head = widget_key(page, "wall"), shown_head(page, prediction)

    def store_head() -> None:
        if chosen := chosen_heads(wall, layers, heads):
            st.session_state[widget_key(page, "head")] = chosen[-1]

    st.markdown(texts.HEADS)
    left, right = st.columns([1, 2], gap="medium")
    with left:
        head_wall(thumbnails(stack.weights), [head], scale="blues", key=wall, on_choose=store_head)
    with right:
        words = stack.query_tokens.tokens
        attention_map(
            words,
            words,
            stack.weights[head],
            alt=texts.ATTENTION.format(layer=head[0] + 1, head=head[1] + 1, words=len(words)),
            scale="blues",
            strongest=40,
            show="both",
            key=widget_key(page, "map"),
        )


def training_numbers(model: ClassifierTraining) -> PartNumbers:
    """Return what a training computes, from its settings."""
    _, records = _trained(model)
    shown, title = each(records, lambda one: (one.batch, one.loss, one.accuracy)), texts.EXPORT_TRAINING
    return PartNumbers(title.format(batches=model.done), _source(model), [shown], texts.EXPORT_TRAINING_RESULT)


def prediction_numbers(model: ClassifierTraining, prediction: LabelPrediction, text: str) -> PartNumbers:
    """Return what a trained classifier computes of a text."""
    training, records = _trained(model)
    found = named("prediction", call(classify, after(records, training), text))
    source, title = _source(model) | {"text": text, "labels": list(prediction.names)}, texts.EXPORT_PREDICTION
    shown = [found.names, found.probabilities, found.contributions]
    return PartNumbers(title.format(batches=model.done), source, shown, texts.EXPORT_PREDICTION_RESULT)


def attention_numbers(page: str, model: ClassifierTraining, prediction: LabelPrediction, text: str) -> PartNumbers:
    """Return what a head of a trained classifier attends to in a text."""
    layer, head = shown_head(page, prediction)
    training, records = _trained(model)
    attention = named("attention", call(classify, after(records, training), text).trace.attention)
    weights = named("weights", attention.weights[layer, head], "layer and head, counted from 0")
    title = texts.EXPORT_ATTENTION.format(layer=layer + 1, head=head + 1, batches=model.done)
    about = _source(model) | {"text": text, "heads": head_in_sentence((layer, head))}
    return PartNumbers(title, about, [attention.query_tokens.tokens, weights.round(3)], texts.EXPORT_ATTENTION_RESULT)


def _source(model: ClassifierTraining) -> dict[str, object]:
    return {"settings": repr(model.settings), "batches": model.done, "data": model.data.source}


def _trained(model: ClassifierTraining) -> tuple[Computation, Computation]:
    """Return the computation of a classifier, and of its training for as many batches as this one had."""
    made = {
        "opinions": lambda: call(opinions),
        "imdb": lambda: call(imdb, len(model.data.train_texts), len(model.data.test_texts)),
        "own": lambda: call(read_csv, call(open, model.data.source, "rb").read()),
    }
    data = named("data", made[model.data.kind](), "your file" if model.data.kind == "own" else "")
    training = named("training", call(start_training, model.settings, data))
    return training, named("records", call(list, call(islice, call(train_classifier, training), model.done)))
