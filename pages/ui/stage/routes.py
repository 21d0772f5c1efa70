"""The stage of routes: from a sentence to a prediction, layer by layer, and what the prediction loses without each arc.

The page's answer carries the layers' guesses and the arcs into the blank. Arcs into other tokens take as many runs again for each
token: the stage asks a route for those that carry something, one after the other, and for the heads of an arc that was chosen.
"""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

import numpy as np
import streamlit as st

from pages.contents import HOME_PARAMETER
from pages.ui.panels.changes import CHANGES_FIELD, active_changes, describe_change, drop_missing_changes, stack_names
from pages.ui.panels.predictions import blank_trace
from pages.ui.panels.tokens import click_word, sentence_words
from pages.ui.shell import cache, controls
from pages.ui.shell.address import Field, check, choice_field, text_field, widget_key
from pages.ui.stage.address import StageFields, read_stage_address
from pages.ui.stage.arcs import arcs_into, arcs_path, read_word, written_arcs
from pages.ui.stage.attention import take_changes
from pages.ui.stage.mount import Reported, mount
from pages.ui.stage.packing import join
from tx_core.analysis.logit_lens import LayerPredictions, logit_lens
from tx_core.analysis.probabilities import largest, probabilities
from tx_core.causal.cut_effects import CutEffects
from tx_core.engine.catalogue import DEFAULT
from tx_core.engine.engine import Engine
from tx_core.engine.threads import use_one_core
from tx_core.errors import ExplorerError, memory_checked
from tx_core.fill_mask.predictions import predict
from tx_core.transformer.interventions import Intervention, write_interventions

MOST_LIKELY = 5
LEAST_EFFECTS = ("0.05", "0.1", "0.2", "0.3", "0.5", "1", "2")
"""From which effect on an arc is drawn, in nats of log-odds."""
USUAL_LEAST = "0.2"


def route_fields(text: str) -> StageFields:
    """Return the fields of a page whose stage shows routes. text: its first sentence."""
    own = (text_field("text", text), text_field("text_behind"), CHANGES_FIELD)
    least = Field(HOME_PARAMETER, "", lambda written: check(written, LEAST_EFFECTS))
    return StageFields(own, (least, choice_field("by", ("effect", "mixed"))), {HOME_PARAMETER: USUAL_LEAST})


@dataclass(frozen=True)
class RouteInputs:
    """What the model is asked: a sentence with a blank, and its words, each with whether it is the blank."""

    page: str
    fields: StageFields
    text: str
    words: list[tuple[str, bool]]


def route_inputs(page: str, fields: StageFields, label: str) -> RouteInputs:
    """Read the address, draw the box of the sentence, and return what is asked."""
    read_stage_address(page, fields)
    text = controls.sentence(widget_key(page, "text"), label, label_visibility="collapsed", placeholder=label)
    return RouteInputs(page, fields, text, sentence_words(widget_key(page, "text")))


@dataclass(frozen=True)
class RouteRun:
    """A sentence's way through the model, with the reader's changes.

    Attributes:
        engine: of the model.
        changes: the reader's.
        effects: of the arcs into the blank.
        guesses: after the embeddings and each layer, with the changes; `plain` without them.
        words: the most likely words with the changes, the first one without them among these, and their probabilities without
            and with them.
        notes: what of the changes this sentence does not have, and was left out.
        labels: the changes in words.
    """

    engine: Engine
    changes: tuple[Intervention, ...]
    effects: CutEffects
    guesses: LayerPredictions
    plain: LayerPredictions
    words: Sequence[tuple[str, float, float]]
    notes: tuple[str, ...]
    labels: tuple[str, ...]


def route_run(inputs: RouteInputs) -> RouteRun:
    """Run the sentence, without and with the reader's changes, and cut every arc into its first blank.

    Raises:
        ExplorerError: where the sentence has no blank or the model cannot be used.
    """
    use_one_core()
    text, page = inputs.text, inputs.page
    with memory_checked():
        engine = cache.engine(DEFAULT)
        trace = blank_trace(engine, text)
        notes = drop_missing_changes(page, trace)
        changes = active_changes(page)
        plain_guesses, plain_shares = _layers(engine, text, ())
        guesses, shares = _layers(engine, text, changes)
        likely, was = largest(shares, MOST_LIKELY).tolist(), int(plain_shares.argmax())
        found = likely if was in likely else [*likely[:-1], was]
        words = [(read_word(engine, entry), float(plain_shares[entry]), float(shares[entry])) for entry in found]
        effects = arcs_into(engine, text, changes, trace.attention.query_tokens.blanks[0])
    labels = tuple(describe_change(change, stack_names(trace)) for change in changes)
    return RouteRun(engine, changes, effects, guesses, plain_guesses, words, tuple(notes), labels)


