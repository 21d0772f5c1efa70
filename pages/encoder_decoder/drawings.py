"""The drawings of a transformer that learns a task, and their code: curves, attention from batch to batch, answers."""

from collections.abc import Callable, Sequence
from itertools import islice

import streamlit as st

from pages.encoder_decoder import texts
from pages.ui.canvas.attention_view import attention_map, chosen_heads, head_wall
from pages.ui.canvas.packing import thumbnails
from pages.ui.export.computation import Computation, after, call, each, named
from pages.ui.export.lessons import PartNumbers
from pages.ui.panels.training import draw_curves
from pages.ui.shell.address import resend_value, widget_binding, widget_key
from pages.ui.shell.controls import ask_option
from pages.ui.shell.frame import preformatted
from tx_core.training.background import Snapshot
from tx_core.training.copy_task import (
    CopyAnswer,
    CopyTraining,
    answer_sequence,
    best_aligned_head,
    expected_numbers,
    start_copy_training,
    train_copy,
)
from tx_core.training.synthetic import TASKS
from tx_core.transformer.trace import AttentionStack, Trace


def draw_training(page: str, snapshot: Snapshot) -> None:
    """Draw the loss, the accuracy, and the cross-attention at the latest or at a chosen batch."""
    records = snapshot.records
    if not records:
        return
    left, right = st.columns([5, 4], gap="medium")
    with left:
        batches = records[0].batches
        losses = {texts.LOSS: [(record.batch, record.loss) for record in records]}
        draw_curves(widget_key(page, "loss_chart"), losses, batches, log=True)
        shares = {
            texts.ACCURACY: [(record.batch, record.accuracy) for record in records],
            texts.ALIGNMENT: [(record.batch, record.alignment) for record in records],
        }
        draw_curves(widget_key(page, "right_chart"), shares, batches)
    traces = {record.batch: record.maps for record in records if record.maps is not None}
    with right:
        last = max(traces)
        batch = last if snapshot.running or len(traces) == 1 else _batch_slider(page, list(traces))
        draw_cross_attention(traces[batch], traces[last], batch, widget_key(page, "becoming"))


def draw_loss(page: str, model: CopyTraining) -> None:
    """Draw the loss of a model that came from a file: that is all that the file keeps of its training."""
    losses = {texts.LOSS: list(enumerate(model.losses, start=1))}
    draw_curves(widget_key(page, "loss_chart"), losses, model.settings.batches, log=True)


def _batch_slider(page: str, batches: Sequence[int]) -> int:
    name = widget_key(page, "moment")
    if st.session_state.get(name) not in batches:
        st.session_state[name] = batches[-1]
        resend_value(name)
    return st.select_slider(texts.SHOWN_BATCH, batches, **widget_binding(name))


def draw_cross_attention(trace: Trace, last: Trace, batch: int, key: str) -> None:
    """Draw the head whose attention in the last trace is closest to the answers, on a sequence that is not trained on."""
    best = best_aligned_head(last, last.model)
    stack = trace.stacks[-1]
    text = texts.CROSS_ATTENTION.format(batch=batch, layer=best.layer + 1, head=best.head + 1)
    st.text(text)
    attention_map(
        step_names(stack.query_tokens.tokens, expected_numbers(trace, trace.model)),
        token_names(stack.key_tokens.tokens),
        stack.weights[best.layer, best.head],
        alt=text,
        scale="blues",
        strongest=1,
        show="heatmap",
        key=key,
    )


def token_names(tokens: Sequence[str]) -> list[str]:
    """Return token labels of a sequence; the start token is named, since its number, 1, looks like one of the others."""
    return [texts.START, *tokens[1:]]


def step_names(read: Sequence[str], written: Sequence[int]) -> list[str]:
    """Return a name for each step of a decoder by the token that it reads and the number that it writes, as in "start → 84"."""
    return [texts.STEP.format(read=token, written=number) for token, number in zip(token_names(read), written, strict=True)]


def show_answer(answer: CopyAnswer) -> None:
    """Write the answer of the model below the input, and mark what is wrong."""
    rows = {texts.INPUT: answer.numbers, texts.OUTPUT: answer.written, texts.CORRECT: answer.right}
    width = max(len(str(number)) for row in rows.values() for number in row)
    margin = max(map(len, rows)) + 2
    lines = [f"{name:<{margin}}" + " ".join(f"{number:>{width}}" for number in row) for name, row in rows.items()]
    marks = ("✓" if written == right else "✗" for written, right in zip(answer.written, answer.right, strict=True))
    preformatted([*lines, " " * margin + " ".join(f"{mark:>{width}}" for mark in marks)])


