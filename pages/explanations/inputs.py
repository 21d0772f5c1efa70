"""What the page is asked: two sentences that differ in one word, and a model; and its examples."""

import re
from dataclasses import dataclass

import streamlit as st

from pages.explanations import texts
from pages.ui.shell import controls
from pages.ui.shell.address import (
    Field,
    StageFields,
    ask_for_view,
    choice_field,
    read_stage_address,
    set_values,
    text_field,
    value_of,
    widget_key,
)
from pages.ui.shell.examples import Example, offer_examples, read_examples
from pages.ui.stage.controls import Control
from pages.ui.stage.inputs import ask_model, ask_sentences, offers_answers
from pages.ui.stage.tokens import SPECIAL_FIELD
from tx_core.engine import catalogue
from tx_core.engine.engine import Engine, no_head

PAGE = "explanations"


def read_word(written: str) -> str:
    """Read the number of a word, from 1; "" for none; raise ValueError for anything else."""
    if not re.fullmatch(r"([1-9][0-9]{0,3})?", written, flags=re.ASCII):
        raise ValueError("a word must be named by its number, from 1")
    return written


EXAMPLES = read_examples(PAGE, {"text": str, "text_b": str, "ask": str, "model": controls.read_model}, ("model",))
FIELDS = StageFields(
    (
        text_field("text", EXAMPLES[0].view["text"]),
        text_field("text_b"),
        Field("model", catalogue.DEFAULT, controls.read_model),
        SPECIAL_FIELD,
    ),
    (choice_field("ask", tuple(texts.ASKS)), Field("word", "", read_word)),
    EXAMPLES[0].view,
)
CONTROLS = [Control("ask", "segments", texts.ASK, tuple(texts.ASKS.items()), help=texts.ASK_HELP)]


@dataclass(frozen=True)
class ExplanationInputs:
    """What the page is asked.

    Attributes:
        text, text_b: sentence A, whose answer is explained, and B, whose answer it might have been.
        model: its name.
        bare: whether it reads without special tokens.
    """

    text: str
    text_b: str
    model: str
    bare: bool

    def engine(self) -> Engine:
        """Return the engine of a model that fills blanks, without fetching any other; raise ExplorerError."""
        card = catalogue.card(self.model)
        if not card.fills_blanks:
            raise no_head(card.title)
        return controls.model_engine(self.model, bare=self.bare)


def explanation_inputs() -> ExplanationInputs:
    """Read the address, draw the boxes and the examples, and return what is asked."""
    read_stage_address(PAGE, FIELDS)
    labels = {"text": texts.SENTENCE_A, "text_b": texts.SENTENCE_B}
    inputs = ask_sentences(PAGE, labels, _read, _ask_more, counts=False)
    offer_examples(PAGE, EXAMPLES, _is_shown, _show_example)
    return inputs


def _read() -> ExplanationInputs:
    return ExplanationInputs(*(value_of(PAGE, field.name) for field in FIELDS.own))


def _ask_more() -> None:
    """Offer to exchange A and B, and the model."""
    st.button(texts.EXCHANGE, key=widget_key(PAGE, "exchange"), help=texts.EXCHANGE_HELP, on_click=_exchange)
    ask_model(PAGE, offers_answers(PAGE, writers=False))


def _exchange() -> None:
    set_values(PAGE, {"text": value_of(PAGE, "text_b"), "text_b": value_of(PAGE, "text")})


def _is_shown(example: Example) -> bool:
    return all(value_of(PAGE, field.name) == example.view.get(field.name, field.default) for field in FIELDS.own)


def _show_example(example: Example) -> None:
    ask_for_view(PAGE, {field.name: field.default for field in FIELDS.all} | dict(example.view))
