"""What the page is asked: the sentence that gives, the one that takes, two answers, what is put in; and its examples."""

from dataclasses import dataclass

import streamlit as st

from pages.patching import texts
from pages.ui.shell import controls
from pages.ui.shell.address import value_of, widget_key
from pages.ui.shell.controls import head_name
from pages.ui.shell.examples import read_examples
from pages.ui.shell.fields import StageFields, choice_field, place_field
from pages.ui.shell.level import is_hidden
from pages.ui.stage.controls import Control
from pages.ui.stage.heads import all_heads
from pages.ui.stage.inputs import PageInputs, ask_model, has_answers, input_fields, pair_inputs
from pages.ui.stage.view_options import heads_to_link
from tx_core.transformer.interventions import Head

PAGE = "patching"


CELL = "{number}-{number}", "a cell must be written by its layer and its token or head, like 4-7"
SENDER = place_field("sender", *CELL)
READ = dict.fromkeys(("text", "text_b", "answer", "answer_b", "what"), str)
EXAMPLES = read_examples(
    PAGE, READ | {"model": controls.read_model, "sender": SENDER.read}, ("text", "text_b", "answer", "answer_b", "model")
)
FIELDS = StageFields(
    (
        *input_fields(EXAMPLES[0].view["text"], "text_b", "answer", "answer_b"),
        choice_field("what", tuple(texts.PARTS)),
        SENDER,
    ),
    (place_field("cell", *CELL), place_field("head", *CELL)),
    EXAMPLES[0].view,
)
CONTROLS = [Control("what", "segments", texts.ASK_PART, tuple(texts.PARTS.items()), help=texts.ASK_PART_HELP)]


@dataclass(frozen=True)
class PatchInputs(PageInputs):
    """What the page is asked.

    text_b: the sentence into which is put what is taken from A. answer, answer_b: "" for the most likely word. what: the part
    that is put in, a key of `texts.PARTS`. sender: the head at which paths begin, as a link names it; "" for the strongest.
    """

    text_b: str
    answer: str
    answer_b: str
    what: str
    sender: str


def patch_inputs() -> PatchInputs:
    """Read the address, draw the boxes and the examples, and return what is asked."""
    exchange = texts.EXCHANGE_HELP if is_hidden("formulas") else texts.EXCHANGE_TERMS
    choices = [example for example in EXAMPLES if not is_hidden(f"what={example.view.get('what')}")]
    labels = texts.SENTENCE_A, texts.SENTENCE_B
    return pair_inputs(PAGE, FIELDS, labels, PatchInputs, exchange, _ask_answers, choices, ("what", "sender"), apart=True)


def _ask_answers() -> None:
    """Offer the two answers, and the model."""
    with st.popover(texts.ANSWERS, key=widget_key(PAGE, "answers")):
        st.caption(texts.ANSWERS_HELP)
        for name, label in (("answer", texts.ANSWER_A), ("answer_b", texts.ANSWER_B)):
            controls.sentence(widget_key(PAGE, name), label, placeholder=texts.MOST_LIKELY)
    ask_model(PAGE, has_answers)


def ask_sender(shape: tuple[int, int], strongest: Head) -> tuple[Head, Control]:
    """Return the head at which paths begin, by default the strongest, and the list to choose from, the last layer excluded."""
    layers, heads = shape
    senders = all_heads(layers - 1, heads)
    chosen = senders.get(value_of(PAGE, "sender"), strongest)
    options = tuple((link, head_name(head)) for link, head in senders.items())
    return chosen, Control("sender", "list", texts.SENDER, options, labelled=True, fallback=heads_to_link([chosen]))
