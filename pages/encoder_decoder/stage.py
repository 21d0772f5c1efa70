"""The stage of the encoder-decoder: its answer to some numbers at every moment of the training, and where its heads look."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial

import streamlit as st

from pages.encoder_decoder import texts
from pages.encoder_decoder.model import TRAINER, count_errors, untrained
from pages.ui.shell.address import widget_key
from pages.ui.shell.fields import StageFields
from pages.ui.stage.architecture import Box, Stack, architecture, residual_parts
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
from tx_core.engine.progress import Progress
from tx_core.training.copy_task import CopyAnswer, CopySettings, CopyTraining, answer_sequence, best_aligned_head, read_numbers
from tx_core.transformer.interventions import Head
from tx_core.transformer.trace import AttentionStack, Trace


def answers(written: str, shown: ShownTraining) -> dict[int, CopyAnswer]:
    """Return what the model answers at each moment that is shown, by how many batches it was trained on."""
    return answers_at_moments(shown, untrained, lambda model: answer_sequence(model, read_numbers(written, model.settings)))


def answer_stage(written: str, shown: ShownTraining, found: Mapping[int, CopyAnswer], settings: CopySettings) -> None:
    """Draw the stage of an encoder-decoder; the head that looks most at the answers is the first one that is shown."""
    curves = training_charts(shown.records, *loss_and_shares(shown.records), texts.CURVES)
    if not found:
        return empty_training_stage(TRAINER, shown, curves)
    last = found[max(found)]
    trainer = replace(TRAINER, fields=fields_with_head(best_aligned_head(last.trace, settings.task)))
    batches = shown.model.settings.batches if shown.model else shown.records[0].total if shown.records else 0
    moments = [
        Moment(
            batch,
            moment_title(batch, batches, "" if one.numbers == last.numbers else " ".join(map(str, one.numbers))),
            texts.SAID.format(right=one.right_ones, total=len(one.right)),
            named_trace(one),
            {"rows": rows(one), "notes": _notes(one, shown, one is last, written)},
        )
        for batch, one in sorted(found.items())
    ]
    about = {
        "model": texts.MODEL,
        "text": " ".join(map(str, last.numbers)),
        "stem": "encoder-decoder",
        "kinds": texts.KINDS,
        "architecture": drawing(last.trace.stacks[0].weights.shape[0], settings.norm_first),
    }
    return training_stage(trainer, shown, moments, curves, about)


def fields_with_head(best: Head) -> StageFields:
    """Return the fields of the page; where no other head was chosen, the one that finds the answers is shown, and not linked."""
    state, name = st.session_state, widget_key(TRAINER.page, "head")
    if state[name] in ([], state.get(widget_key(TRAINER.page, "best_head"))):
        state[name] = [best]
    state[widget_key(TRAINER.page, "best_head")] = [best]
    return TRAINER.fields.with_default("head", [best])


def rows(answer: CopyAnswer) -> dict[str, object]:
    """Return the answer below the input, and which of its numbers are right."""
    cells = [list(map(str, row)) for row in (answer.numbers, answer.written, answer.right)]
    right = [written == right for written, right in zip(answer.written, answer.right, strict=True)]
    return {"names": [texts.INPUT, texts.OUTPUT, texts.CORRECT], "cells": cells, "right": right}


def _notes(answer: CopyAnswer, shown: ShownTraining, is_last: bool, written: str) -> list[str]:
    """Return why an answer is wrong, where it is the last one; while a training goes on, that other numbers must wait."""
    model = shown.model
    if shown.is_running and written.replace(",", " ").split() != list(map(str, answer.numbers)):
        return [texts.STILL_TRAINING]
    if model is None or not is_last:
        return []
    reasons = explain_errors(answer, model, lambda: count_errors(model))
    if not reasons and model.done and not answer.usual_length:
        reasons = texts.OTHER_LENGTH.format(length=model.settings.length - 1)
    return [reasons] if reasons else []


def explain_errors(answer: CopyAnswer, model: CopyTraining, test: Callable[[], tuple[int, int]]) -> str:
    """Return why a trained model answers wrongly; "" where it does not. test: counts wrong numbers and all numbers in a test."""
    wrong, done, settings = len(answer.right) - answer.right_ones, model.done, model.settings
    if not done or not wrong:
        return ""
    sentences = [texts.ERRORS.format(wrong=wrong, total=len(answer.right))]
    if not answer.usual_length:
        sentences.append(texts.OTHER_LENGTH.format(length=settings.length - 1))
    elif done < model.batches:
        sentences.append(texts.STOPPED_EARLY.format(done=done, total=settings.batches))
    else:
        errors, total = test()
        sentences.append(texts.SHORT_TRAINING.format(batches=settings.batches))
        sentences.append((texts.TEST_ERRORS if errors else texts.TEST_PERFECT).format(wrong=errors, total=total))
    return " ".join(sentences)


def named_trace(answer: CopyAnswer) -> Trace:
    """Return the attention of an answer: cross-attention first, its rows named by what the decoder reads and writes."""
    reads = answer.trace.stacks[-1].query_tokens.tokens
    pairs = zip(token_names(reads), answer.written, strict=True)
    steps = [texts.STEP.format(read=token, written=number) for token, number in pairs]  # as in "start → 84"
    stacks = {stack.kind: stack for stack in answer.trace.stacks}

    def named(stack: AttentionStack) -> AttentionStack:
        keys = replace(stack.key_tokens, tokens=tuple(token_names(stack.key_tokens.tokens)))
        queries = keys if stack.kind == "self" else replace(stack.query_tokens, tokens=tuple(steps))
        return AttentionStack(stack.kind, queries, keys, weights=stack.weights)

    return replace(answer.trace, stacks=tuple(named(stacks[kind]) for kind in texts.KINDS))


def token_names(tokens: Sequence[str]) -> list[str]:
    """Return token labels of a sequence; the start token is named, since its number, 1, looks like one of the others."""
    return [texts.START, *tokens[1:]]


# Curves and the architecture


def loss_and_shares(records: Sequence[Progress]) -> tuple[Curves, Curves]:
    """Return the loss of a training, and what share of its numbers and of its attention is right."""
    shares = {"accuracy": texts.ACCURACY, "alignment": texts.ALIGNMENT}
    return curves_of(records, {"loss": texts.LOSS}), curves_of(records, shares)


def drawing(layers: int, norm_first: bool) -> dict[str, object]:
    """Return the architecture, in which a click on an attention shows it. norm_first: whether the norms stand before."""
    boxes = {kind: Box(kind, title, sets={"kind": kind}) for kind, title in texts.BOXES.items()}
    feed, before = Box("feed", texts.FEED_FORWARD), [Box("embeddings", texts.EMBEDDINGS)]
    block = partial(residual_parts, norm_first=norm_first)
    encoder = Stack(block(boxes["self"], feed), layers, before=before)
    after = [Box("head", texts.OUTPUT_HEAD)]
    decoder = Stack(block(boxes["decoder"], boxes["cross"], feed), layers, before=before, after=after)
    return architecture(encoder, decoder, cross="cross")
