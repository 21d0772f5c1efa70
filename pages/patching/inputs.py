"""What the page is asked: the sentence that gives, the one that takes, two answers, what is put in; and its examples."""

import re
from dataclasses import dataclass

import streamlit as st

from pages.patching import texts
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
from pages.ui.shell.controls import head_name
from pages.ui.shell.examples import Example, offer_examples, read_examples
from pages.ui.shell.level import is_hidden
from pages.ui.stage.controls import Control
from pages.ui.stage.heads import all_heads
from pages.ui.stage.inputs import ask_model, ask_sentences, offers_answers
from pages.ui.stage.tokens import SPECIAL_FIELD
from pages.ui.stage.view_options import heads_to_link
from tx_core.engine.engine import Engine
from tx_core.transformer.interventions import Head

PAGE = "patching"
SIDES = (("text", "answer"), ("text_b", "answer_b"))
"""The fields of each side: A gives, B takes."""


def read_cell(written: str) -> str:
    """Read a cell as a link names it, by layer and by token or head: 4-7; "" for none; raise ValueError for anything else."""
    if not re.fullmatch(r"([1-9][0-9]{0,3}-[1-9][0-9]{0,3})?", written, flags=re.ASCII):
        raise ValueError("a cell must be written by its layer and its token or head, like 4-7")
    return written


READ = {
    "text": str,
    "text_b": str,
    "answer": str,
    "answer_b": str,
    "model": controls.read_model,
    "what": str,
    "sender": read_cell,
    "cell": read_cell,
    "head": read_cell,
}
EXAMPLES = read_examples(PAGE, READ, ("text", "text_b", "answer", "answer_b", "model"))
FIELDS = StageFields(
    (
        text_field("text", EXAMPLES[0].view["text"]),
        text_field("text_b"),
        text_field("answer"),
        text_field("answer_b"),
        Field("model", "embedded", controls.read_model),
        SPECIAL_FIELD,
        choice_field("what", tuple(texts.PARTS)),
        Field("sender", "", read_cell),
    ),
    (Field("cell", "", read_cell), Field("head", "", read_cell)),
    EXAMPLES[0].view,
)
CONTROLS = [Control("what", "segments", texts.ASK_PART, tuple(texts.PARTS.items()), help=texts.ASK_PART_HELP)]


@dataclass(frozen=True)
class PatchInputs:
    """What the page is asked.

    Attributes:
        text, text_b: the sentences A, from which is taken, and B, into which is put.
        answer, answer_b: of A and of B; "" for the most likely word.
        model: its name.
        bare: whether it reads without special tokens.
        what: the part that is put in, a key of `texts.PARTS`.
        sender: the head at which paths begin, as a link names it; "" for the strongest.
    """

    text: str
    text_b: str
    answer: str
    answer_b: str
    model: str
    bare: bool
    what: str
    sender: str

    def engine(self) -> Engine:
        """Return the engine of the model; raise ExplorerError where it is not available."""
        return controls.model_engine(self.model, bare=self.bare)


def patch_inputs() -> PatchInputs:
    """Read the address, draw the boxes and the examples, and return what is asked."""
    arriving, first = widget_key(PAGE, "text") not in st.session_state, EXAMPLES[0].view
    read_stage_address(PAGE, FIELDS)
    if arriving and value_of(PAGE, "text") == first["text"] and not value_of(PAGE, "text_b"):
        set_values(PAGE, {"text_b": first["text_b"]})  # a link that names no sentence
    labels = {"text": texts.SENTENCE_A, "text_b": texts.SENTENCE_B}
    inputs = ask_sentences(PAGE, labels, _read, _ask_more, counts=False)
    choices = [example for example in EXAMPLES if not is_hidden(f"what={example.view.get('what')}")]
    offer_examples(PAGE, choices, _is_shown, _show_example)
    return inputs


def _read() -> PatchInputs:
    return PatchInputs(*(value_of(PAGE, field.name) for field in FIELDS.own))


def _ask_more() -> None:
    """Offer to exchange A and B, the two answers, and the model."""
    exchange = texts.EXCHANGE_HELP if is_hidden("formulas") else texts.EXCHANGE_TERMS
    st.button(texts.EXCHANGE, key=widget_key(PAGE, "exchange"), help=exchange, on_click=_exchange)
    with st.popover(texts.ANSWERS, key=widget_key(PAGE, "answers")):
        st.caption(texts.ANSWERS_HELP)
        for name, label in (("answer", texts.ANSWER_A), ("answer_b", texts.ANSWER_B)):
            controls.sentence(widget_key(PAGE, name), label, placeholder=texts.MOST_LIKELY)
    ask_model(PAGE, offers_answers(PAGE))


def _exchange() -> None:
    """Make A what B is, and B what A is."""
    one, other = ([value_of(PAGE, name) for name in side] for side in SIDES)
    set_values(PAGE, dict(zip(SIDES[0], other, strict=True)) | dict(zip(SIDES[1], one, strict=True)))


def ask_sender(shape: tuple[int, int], strongest: Head) -> tuple[Head, Control]:
    """Return the head at which paths begin, and the list to choose it from: all heads above which there is a layer.

    shape: how many layers and heads there are. strongest: the one that stands in where none is chosen.
    """
    layers, heads = shape
    senders = all_heads(layers - 1, heads)
    chosen = senders.get(value_of(PAGE, "sender"), strongest)
    options = tuple((link, head_name(head)) for link, head in senders.items())
    return chosen, Control("sender", "list", texts.SENDER, options, labelled=True, fallback=heads_to_link([chosen]))


# Examples


def _is_shown(example: Example) -> bool:
    """Return whether the page asks what an example asks; what is put in is the reader's."""
    asked = [field for field in FIELDS.own if field.name not in ("what", "sender")]
    return all(value_of(PAGE, field.name) == example.view.get(field.name, field.default) for field in asked)


def _show_example(example: Example) -> None:
    ask_for_view(PAGE, {field.name: field.default for field in FIELDS.all} | dict(example.view))
