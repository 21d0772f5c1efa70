"""What the page of masks is asked: which part of it, the sentences of that part, and a head and a mask."""

import base64
import binascii
import re
from dataclasses import dataclass, fields
from functools import partial

import numpy as np
import streamlit as st
from jaxtyping import Bool

from pages.masks import texts
from pages.ui.shell import controls
from pages.ui.shell.address import read_stage_address, value_of, view_parameters, widget_key
from pages.ui.shell.fields import Field, StageFields, check, choice_field, number_field, text_field
from pages.ui.shell.frame import open_address, page_address
from pages.ui.stage.controls import NUMBERS_CONTROL, Control, head_controls
from pages.ui.stage.inputs import PageInputs, ask_model, ask_sentences, input_values, may_be_bert
from pages.ui.stage.matrices import Cell, cell_from_link, cell_to_link
from pages.ui.stage.tokens import SPECIAL_FIELD, note_how_read
from pages.ui.stage.training import MOMENT_FIELD
from pages.ui.stage.view_options import MAX_LAYERS_OR_HEADS
from tx_core.engine.bert_engine import BertEngine
from tx_core.engine.catalogue import DEFAULT
from tx_core.transformer.interventions import Head

PAGE = "masks"
SIZES = (0, 8)
"""The fewest and the most tokens of padding, and neighbours of a window."""
PENALTIES = ("-10000", "-100", "-10", "-5", "-2")
STATES = ("after", "before", "difference", "all")
"""Which matrices of one head are shown."""
FIRST_CELL = Cell("weights", 3, 2)
UNDER_A_MASK = {"text": "Yesterday the children [MASK] to school by bus.", "changes": "causal"}
"""How Fill the blank is opened from here: with a mask in every layer."""


MAX_PAINTED_TOKENS = 32
"""Tokens of a sentence whose mask can be painted: cells stay large enough for a finger, links short."""


def mask_to_link(mask: Bool[np.ndarray, "query key"]) -> str:
    """Write a drawn mask as its size and its bits by rows, as in "3-v4A" (assets/stage/core/masking.js)."""
    bits = base64.urlsafe_b64encode(np.packbits(mask).tobytes()).decode("ascii").rstrip("=")
    return f"{len(mask)}-{bits}"


def mask_from_link(written: str) -> Bool[np.ndarray, "query key"]:
    """Read a drawn mask back from an address; raise ValueError for anything else."""
    found = re.fullmatch(r"([0-9]{1,2})-([A-Za-z0-9_-]{1,180})", written, flags=re.ASCII)
    if not found or not 0 < (tokens := int(found[1])) <= MAX_PAINTED_TOKENS:
        raise ValueError("a mask must be written as its size and its bits")
    try:
        packed = base64.urlsafe_b64decode(found[2] + "=" * (-len(found[2]) % 4))
    except binascii.Error as wrong:
        raise ValueError("the bits of a mask must be written in base64") from wrong
    if len(packed) != (tokens**2 + 7) // 8:
        raise ValueError(f"a mask of {tokens} tokens must have {tokens**2} bits")
    return np.unpackbits(np.frombuffer(packed, np.uint8), count=tokens**2).astype(bool).reshape(tokens, tokens)


SETTINGS = (
    choice_field("part", tuple(texts.PARTS)),
    number_field("padding", 0, *SIZES),
    number_field("layer", 1, 1, MAX_LAYERS_OR_HEADS),
    number_field("head", 1, 1, MAX_LAYERS_OR_HEADS),
    SPECIAL_FIELD,
)
"""What the toolbar of the stage asks to compute with."""
TEXTS = (
    text_field("text", "The cat sat on the mat."),
    text_field("pair", "It rained all day, so nobody went out."),
)
FIELDS = StageFields(
    own=(*TEXTS, Field("model", DEFAULT, controls.read_model), *SETTINGS),
    looks=(
        choice_field("kind", tuple(texts.KINDS)),
        number_field("width", 1, *SIZES),
        choice_field("penalty", PENALTIES),
        Field("mask", "", lambda written: mask_to_link(mask_from_link(written))),
        choice_field("matrices", STATES),
        Field("numbers", True, lambda written: check(written, ("0", "1")) == "1", lambda on: str(int(on))),
        Field("cell", None, cell_from_link, cell_to_link),
        MOMENT_FIELD,
    ),
    first={"cell": FIRST_CELL},
)


