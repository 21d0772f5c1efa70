"""A classifier that learns: its curves, what it takes for what, and which words of a sentence it goes by."""

from collections.abc import Sequence
from statistics import mean
from typing import TYPE_CHECKING

import streamlit as st

from pages.ui.canvas.attention_view import attention_map, chosen_heads, head_wall
from pages.ui.canvas.bars import probability_chart, show_bars
from pages.ui.canvas.mask_grid import Matrix, Naming, matrices
from pages.ui.canvas.packing import thumbnails
from pages.ui.panels.training import draw_curves
from pages.ui.shell.address import widget_key

if TYPE_CHECKING:  # the core imports torch: only a page that computes waits for it
    from tx_core.training.background import Snapshot
    from tx_core.training.classifier import ClassifierProgress, ClassifierScore, LabelPrediction
    from tx_core.training.classifier_data import LabelledTexts

SHOWN_EXAMPLES = 6
CLEAR_RISE = 1.05
"""How many times its lowest value a loss must be to be called risen: it wavers from epoch to epoch."""


def show_data(page: str, texts: "LabelledTexts") -> None:
    """Say what is learned from, and show some of it."""
    from tx_core.training.classifier_data import to_csv

    st.text(
        f"{len(texts.train_texts):,} texts to learn from, {len(texts.test_texts):,} held back for the test. "
        f"Labels: {', '.join(texts.names)}. Source: {texts.source}."
    )
    with st.expander("Some of them", icon=":material/list:"):
        rows = zip(texts.train_labels[:SHOWN_EXAMPLES], texts.train_texts[:SHOWN_EXAMPLES], strict=True)
        for label, text in rows:
            st.text(f"{texts.names[label]}: {text}")
        st.download_button(
            "Save all as CSV",
            lambda: to_csv(texts),
            "texts.csv",
            "text/csv",
            key=widget_key(page, "texts"),
            on_click="ignore",
            icon=":material/download:",
        )


def show_training(page: str, snapshot: "Snapshot") -> None:
    """Draw loss and accuracy on what is learned and on what is held back, and the confusion on the latter."""
    records = snapshot.records
    if not records:
        return
    steps = records[0].batches
    tested = [(one.batch, one.test) for one in records if one.test is not None]
    left, right = st.columns(2, gap="medium")
    with left:
        draw_curves(
            widget_key(page, "loss_chart"),
            {
                "loss": [(one.batch, one.loss) for one in records],
                "loss on the test": [(batch, test.loss) for batch, test in tested],
            },
            steps,
            log=True,
        )
    with right:
        draw_curves(
            widget_key(page, "accuracy_chart"),
            {
                "labelled rightly": [(one.batch, one.accuracy) for one in records],
                "on the test": [(batch, test.accuracy) for batch, test in tested],
            },
            steps,
        )
    if told := overfitting(records):
        st.text(told)
    if tested:
        _confusion(tested[-1][1])


def overfitting(records: "Sequence[ClassifierProgress]") -> str:
    """Say what it is where the loss on the test rises while that on what is learned still falls; "" where that is not so."""
    tests = {one.epoch: one.test.loss for one in records if one.test is not None}
    if not tests:
        return ""
    learned = {epoch: mean(one.loss for one in records if one.epoch == epoch) for epoch in tests}
    best, last = min(tests, key=tests.get), max(tests)
    if tests[last] < tests[best] * CLEAR_RISE or learned[last] >= learned[best]:
        return ""
    return (
        f"Since epoch {best}, the loss on the test has risen from {tests[best]:.3f} to {tests[last]:.3f} while the loss on "
        "the texts that it learns from went on falling: it learns those by heart, which is called overfitting."
    )


def _confusion(test: "ClassifierScore") -> None:
    import pandas

    total = int(test.confusion.sum())
    rightly = int(test.confusion.diagonal().sum())
    st.text(
        f"{rightly:,} of {total:,} texts that it never learned from are labelled rightly ({test.accuracy:.1%}). "
        "Rows: the true label. Columns: what the model says."
    )
    columns = [f"says {name}" for name in test.names]
    st.dataframe(pandas.DataFrame(test.confusion, index=[f"is {name}" for name in test.names], columns=columns))


def show_labels(page: str, found: "LabelPrediction") -> None:
    """Draw how likely each label is, and which words spoke for which label."""
    encoding = found.trace.attention.query_tokens
    if found.all_unknown:
        st.info(
            "It knows none of these words: they are not in the texts that it learned from, and all the same to it. "
            "The label below means nothing, and which word spoke for it cannot be told. Use words of those texts.",
            icon=":material/help:",
        )
    st.markdown("**Which label?**")
    chart = probability_chart("Probability of each label", found.names, found.probabilities, limit=1.0)
    show_bars(chart, key=widget_key(page, "labels"))
    if found.all_unknown:
        return
    st.markdown(
        "**Which words spoke, and for which label?**",
        help="Each dimension of the pooled vector is the value of one word. What it adds to a label's score, more than to the "
        "scores of the labels on average, is counted for that word.",
    )
    _said(widget_key(page, "said"), found)
    if encoding.unknown:
        st.text(
            "Not in the texts that it learned from, so all the same to it: "
            + ", ".join(encoding.tokens[place] for place in encoding.unknown)
        )


def _said(name: str, found: "LabelPrediction") -> None:
    words = found.trace.attention.query_tokens.tokens
    label = found.names.index(found.label)
    word = int(found.said[label].argmax())
    amount = f"{found.said[label, word]:+.2f}".replace("-", "−")
    told, title = f"'{words[word]}' speaks most for {found.label}: {amount}.", "What each word adds to a label's score"
    limit, note = float(abs(found.said).max()), "orange: against, blue: for"
    picture = Matrix(title, "signed", found.said, told, limit, note=note)
    matrices(found.names, words, [picture], key=name, across=1, naming=Naming(joint="·"), tallest=150)
    st.text(told)


def show_attention(page: str, found: "LabelPrediction") -> None:
    """Show where each head looks in the sentence."""
    stack = found.trace.attention
    layers, heads = stack.weights.shape[:2]
    wall, head = widget_key(page, "wall"), st.session_state[widget_key(page, "head")]
    head = head if head[0] < layers and head[1] < heads else (0, 0)

    def take_head() -> None:
        if chosen := chosen_heads(wall, layers, heads):
            st.session_state[widget_key(page, "head")] = chosen[-1]

    st.markdown("**Where does each head look?**")
    left, right = st.columns([1, 2], gap="medium")
    with left:
        head_wall(thumbnails(stack.weights), [head], scale="blues", key=wall, on_choose=take_head)
    with right:
        words = stack.query_tokens.tokens
        label = f"Layer {head[0] + 1}, head {head[1] + 1}: where each of the {len(words)} words looks."
        attention_map(
            words,
            words,
            stack.weights[head],
            label=label,
            scale="blues",
            strongest=40,
            show="both",
            focus=None,
            key=widget_key(page, "map"),
            on_focus=lambda: None,
        )
