"""What the page is asked: a sentence or two and a model, and sentences worth looking at."""

import json
from dataclasses import dataclass
from functools import cache
from typing import Any

import streamlit as st

from pages.ui.shell import examples, texts
from pages.ui.shell.address import Field, choice_field, is_offered, text_field, widget_key
from pages.ui.shell.controls import head_name, model_title, read_model
from pages.ui.stage import view_options
from pages.ui.stage.address import StageFields, ask_for_view
from pages.ui.stage.changes import CHANGES_FIELD, active_changes
from pages.ui.stage.inputs import SentenceInputs, sentence_inputs
from pages.ui.stage.tokens import SPECIAL_FIELD
from tx_core.engine.catalogue import DEFAULT
from tx_core.settings import ASSETS
from tx_core.transformer.interventions import Head

EXAMPLES = ASSETS / "examples" / "attention.json"


@dataclass(frozen=True)
class Example:
    """A sentence, or two, worth looking at.

    Attributes:
        title: what the button says.
        text, pair: the sentence and the second one, or "".
        notice: what to notice.
        heads: (layer, head) of the view, counted from 0.
        words: whether word pieces are merged into words.
        focus: position of the token to look from, counted from 0, or None.
        counters: sentences on which the same heads do not do what the example seems to show; the sentence is the title.
    """

    title: str
    text: str
    pair: str
    notice: str
    heads: tuple[Head, ...]
    words: bool
    focus: int | None
    counters: tuple["Example", ...] = ()


@cache
def curated() -> tuple[Example, ...]:
    """List the curated examples of the attention page; what they claim holds for the embedded model."""
    return tuple(_read(entry, entry) for entry in json.loads(EXAMPLES.read_text(encoding="utf-8")))


def _read(entry: dict[str, Any], about: dict[str, Any]) -> Example:
    """Read an example, or a counter-example of the example `about`, whose view it keeps."""
    text, pair = entry["text"], entry.get("pair", "")
    return Example(
        entry.get("title", f"{text} {pair}".strip()),
        text,
        pair,
        entry["notice"],
        tuple((layer - 1, head - 1) for layer, head in about["heads"]),
        about["words"],
        None if entry["focus"] is None else entry["focus"] - 1,
        tuple(_read(counter, about) for counter in entry.get("counters", ())),
    )


FIRST = curated()[0]
FIELDS = StageFields(
    (
        text_field("text", FIRST.text),
        text_field("pair", FIRST.pair),
        Field("model", DEFAULT, read_model),
        SPECIAL_FIELD,
        CHANGES_FIELD,
    ),
    (*view_options.view_fields(FIRST.heads), choice_field("compared", view_options.COMPARED)),
    {"focus": FIRST.focus},
)


def attention_inputs(page: str) -> SentenceInputs:
    """Ask for the sentences and the model; offer examples, for the one on the page what to notice, and what breaks it."""
    inputs = sentence_inputs(page, FIELDS)
    if not is_offered("examples"):
        return inputs
    choices = [one for one in curated() if not one.pair or is_offered("pair")]
    example, origin = examples.find(choices, lambda one: (one.text, one.pair) == (inputs.text, inputs.pair))

    def show(chosen: Example) -> None:
        view = {
            "text": chosen.text,
            "pair": chosen.pair,
            "heads": list(chosen.heads),
            "focus": chosen.focus,
            "words": chosen.words,
        }
        ask_for_view(page, view | {"hide": False, "stack": "self", "changes": (), SPECIAL_FIELD.name: False})

    examples.offer(widget_key(page, "example"), choices, origin, show)
    if example and origin:
        with st.container(horizontal=True, vertical_alignment="center"):
            described = not active_changes(page) and not inputs.bare
            examples.show_notice(notice(example, inputs.model, shown=described))
            examples.offer_counters(widget_key(page, "counter_example"), origin, example, show)
    return inputs


def notice(example: Example, model: str, *, shown: bool) -> str:
    """Return what to notice in an example, and in which heads of the embedded model.

    shown: whether those heads are on the screen, unmodified.
    """
    heads = texts.AND.join(head_name(head).lower() for head in example.heads)
    template = texts.HINT_SHOWN if shown else texts.HINT_ELSEWHERE
    hint = template.format(heads=heads, hint=example.notice)
    return hint if model == DEFAULT else f"{hint} {texts.HINT_OF_OTHER_MODEL.format(model=model_title(DEFAULT))}"