@dataclass(frozen=True)
class MaskInputs(PageInputs):
    """What is computed of the sentences of a part, and how the browser masks the head that is computed."""

    part: str
    layer: int
    head: int
    padding: int
    kind: str
    width: int
    mask: str
    penalty: str
    needs_own_bert = True


def mask_inputs() -> MaskInputs:
    """Read the address, draw the boxes of the part that it names, and return what is asked."""
    if read_stage_address(PAGE, FIELDS):
        _leave_for_the_prediction()

    def read() -> MaskInputs:
        values = input_values(PAGE, FIELDS.all)
        values["pair"] = values["pair"] if values["part"] == "batch" else ""
        values["model"] = values["model"] if values["part"] != "why" else DEFAULT
        return MaskInputs(**{field.name: values[field.name] for field in fields(MaskInputs)})

    # The texts that a part asks for.
    asked = {"batch": ("text", "pair"), "why": ()}.get(value_of(PAGE, "part"), ("text",))
    ask = partial(ask_model, PAGE, may_be_bert)
    return ask_sentences(PAGE, {name: texts.BOXES[name] for name in asked}, read, ask, counts=False) if asked else read()


def _leave_for_the_prediction() -> None:
    """Open Fill the blank where an older link is of the prediction, which stood here, for a time below the padding."""
    given = view_parameters()
    part = given.get("part", "")
    if part == "run" or (part == "batch" and given.keys() & {"blank", "run"} and not given.keys() & {"text", "pair"}):
        changes = {"padding": "padding~8", "positions": "nopositions"}.get(given.get("run", ""), UNDER_A_MASK["changes"])
        text = given.get("blank", UNDER_A_MASK["text"])
        open_address(page_address("fill_mask", {"text": text, "changes": changes}))


def note_what_to_notice(inputs: MaskInputs, engine: BertEngine) -> None:
    """Show what to notice in this part, and what a reader should know of how its texts were read."""
    notice = texts.OWN_MASK_NOTICE if inputs.part == "one" and inputs.kind != "causal" else texts.NOTICE[inputs.part]
    st.markdown(f":material/lightbulb: {notice}")
    note_how_read(engine, *(inputs.sentences if inputs.part != "why" else ()), key=widget_key(PAGE, "model"))


def mask_controls(part: str, sizes: Head) -> list[Control]:
    """Return what the toolbar asks of a part; the slider of the training is made with its moments.

    sizes: the numbers of layers and of heads.
    """
    head = [
        Control("kind", "list", texts.MASK, tuple(texts.KINDS.items())),
        Control("width", "number", texts.NEIGHBOURS, help=texts.NEIGHBOURS_HELP, limits=SIZES, when={"kind": ["window"]}),
    ]
    placed = [
        NUMBERS_CONTROL,
        *head_controls(*sizes),
        Control("padding", "number", texts.PADDING_TOKENS, help=texts.PADDING_HELP, limits=SIZES, late=True),
    ]
    penalties = tuple((penalty, texts.write_penalty(penalty)) for penalty in PENALTIES)
    of_part = {
        "one": [*head, Control("matrices", "segments", texts.STATE, tuple(texts.STATES.items())), *placed],
        "penalty": [*head, Control("penalty", "list", texts.PENALTY, penalties), *placed],
    }
    parts = Control("part", "segments", texts.PART, tuple(texts.PARTS.items()), apart=True)
    return [parts, *of_part.get(part, [])]
