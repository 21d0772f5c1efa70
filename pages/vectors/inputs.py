"""What the page is asked: texts, typed, built in or of a file, and a model; whether the plane or a probe is shown; examples."""

from dataclasses import dataclass

import streamlit as st

from pages.ui.shell import controls
from pages.ui.shell.address import value_of, widget_binding, widget_key
from pages.ui.shell.examples import offer_views, read_examples
from pages.ui.shell.fields import Field, StageFields, check, choice_field, number_field, place_field
from pages.ui.shell.level import is_hidden
from pages.ui.stage import background_runs
from pages.ui.stage.controls import Control
from pages.ui.stage.inputs import PageInputs, ask_model, ask_pair, input_fields, input_values, read_pair_address
from pages.ui.stage.sentence_file import ask_file, own_sentences, show_sentences
from pages.ui.stage.texts import UPLOAD_SENTENCES
from pages.vectors import texts
from tx_core.corpus.sentence_file import Sentences, embedded_sentences
from tx_core.corpus.vectors import MOST_PROBE_TOKENS
from tx_core.errors import TextProblem

PAGE = "vectors"
MOST_LAYERS = 200
LIMITS = (MOST_PROBE_TOKENS, 10_000, 30_000)
"""Of the tokens that a probe reads."""
SOURCE_WIDTH = 176
"""Pixels: on a phone the model stands beside it."""


LAYER_FIELD = number_field("layer", 0, 0, MOST_LAYERS)
READ = dict.fromkeys(("texts", "text", "text_b", "part", "colour", "token"), str)
EXAMPLES = read_examples(PAGE, READ | {"layer": LAYER_FIELD.read}, ())
FIELDS = StageFields(
    own=(
        *input_fields(EXAMPLES[0].view["text"], "text_b"),
        choice_field("texts", tuple(texts.SOURCES)),
        choice_field("part", tuple(texts.PARTS)),
        choice_field("method", tuple(texts.METHODS)),
        choice_field("label", tuple(texts.LABELS)),
        Field("most", MOST_PROBE_TOKENS, lambda written: int(check(written, tuple(map(str, LIMITS))))),
    ),
    looks=(
        LAYER_FIELD,
        choice_field("colour", tuple(texts.COLOURS)),
        place_field("token", "{number}", "a token must be named by its number, from 1"),
    ),
    first=EXAMPLES[0].view,
)
PART_CONTROL = Control("part", "segments", texts.PART, tuple(texts.PARTS.items()), apart=True)
METHOD_CONTROL = Control("method", "list", texts.METHOD, tuple(texts.METHODS.items()), when={"part": ["map"]})
CONTROLS = [PART_CONTROL, METHOD_CONTROL]


@dataclass(frozen=True, kw_only=True)
class VectorInputs(PageInputs):
    """What the page is asked.

    Attributes:
        text_b: the second of those that are typed.
        texts: where the texts are from, a key of `texts.SOURCES`.
        part: a key of `texts.PARTS`.
        method: how the points of the map are placed, one of `METHODS`.
        label: the column of CoNLL-U that a probe reads.
        most: of how many tokens, special ones left out.
        file: the sentences of the visitor's file, where they are asked for and there.
    """

    text_b: str
    texts: str
    part: str
    method: str
    label: str
    most: int
    file: Sentences | None

    @property
    def sentences(self) -> Sentences | tuple[str, ...]:
        """The texts; raise TextProblem where there are none yet."""
        if self.texts == "own" and self.file is None:
            raise TextProblem(UPLOAD_SENTENCES)
        if self.texts == "typed":
            return (self.text, self.text_b) if self.text_b.strip() else (self.text,)
        return self.file or embedded_sentences()


def vector_inputs() -> VectorInputs:
    """Read the address, draw the boxes and the examples, take in a file, and return what is asked."""
    read_pair_address(PAGE, FIELDS)
    if value_of(PAGE, "texts") == "typed":
        ask_pair(PAGE, {"text": texts.TEXT_A, "text_b": texts.TEXT_B}, _ask_more)
    else:
        with st.container(horizontal=True, vertical_alignment="center", gap="xsmall"):
            _ask_more()
    typed = () if value_of(PAGE, "texts") == "typed" else ("text", "text_b")
    offer_views(PAGE, FIELDS, EXAMPLES, free=("label", "most", *typed))
    if value_of(PAGE, "texts") == "own":
        ask_file(PAGE, "cpu")
        file = own_sentences(PAGE)
        if value_of(PAGE, "part") == "map" or file is None:  # else the run of a probe says it
            background_runs.show_problem(PAGE)
        if file:
            show_sentences(file)
    return _read()


def _read() -> VectorInputs:
    file = own_sentences(PAGE) if value_of(PAGE, "texts") == "own" else None
    return VectorInputs(file=file, **input_values(PAGE, FIELDS.own))


def _ask_more() -> None:
    if not is_hidden("texts"):
        shown = {"format_func": texts.SOURCES.get, "label_visibility": "collapsed", "width": SOURCE_WIDTH}
        controls.choice_box(texts.SOURCE, list(texts.SOURCES), **shown, **widget_binding(widget_key(PAGE, "texts")))
    ask_model(PAGE)
