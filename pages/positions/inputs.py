"""What the page of positions is asked: a part, and the encoding with its sizes or the sentence that it computes with."""

from dataclasses import dataclass, replace

import streamlit as st

from pages.positions import texts
from pages.positions.encodings import (
    BASES,
    ENCODING_VIEWS,
    LENGTHS,
    MAX_DRAWN_DIMENSIONS,
    WIDTHS,
    EncodingView,
)
from pages.ui.shell import controls
from pages.ui.shell.address import KEPT_PARAMETERS, read_stage_address, value_of, view_parameters, widget_key
from pages.ui.shell.fields import Field, StageFields, check, choice_field, number_field, numbers_field, text_field
from pages.ui.shell.texts import SENTENCE
from pages.ui.stage.controls import Control
from pages.ui.stage.inputs import PageInputs, ask_model, ask_sentences, input_values, may_be_bert
from pages.ui.stage.tokens import SPECIAL_FIELD
from pages.ui.stage.view_options import MAX_LAYERS_OR_HEADS
from tx_core.engine.bert_engine import BertEngine
from tx_core.engine.catalogue import DEFAULT
from tx_core.lessons.position_encodings import BIAS_HEADS, ENCODINGS, PositionEncoding

PAGE = "positions"
SEEDS = range(1, 1000)
MODEL_WIDTH = 260  # pixels
FIELDS = StageFields(
    own=(
        text_field("text", "He opened the [MASK] with a key."),
        SPECIAL_FIELD,
        Field("part", "", lambda written: check(written, tuple(texts.PARTS))),
        choice_field("scheme", tuple(ENCODING_VIEWS)),
        number_field("length", 48, LENGTHS[0], LENGTHS[-1]),
        Field("width", 64, lambda written: int(check(written, [str(width) for width in WIDTHS]))),
        Field("base", 10_000, lambda written: int(check(written, [str(base) for base in BASES]))),
        number_field("head", 1, 1, MAX_LAYERS_OR_HEADS),
        numbers_field("dims", [0, 8, 16, 24], (0, 9999), most=MAX_DRAWN_DIMENSIONS, empty=""),
        number_field("seed", 1, SEEDS[0], SEEDS[-1]),
        Field("model", DEFAULT, controls.read_model),
    ),
    looks=(choice_field("look", tuple(texts.VIEWS)),),
    first={"part": "shuffle"},
)
OF_THE_SENTENCE = {"text", SPECIAL_FIELD.name}
"""A link with nothing else leads to the shuffled words; one without a part, as links were first written, to the encodings."""


@dataclass(frozen=True)
class PositionInputs(PageInputs):
    """What is computed, by the names of the fields."""

    part: str
    scheme: str
    length: int
    width: int
    base: int
    head: int
    dims: list[int]
    seed: int
    needs_own_bert = True

    @property
    def encoding(self) -> PositionEncoding:
        """The encoding in the table of the core."""
        return ENCODINGS[self.scheme]

    def fitted(self, engine: BertEngine) -> "PositionInputs":
        """Return what is asked with the length, the width, the dimensions and the head that the encoding has."""
        length, width = self.length, self.width
        if ENCODING_VIEWS[self.scheme].of_model:
            length, width = min(length, engine.model.config.max_positions), engine.info.hidden_size
        dims, head = [dim for dim in self.dims if dim < width], min(self.head, num_heads(self.scheme, engine))
        return replace(self, length=length, width=width, dims=dims, head=head)


def num_heads(scheme: str, engine: BertEngine) -> int:
    """Count the heads of an encoding that the reader can choose from."""
    return engine.info.num_heads if ENCODING_VIEWS[scheme].of_model else BIAS_HEADS


def position_inputs() -> PositionInputs:
    """Read the address, draw the box of the sentence where one is read, and return what is asked."""
    read_stage_address(PAGE, FIELDS)
    part = widget_key(PAGE, "part")

    def read() -> PositionInputs:
        values = input_values(PAGE, FIELDS.own)
        is_shuffle = values["part"] == "shuffle"
        if not is_shuffle and not (values["part"] == "ways" and ENCODING_VIEWS[values["scheme"]].of_model):
            values["model"] = DEFAULT  # a reader chooses one for words and for a learned table
        return PositionInputs(**values | {"bare": is_shuffle and values["bare"]})

    if not st.session_state[part]:
        given = view_parameters().keys() - set(KEPT_PARAMETERS)
        st.session_state[part] = "shuffle" if given <= OF_THE_SENTENCE else "ways"
    if st.session_state[part] == "shuffle":
        return ask_sentences(PAGE, {"text": SENTENCE}, read, lambda: ask_model(PAGE, may_be_bert))
    with st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="center"):
        st.markdown(texts.NOTICES[st.session_state[part]], width="content")
        if st.session_state[part] == "ways" and ENCODING_VIEWS[value_of(PAGE, "scheme")].of_model:
            shown = {"label": texts.MODEL, "label_visibility": "collapsed", "width": MODEL_WIDTH}
            controls.model(widget_key(PAGE, "model"), offers=may_be_bert, **shown)
    return read()


def position_controls(inputs: PositionInputs, engine: BertEngine | None) -> list[Control]:
    """Return the controls of the stage. engine: what is computed with, None where it is not available."""
    view = ENCODING_VIEWS[inputs.scheme]
    ways, sized = {"part": ["ways"]}, {"part": ["ways", "demands"] if view.has_sizes else ["demands"]}
    following = str(inputs.seed % SEEDS[-1] + 1)
    schemes = tuple((name, one.name) for name, one in ENCODING_VIEWS.items())
    bases = tuple((str(base), f"{base:,}") for base in BASES)
    return [
        Control("part", "segments", texts.PART, tuple(texts.PARTS.items()), apart=True),
        Control("scheme", "segments", texts.ENCODING, schemes, apart=True, when=ways),
        Control("look", "segments", texts.VIEW, tuple(texts.VIEWS.items()), when=ways),
        Control("seed", "press", texts.SHUFFLE_AGAIN, ((following, texts.SHUFFLE_AGAIN),), when={"part": ["shuffle"]}),
        *(_controls_of_encoding(inputs.fitted(engine), view, engine) if engine else ()),
        Control("length", "slider", texts.LENGTH, limits=_ends(LENGTHS), when={"part": ["ways", "demands"]}),
        Control("width", "slider", texts.WIDTH, limits=_ends(WIDTHS), step=WIDTHS.step, when=sized),
        Control("base", "list", texts.BASE, bases, labelled=True, when=sized),
    ]


def _controls_of_encoding(inputs: PositionInputs, view: EncodingView, engine: BertEngine) -> list[Control]:
    """Return the controls of the dimensions that are drawn, and of a head, where the encoding has them."""
    found = []
    if inputs.encoding.vectors:
        last = {"most": MAX_DRAWN_DIMENSIONS, "last": inputs.width - 1}
        words = {"help": texts.DIMENSIONS_HELP.format(**last), "problem": texts.DIMENSIONS_PROBLEM.format(**last)}
        when = {"part": ["ways"], "look": ["waves"]}
        limits = {"limits": (0, inputs.width - 1), "most": MAX_DRAWN_DIMENSIONS}
        found.append(Control("dims", "numbers", texts.DIMENSIONS, **words, **limits, when=when))
    if view.head_views:
        when = {"part": ["ways"], "look": sorted(view.head_views)}
        found.append(Control("head", "slider", texts.HEAD, limits=(1, num_heads(inputs.scheme, engine)), when=when))
    return found


def _ends(numbers: range) -> tuple[int, int]:
    return numbers[0], numbers[-1]