def explain_errors(answer: CopyAnswer, model: CopyTraining, test: Callable[[], tuple[int, int]]) -> str:
    """Return why a trained model answers wrongly; "" where it does not. test: counts wrong numbers and all numbers in a test."""
    wrong, done, settings = len(answer.right) - answer.right_ones, len(model.losses), model.settings
    if not done or not wrong:
        return ""
    sentences = [texts.ERRORS.format(wrong=wrong, total=len(answer.right))]
    if not answer.usual_length:
        sentences.append(texts.OTHER_LENGTH.format(length=settings.length - 1))
    elif not model.finished:
        sentences.append(texts.STOPPED_EARLY.format(done=done, total=settings.batches))
    else:
        errors, total = test()
        sentences.append(texts.SHORT_TRAINING.format(batches=settings.batches))
        sentences.append((texts.TEST_ERRORS if errors else texts.TEST_PERFECT).format(wrong=errors, total=total))
    return " ".join(sentences)


def draw_attention(page: str, answer: CopyAnswer, best: tuple[int, int]) -> None:
    """Draw the chosen one of a run's three kinds of attention. best: the head shown by default."""
    st.caption(texts.STEPS_NOTE)
    kind = ask_option(texts.KIND, texts.KINDS, key=widget_key(page, "kind"))
    stack = next(stack for stack in answer.trace.stacks if stack.kind == kind)
    left, right = st.columns([1, 2], gap="medium")
    with left:
        st.caption(texts.ALL_HEADS)
        head = _ask_head(page, stack, best)
    queries, keys = stack.query_tokens.tokens, stack.key_tokens.tokens
    with right:
        text = texts.ATTENTION[kind].format(layer=head[0] + 1, head=head[1] + 1, queries=len(queries), keys=len(keys))
        st.text(text)
        attention_map(
            token_names(queries) if kind == "self" else step_names(queries, answer.written),
            token_names(keys),
            stack.weights[head],
            alt=text,
            scale="blues",
            strongest=40,
            show="both",
            key=widget_key(page, "map"),
        )


def _ask_head(page: str, stack: AttentionStack, best: tuple[int, int]) -> tuple[int, int]:
    layers, heads = stack.weights.shape[:2]
    wall, head = widget_key(page, "wall"), st.session_state[widget_key(page, "head")] or best
    head = head if head[0] < layers and head[1] < heads else best

    def store_head() -> None:
        if chosen := chosen_heads(wall, layers, heads):
            st.session_state[widget_key(page, "head")] = chosen[-1]

    head_wall(thumbnails(stack.weights), [head], scale="blues", key=wall, on_choose=store_head)
    return head


def training_numbers(model: CopyTraining) -> PartNumbers:
    """Return what a training computes, from its settings."""
    title = texts.EXPORT_TRAINING.format(task=TASKS[model.settings.task].title, batches=len(model.losses))
    _, records = _trained(model)
    shown = each(records, lambda one: (one.batch, one.loss, one.accuracy, one.alignment))
    source = {"settings": repr(model.settings), "batches": len(model.losses)}
    return PartNumbers(title, source, [shown], texts.EXPORT_TRAINING_RESULT)


def answer_numbers(page: str, model: CopyTraining, answer: CopyAnswer) -> PartNumbers:
    """Return what a trained model computes of an input."""
    kind = st.session_state[widget_key(page, "kind")]
    title = texts.EXPORT_ANSWER.format(kind=texts.KINDS[kind], batches=len(model.losses))
    training, records = _trained(model)
    found = named("answer", call(answer_sequence, after(records, training), tuple(answer.numbers)))
    stack = named("stack", found.trace.stacks[[stack.kind for stack in answer.trace.stacks].index(kind)])
    source = {"settings": repr(model.settings), "batches": len(model.losses), "numbers": list(answer.numbers)}
    source |= {"output": list(answer.written), "attention": kind}
    return PartNumbers(title, source, [found.written, stack.weights.round(3)], texts.EXPORT_ANSWER_RESULT)


def _trained(model: CopyTraining) -> tuple[Computation, Computation]:
    """Return the computation of a model, and of its training for as many batches as this one had."""
    training = named("training", call(start_copy_training, model.settings))
    return training, named("records", call(list, call(islice, call(train_copy, training), len(model.losses))))
