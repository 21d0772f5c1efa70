"""The stage of routes: from a sentence to a prediction, layer by layer, and what the prediction loses without each arc.

The page's answer carries the layers' guesses. Arcs take a run each: the stage asks for them by a route (`arcs`), first those into
the blank, then those into tokens that carry something.
"""

import functools
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from types import MappingProxyType

import streamlit as st

from pages.contents import HOME_PARAMETER
from pages.ui.shell import cache, controls
from pages.ui.shell.address import value_of, widget_key
from pages.ui.shell.fields import Field, StageFields, check, choice_field
from pages.ui.stage.arcs import arcs_path, describe_routes
from pages.ui.stage.attention import take_changes
from pages.ui.stage.changes import CHANGES_FIELD, drop_missing_changes, list_changes
from pages.ui.stage.inputs import SentenceInputs, input_fields
from pages.ui.stage.mount import Reported, mount, origin
from pages.ui.stage.packing import RunName
from pages.ui.stage.tokens import OPEN_END_FIELD, SPECIAL_FIELD, TypedSentence, click_word, fill_blank, take_end, typed_sentence
from tx_core.analysis.packing import join
from tx_core.causal.cut_effects import read_prediction
from tx_core.errors import ExplorerError, memory_checked
from tx_core.fill_mask.blanks import mark_blanks, text_parts
from tx_core.transformer.interventions import write_interventions

LEAST_EFFECTS = ("0.05", "0.1", "0.2", "0.3", "0.5", "1", "2")
"""From which effect on an arc is drawn, in nats of log-odds."""
USUAL_LEAST = "0.2"
Meanings = Mapping[tuple[str, str, str], str]
"""By model, text and changes, as links write them."""
ROUTE_LOOKS = (Field(HOME_PARAMETER, "", lambda written: check(written, LEAST_EFFECTS)), choice_field("by", ("effect", "mixed")))
"""How a picture of routes is looked at."""
BESIDE_LOOKS = (choice_field("shows", ("heads", "routes")), *ROUTE_LOOKS)
"""The same beside a map, of which the reader looks at either (assets/stage/routes/beside.js)."""


def route_fields(text: str) -> StageFields:
    """Return the fields of a page whose stage shows routes. text: its first sentence."""
    own = (*input_fields(text, "text_behind"), OPEN_END_FIELD, CHANGES_FIELD)
    return StageFields(own, ROUTE_LOOKS, {HOME_PARAMETER: USUAL_LEAST})


def route_run(inputs: SentenceInputs, meanings: Meanings = MappingProxyType({})) -> dict[str, object]:
    """Run the sentence, without and with the reader's changes; return what the stage is told of both. Raises ExplorerError.

    A model that writes on reads it as it was typed. meanings: what changes of a text mean, where a page says it.
    """
    engine = inputs.engine()
    writes = engine.info.predicts_next
    sentence = TypedSentence(inputs.text, inputs.text, []) if writes else typed_sentence(inputs.page, "text")
    inputs = replace(inputs, text=sentence.text)
    with memory_checked():
        read_prediction(engine, inputs.text)  # what cannot be predicted is refused before it runs
        if sentence.note:
            st.info(sentence.note)
        trace = cache.trace_with(engine, inputs.text)
        notices = drop_missing_changes(inputs.page, trace)
        name = inputs.name
        return {
            **describe_routes(name),
            **offered_routes(name),
            **sentence.described(),
            "run": {"id": name.signed()},
            "model": controls.model_title(engine.name),
            "origin": origin(name.model),
            "changes": list_changes(name.changes, trace.stacks),
            "meaning": meanings.get((name.model, name.text, write_interventions(name.changes)), ""),
            "notices": notices,
        }


def routes_stage(inputs: SentenceInputs, fields: StageFields, run: Mapping[str, object] | None = None) -> None:
    """Draw the stage of a run; without one, the words of the sentence alone, so that a click can make one the blank."""
    told = run or {"run": None, "changes": [], "notices": [], **typed_sentence(inputs.page, "text").described()}
    take = functools.partial(take_reports, inputs.page)
    mount(inputs.page, fields, lambda header: join({**header, **told}, []), take, is_empty=run is None)


def offered_routes(name: RunName, blank: int = 0) -> dict[str, object]:
    """Return what a stage needs to ask for the routes of a run: where, which run it is, and how weak an arc may be."""
    # The path is signed by this server; `id` tells the same run of another server.
    identity = [name.model, name.text, name.bare, write_interventions(name.changes), *name.written, blank]
    return {"id": identity, "path": arcs_path(name, blank), "leastEffects": LEAST_EFFECTS, "usualLeast": USUAL_LEAST}


def take_reports(page: str, reported: Reported) -> None:
    """Apply what a reader asked for: another blank, an end of the sentence, or changes of the run."""
    word = reported.get("word")
    if isinstance(word, Mapping) and isinstance(word.get("number"), int):
        move_blank(page, word["number"], word.get("text"))
    take_end(page, reported)
    take_changes(page, reported)


def move_blank(page: str, number: int, text: object) -> None:
    """Make a word the only blank: the others become the words that they replaced, or what the model puts there.

    text: the sentence that was clicked, as it was typed; nothing happens where something else was typed since. A blank that is
    clicked stays.
    """
    key = widget_key(page, "text")
    if st.session_state.get(key) != text:
        return
    parts = text_parts(mark_blanks(text))
    if not 0 <= number < len(parts):
        return
    model, bare, is_open = (value_of(page, name) for name in ("model", SPECIAL_FIELD.name, OPEN_END_FIELD.name))

    def fill_in(text: str, number: int) -> str:
        with suppress(ExplorerError):  # one that cannot be filled stays
            return fill_blank(cache.engine(model, special_tokens=not bare), text, number, closes=not is_open)[0]
        return text

    for place, part in enumerate(parts):
        if part.blank and place != number:
            click_word(key, place, fill_in)
    if not parts[number].blank:
        click_word(key, number, fill_in)