def _layers(engine: Engine, text: str, changes: tuple[Intervention, ...]) -> tuple[LayerPredictions, np.ndarray]:
    """Return the guesses of every layer at the first blank, and the probabilities of the whole vocabulary there."""
    trace = cache.trace_with(engine, text, keep=("hidden", "blank_logits"), interventions=changes)
    place = trace.attention.query_tokens.blanks[0]
    return logit_lens(engine, trace, place, top_k=MOST_LIKELY), probabilities(trace.blank_logits[0])


def routes_stage(inputs: RouteInputs, run: RouteRun) -> None:
    """Draw the stage of a run."""
    effects, encoding = run.effects, run.effects.encoding
    message = {
        "run": True,
        "model": controls.model_title(run.engine.name),
        "tokens": encoding.tokens,
        "special": [int(special) for special in encoding.special],
        "place": effects.place,
        "layers": run.engine.info.num_layers,
        "word": effects.word,
        "probability": round(effects.probability, 5),
        "guesses": _written_guesses(run.guesses),
        "plainGuesses": _written_guesses(run.plain),
        "likely": [{"word": word, "before": round(before, 6), "after": round(after, 6)} for word, before, after in run.words],
        "arcs": [written_arcs(run.engine, effects, effects.place)],
        "path": arcs_path(inputs.text, run.changes),
    }
    _mount(inputs, message, run)


def empty_routes(inputs: RouteInputs) -> None:
    """Draw a stage that shows the words of the sentence only, so that a click can make one the blank."""
    _mount(inputs, {"run": None}, None)


def _mount(inputs: RouteInputs, message: Mapping[str, object], run: RouteRun | None) -> None:
    changes = zip(run.changes, run.labels, strict=True) if run else ()
    told = {
        **message,
        "text": inputs.text,
        "words": inputs.words,
        "changes": [{"link": write_interventions([change]), "label": label} for change, label in changes],
        "leastEffects": LEAST_EFFECTS,
        "usualLeast": USUAL_LEAST,
    }
    mount(
        inputs.page,
        "routes",
        inputs.fields,
        lambda header: join({**header, **told, "notices": list(run.notes) if run else []}, []),
        lambda reported: take_reports(inputs.page, reported),
    )


def _written_guesses(guesses: LayerPredictions) -> list[list[list[object]]]:
    """Write the most likely words of each layer with their probabilities."""
    return [
        [[word, round(share, 5)] for word, share in zip(words, shares, strict=True)]
        for words, shares in zip(guesses.words, guesses.shares.tolist(), strict=True)
    ]


def take_reports(page: str, reported: Reported) -> None:
    """Apply what a reader asked for: another blank, or changes of the run."""
    word = reported.get("word")
    if isinstance(word, Mapping) and isinstance(word.get("number"), int):
        move_blank(widget_key(page, "text"), word["number"], word.get("text"))
    take_changes(page, reported)


def move_blank(text_key: str, number: int, text: object) -> None:
    """Make a word the only blank: the others become the words that they replaced, or what the model puts there.

    text: the sentence that was clicked; nothing happens where something else was typed since. A blank that is clicked stays.
    """
    if st.session_state.get(text_key) != text:
        return
    parts = sentence_words(text_key)
    if not 0 <= number < len(parts) or parts[number][1]:
        return
    for place, (_, is_blank) in enumerate(parts):
        if is_blank:
            click_word(text_key, place, _fill_in)
    click_word(text_key, number, _fill_in)


def _fill_in(text: str, number: int) -> str:
    """Fill one blank with the most likely word; return the text unchanged where it cannot be filled."""
    with suppress(ExplorerError):
        return predict(cache.engine(DEFAULT), text).blanks[number].predictions[0].sentence
    return text
