"""What the page of self-attention is asked: a sentence, and which head is computed on it, and how."""

from dataclasses import dataclass

import streamlit as st

from pages.self_attention import store_fields
from pages.ui.shell import controls, texts
from pages.ui.shell.address import (
    KEPT_PARAMETERS,
    Field,
    choice_field,
    flag_field,
    number_field,
    set_values,
    text_field,
    value_of,
    values_of,
    view_parameters,
    widget_key,
)
from pages.ui.stage.address import StageFields, read_stage_address
from pages.ui.stage.inputs import ask_sentences
from pages.ui.stage.matrices import Cell, cell_from_link, cell_to_link
from pages.ui.stage.tokens import SPECIAL_FIELD
from tx_core.engine.bert_engine import BertEngine
from tx_core.engine.catalogue import DEFAULT
from tx_core.lessons.self_attention import HeadChoice

PAGE = "self_attention"
LAYERS, HEADS = controls.embedded_sizes()
DIMENSIONS_SHOWN = (2, 32)
"""The fewest and the most dimensions that can be shown; all are computed with."""
FIRST_TEXT = "The boy read a very old book."
FIRST_HEAD = {"layer": 2, "head": 6}
"""A head that finds the noun of an article and the object of a verb, one to four tokens ahead: what it looks at is no place."""
FIRST_CELL = Cell("matches", 4, 7)
"""How well the query of 'a' matches the key of 'book'."""
EARLIER_TEXT, EARLIER_HEAD = "time flies like an arrow", {"layer": 1, "head": 8}
"""What older links left out: the page opened on it when they were written."""
SEEDS = (1, 999)
WEIGHTS, NORMALISE = ("trained", "random", "none"), ("softmax", "sparsemax", "hardmax")
MATRICES = ("cell", "all", "vectors", "matches", "scores", "masked", "weights", "context")
"""Which matrices are shown: those of the step that the chosen cell is of, all, or those of a step."""
SETTINGS = (
    SPECIAL_FIELD,
    choice_field("weights", WEIGHTS),
    number_field("layer", 0, 1, LAYERS),
    number_field("head", 0, 1, HEADS),
    number_field("seed", SEEDS[0], *SEEDS),
    choice_field("normalise", NORMALISE),
    flag_field("unscaled"),
    flag_field("causal"),
)
"""What the toolbar of the stage asks to compute with."""
FIELDS = StageFields(
    own=(text_field("text", FIRST_TEXT), *SETTINGS, *store_fields.OWN),
    looks=(
        flag_field("numbers"),
        number_field("dimensions", 6, *DIMENSIONS_SHOWN),
        Field("cell", Cell("matches", 3, 2), cell_from_link, cell_to_link),
        choice_field("matrices", MATRICES),
        store_fields.ANSWER,
    ),
    first={**FIRST_HEAD, "cell": FIRST_CELL},
)


@dataclass(frozen=True)
class HeadInputs:
    """What is computed.

    Attributes:
        text: the sentence.
        bare: whether it is read without special tokens.
        choice: the head, and how its attention is computed.
    """

    text: str
    bare: bool
    choice: HeadChoice

    def engine(self) -> BertEngine:
        """Return the engine of the built-in model, with its weights in this process."""
        return controls.model_engine(DEFAULT, bare=self.bare, weights=True)

    def settings(self) -> dict[str, object]:
        """Return the choice by the names of the page's fields; layer and head are counted from 1."""
        choice = self.choice
        return {
            "layer": choice.layer + 1,
            "head": choice.head + 1,
            "weights": choice.weights,
            "seed": choice.seed,
            "unscaled": not choice.scaled,
            "normalise": choice.normalise,
            "causal": choice.causal,
        }


def head_inputs() -> HeadInputs:
    """Read the address, draw the box of the sentence, and return what is asked."""
    arriving = widget_key(PAGE, "text") not in st.session_state
    read_stage_address(PAGE, FIELDS)
    _complete_view(arriving)
    return ask_sentences(PAGE, {"text": texts.SENTENCE}, _inputs)


def _inputs() -> HeadInputs:
    values = values_of(PAGE, SETTINGS)
    choice = HeadChoice(
        layer=values["layer"] - 1,
        head=values["head"] - 1,
        weights=values["weights"],
        seed=values["seed"],
        scaled=not values["unscaled"],
        normalise=values["normalise"],
        causal=values["causal"],
    )
    return HeadInputs(value_of(PAGE, "text"), values[SPECIAL_FIELD.name], choice)


def _complete_view(arriving: bool) -> None:
    """Fill in what an address leaves out: the first head beside a sentence alone, else what older links meant."""
    given = view_parameters().keys() - set(KEPT_PARAMETERS)
    for name, earlier in EARLIER_HEAD.items():
        if not value_of(PAGE, name):
            set_values(PAGE, {name: FIRST_HEAD[name] if given <= {"text"} else earlier})
    if arriving and given and "text" not in given:
        set_values(PAGE, {"text": EARLIER_TEXT})
